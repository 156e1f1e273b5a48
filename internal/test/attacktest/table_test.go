package attacktest_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
)

func TestMain(m *testing.M) {
	code := built.Run(m)
	if whole() {
		measured.write(os.Stdout)
	}
	os.Exit(code)
}

// measured has what the attacks of this run took.
var measured table

type table struct {
	mu   sync.Mutex
	rows []row
}

// row is what an attack took on a database, by some callers at once.
type row struct {
	name, database string
	callers        int
	answered       string
	use
	// known is false if the system does not tell.
	known bool
}

func (t *table) add(m *meter, a attack, callers int, answered string, took use) {
	name := a.name
	if a.requests > 1 {
		name = fmt.Sprintf("%s (%d)", name, a.requests)
	}
	if a.why != "" {
		name += "; " + a.why
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows = append(t.rows, row{name, m.database, callers, answered, took, m.proc != ""})
}

// write prints the rows, each attack's together.
func (t *table) write(out *os.File) {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := map[string]int{}
	for i, r := range t.rows {
		if _, found := first[r.name]; !found {
			first[r.name] = i
		}
	}
	slices.SortStableFunc(t.rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(first[a.name], first[b.name]), -cmp.Compare(a.database, b.database), cmp.Compare(a.callers, b.callers))
	})
	_, _ = fmt.Fprintln(out, "\n| attack | database | at once | answer | CPU ms | memory MiB | answer KiB | log lines | log KiB |\n|---|---|---|---|---|---|---|---|---|")
	for _, r := range t.rows {
		_, _ = fmt.Fprintln(out, r)
	}
}

// String is the row as Markdown.
func (r row) String() string {
	cpu, memory := "not told", "not told"
	if r.known {
		cpu, memory = fmt.Sprint(r.cpu.Milliseconds()), fmt.Sprintf("%.1f", float64(r.memory)/(1<<20))
	}
	return fmt.Sprintf("| %s | %s | %d | %s | %s | %s | %d | %d | %d |",
		r.name, r.database, r.callers, r.answered, cpu, memory, r.answer>>10, r.log.lines, r.log.bytes>>10)
}
