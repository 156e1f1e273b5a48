package attacktest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// tick is the unit in which Linux tells the time of a process.
const tick = 10 * time.Millisecond

// meter returns what a server uses.
type meter struct {
	*server
	// database is the kind of the server's.
	database string
	client   *http.Client
	// proc is where the system tells of the process, empty on a system that does not.
	proc string
}

func newMeter(s *server, database string) *meter {
	m := &meter{server: s, database: database, client: &http.Client{Timeout: patience}, proc: fmt.Sprintf("/proc/%d", s.process.Pid)}
	if _, err := os.Stat(m.proc + "/clear_refs"); err != nil {
		m.proc = ""
	}
	return m
}

// reading is what the meter shows at a time.
type reading struct {
	cpu        time.Duration
	resident   int64 // bytes now
	peak       int64 // the most bytes since the reading began
	goroutines int
}

// begin collects garbage, so that an attack does not pay for the one before it, and takes a reading.
func (m *meter) begin(ctx context.Context) (reading, error) {
	if _, err := m.profile(ctx, "heap?gc=1"); err != nil {
		return reading{}, err
	}
	n, err := m.goroutines(ctx)
	if err != nil || m.proc == "" {
		return reading{goroutines: n}, err
	}
	if err := os.WriteFile(m.proc+"/clear_refs", []byte("5"), 0); err != nil {
		return reading{}, err
	}
	r, err := m.read()
	r.goroutines = n
	return r, err
}

// end waits until nothing of the attack runs any more, and returns what it took.
func (m *meter) end(ctx context.Context, before reading) (use, error) {
	settled := m.settle(ctx, before.goroutines)
	if m.proc == "" {
		return use{}, settled
	}
	after, err := m.read()
	return use{cpu: after.cpu - before.cpu, memory: max(after.peak-before.resident, 0)}, errors.Join(settled, err)
}

func (m *meter) read() (r reading, err error) {
	stat, err := os.ReadFile(m.proc + "/stat")
	if err != nil {
		return r, err
	}
	status, err := os.ReadFile(m.proc + "/status")
	if err != nil {
		return r, err
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+2:]))
	user, system := number(fields[11]), number(fields[12])
	r.cpu = time.Duration(user+system) * tick
	r.resident, r.peak = kilobytes(status, "VmRSS")<<10, kilobytes(status, "VmHWM")<<10
	return r, nil
}

func kilobytes(status []byte, name string) int64 {
	_, rest, _ := strings.Cut(string(status), name+":")
	return number(strings.Fields(rest + " 0")[0])
}

func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64) // the kernel's numbers are numbers
	return n
}

// settle waits until there are no more goroutines than there were. It asks less and less often: each look takes some of
// the time that is measured, and what reads the changes for streams stays for ten seconds after the last of them.
func (m *meter) settle(ctx context.Context, most int) error {
	wait := 20 * time.Millisecond
	for begun := time.Now(); ; wait = min(2*wait, 640*time.Millisecond) {
		n, err := m.goroutines(ctx)
		if err != nil || n <= most {
			return err
		}
		if time.Since(begun) > patience {
			return fmt.Errorf("%d goroutines, where there were %d", n, most)
		}
		<-time.After(wait)
	}
}

var total = regexp.MustCompile(`total (\d+)`)

func (m *meter) goroutines(ctx context.Context) (int, error) {
	text, err := m.profile(ctx, "goroutine?debug=1")
	if err != nil {
		return 0, err
	}
	return int(number(total.FindStringSubmatch(text + "total 0")[1])), nil
}

var inUse = regexp.MustCompile(`# HeapAlloc = (\d+)`)

// heap is what is in use after a collection, in bytes.
func (m *meter) heap(t *testing.T) int64 {
	t.Helper()
	text, err := m.profile(t.Context(), "heap?gc=1&debug=1")
	found := inUse.FindStringSubmatch(text)
	if err != nil || found == nil {
		t.Fatalf("no profile of the heap: %v", err)
	}
	return number(found[1])
}

func (m *meter) profile(ctx context.Context, which string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, m.profiles+"/debug/pprof/"+which, nil)
	if err != nil {
		return "", err
	}
	answer, err := m.client.Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	return string(text), err
}
