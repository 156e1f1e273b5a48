package plantest_test

import (
	"runtime"
	"strings"
	"sync"
	"testing"

	"slipway/internal/data/store"
	"slipway/internal/test/worldtest"
)

// recorder has what a world's store ran, and from where in the program.
type recorder struct {
	mu sync.Mutex
	// system are the statements over all organizations, each text once.
	system []worldtest.Statement
	known  map[string]bool
	sites  map[site]bool
}

// site is a call in the program: which function is called, in which line of which file.
type site struct {
	callee, file string
	line         int
}

func newRecorder() *recorder { return &recorder{known: map[string]bool{}, sites: map[site]bool{}} }

// filled makes a world of many rows, whose store the recorder listens to.
func (r *recorder) filled(t *testing.T, databaseURL string) (*worldtest.World, *worldtest.Fixture) {
	t.Helper()
	w := worldtest.New(t, databaseURL, func(c *store.Config) {
		trace := c.Trace
		c.Trace = func(text string, args []any) {
			trace(text, args)
			r.locate()
		}
		c.TraceSystem = r.keep
	})
	return w, fill(t, w, 50_000)
}

func (r *recorder) keep(text string, args []any) {
	r.locate()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.known[text] {
		r.known[text] = true
		r.system = append(r.system, worldtest.Statement{Text: text, Args: args})
	}
}

// locate notes every call that has led to the statement which is about to run.
func (r *recorder) locate() {
	var pcs [128]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	r.mu.Lock()
	defer r.mu.Unlock()
	for callee, more := frames.Next(); more; {
		var caller runtime.Frame
		caller, more = frames.Next()
		if strings.HasPrefix(callee.Function, "slipway/") {
			r.sites[site{callee.Function, relative(caller.File), caller.Line}] = true
		}
		callee = caller
	}
}

// relative returns a file's path from the root of the module, whether or not the test was built with -trimpath.
func relative(file string) string {
	for _, folder := range []string{"internal/", "graph/", "rest/", "cmd/"} {
		if at := strings.LastIndex(file, "/"+folder); at >= 0 {
			return file[at+1:]
		}
	}
	return file
}
