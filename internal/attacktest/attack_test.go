// Package attacktest_test sends hostile requests to a server that runs as a process of its own, and
// wants each to be answered as it should be, for little time and memory. SLIPWAY_ATTACK=table prints
// what each took.
package attacktest_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"
)

// What one attack may take. A flood may take the time for each 100 of its requests.
const (
	mostCPU    = 100 * time.Millisecond
	mostMemory = 64 << 20
	// mostKept is how much may stay in use after all attacks, the documents that are kept among it.
	mostKept = 32 << 20
	// mostWait is how long a good request may take right after an attack.
	mostWait = time.Second
	// rounds is how often an attack is tried that took too much: other work on the machine adds to the
	// time, so the least counts.
	rounds = 3
)

// attack is one way to do harm.
type attack struct {
	name string
	// want is the verdict of the answer, or of them all.
	want string
	// requests is how many there are; 0 is one.
	requests int
	// cpu and memory, in bytes, are what the attack may take where that is more than others may, and why.
	cpu    time.Duration
	memory int64
	why    string
	run    func(ctx context.Context, c *caller) (string, error)
}

func (a attack) mostCPU() time.Duration {
	return max(mostCPU*time.Duration(a.requests)/100, mostCPU, a.cpu)
}

func (a attack) mostMemory() int64 { return max(mostMemory, a.memory) }

func TestAttacksAreAnsweredCheaply(t *testing.T) {
	t.Parallel()
	program := build(t)
	brisk := []string{"--write-timeout", "500ms", "--init-timeout", "500ms"}
	for name, attacks := range map[string][]attack{
		"quick": concat(documents(), introspections(), pages(), merges(), bodies(), requests(), inputs(), sockets(), streams()),
		"slow":  slow(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMeter(serve(t, program, brisk...))
			if m.proc == "" {
				t.Log("this system does not tell what a process uses: only the answers are checked")
			}
			before := m.heap(t)
			for _, a := range attacks {
				m.try(t, a)
			}
			if after := m.heap(t); after > before+mostKept {
				t.Errorf("%d MiB stay in use after all of them, where there were %d", after>>20, before>>20)
			}
		})
	}
}

func concat(lists ...[]attack) (all []attack) {
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

// try carries an attack out, again where it took too much, and notes the least.
func (m *meter) try(t *testing.T, a attack) {
	t.Helper()
	least, wait := use{cpu: time.Hour}, time.Duration(0)
	for round := range rounds {
		got, took, waited, err := m.once(t.Context(), a, round)
		if err != nil && round+1 < rounds {
			t.Logf("%s: %v; once more", a.name, err) // a connection may be reset before its answer is read
			continue
		}
		if err != nil || got != a.want {
			t.Errorf("%s: %s, %v; want %s", a.name, got, err, a.want)
			return
		}
		least = use{min(least.cpu, took.cpu), max(least.memory, took.memory)}
		if wait = waited; least.cpu <= a.mostCPU() && wait <= mostWait {
			break
		}
	}
	if least.cpu > a.mostCPU() || least.memory > a.mostMemory() || wait > mostWait {
		t.Errorf("%s took %s of CPU, at most %s; %d MiB, at most %d; the next request waited %s",
			a.name, least.cpu, a.mostCPU(), least.memory>>20, a.mostMemory()>>20, wait)
	}
	measured.add(a, least, m.proc != "")
}

// once carries an attack out, and asks a good question after it.
func (m *meter) once(ctx context.Context, a attack, round int) (got string, took use, waited time.Duration, err error) {
	before, err := m.begin(ctx)
	if err != nil {
		return "", use{}, 0, err
	}
	c, close := newCaller(m.server, round)
	got, err = a.run(ctx, c)
	close()
	if err != nil {
		return got, use{}, 0, err
	}
	begun := time.Now()
	good, closeGood := newCaller(m.server, round)
	answer, err := good.post(ctx, `{ viewer { name } }`, nil)
	waited = time.Since(begun)
	closeGood()
	if err != nil || answer != "200" {
		return got, use{}, waited, fmt.Errorf("a good request after it: %s, %w", answer, err)
	}
	took, err = m.end(ctx, before)
	return got, took, waited, err
}

func TestMain(m *testing.M) {
	code := m.Run()
	if os.Getenv("SLIPWAY_ATTACK") == "table" {
		measured.write(os.Stdout)
	}
	os.Exit(code)
}

// measured has what the attacks of this run took.
var measured table

type table struct {
	mu   sync.Mutex
	rows []string
}

func (t *table) add(a attack, took use, known bool) {
	figures := "not told here |"
	if known {
		figures = fmt.Sprintf("%d | %.1f", took.cpu.Milliseconds(), float64(took.memory)/(1<<20))
	}
	name := a.name
	if a.requests > 1 {
		name = fmt.Sprintf("%s (%d)", name, a.requests)
	}
	if a.why != "" {
		name += "; " + a.why
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows = append(t.rows, fmt.Sprintf("| %s | %s | %s |", name, a.want, figures))
}

func (t *table) write(out *os.File) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = fmt.Fprintln(out, "\n| attack | answer | CPU ms | memory MiB |\n|---|---|---|---|")
	for _, row := range t.rows {
		_, _ = fmt.Fprintln(out, row)
	}
}
