// Package jsregexp runs JavaScript regular expressions as a browser runs them: a pattern means
// new RegExp(pattern) without flags, and a match is .test(text), of ECMAScript 2025. Go's regexp has neither the
// syntax (no lookahead, no backreferences) nor the meaning, so a form checked in the browser and the same value
// checked here would differ.
//
// QuickJS compiles a pattern (compiler), its bytecode is made a program (decode), and a matcher of our own runs that:
// QuickJS's looks at the time too rarely to be stopped. Where QuickJS differs from browsers, the pattern is rewritten
// before it is compiled. An [Engine] has a fixed number of machines that compile and match, each for one goroutine at a
// time.
//
// Patterns come from outside and may be written to hang. A match is given a number of steps, each of about the same
// time, and is refused beyond it. Whether it is depends on the pattern and the text alone, not on what else the
// computer does. Compiling cannot be interrupted; a pattern that would take long is refused by its estimated cost. Two
// limits are narrower than those of browsers: a pattern has at most 254 capturing groups and 16 KiB.
package jsregexp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// waitTime is how long a call waits for a machine: longer than several matches that take all their steps.
	waitTime = 500 * time.Millisecond
	// maxWaiting is how many calls may wait for each machine.
	maxWaiting = 128
)

var (
	// ErrTooSlow is the error of a match or a compilation that takes more steps or memory than it may.
	ErrTooSlow = errors.New("the pattern takes too long")
	// ErrTooManyGroups is the error of a pattern with more than MaxGroups capturing groups.
	ErrTooManyGroups = errors.New("the pattern has too many groups")
	// ErrBusy is the error of a call that found no free machine in time. It may succeed later.
	ErrBusy = errors.New("too many patterns are being matched")
	// ErrClosed is the error of a call of an Engine after Close.
	ErrClosed = errors.New("the regular expression engine is closed")
)

// SyntaxError is the reason why a browser would refuse a pattern.
type SyntaxError struct {
	// Message is the reason, such as "nothing to repeat".
	Message string
}

// Error implements error.
func (e *SyntaxError) Error() string { return "not a regular expression: " + e.Message }

// Engine runs patterns on a fixed number of machines, and keeps the programs of the patterns that were used last. It is
// safe for concurrent use.
type Engine struct {
	// idle has the machines that nobody uses.
	idle     chan *machine
	programs *programs
	waiting  atomic.Int64
	closing  sync.Once
	closed   chan struct{}
}

// New returns an engine of size machines, at least 1.
func New(size int) (*Engine, error) {
	if size < 1 {
		return nil, fmt.Errorf("jsregexp: an engine of %d machines; it takes 1 or more", size)
	}
	programs, err := newPrograms()
	if err != nil {
		return nil, err
	}
	e := &Engine{idle: make(chan *machine, size), programs: programs, closed: make(chan struct{})}
	for range size {
		e.idle <- &machine{programs: programs}
	}
	return e, nil
}

// Close frees the machines once the calls that use them are done. Later calls return ErrClosed.
func (e *Engine) Close() {
	e.closing.Do(func() {
		close(e.closed)
		for range cap(e.idle) {
			m := <-e.idle
			m.close()
		}
	})
}

// Compile returns nil for a pattern that a browser accepts, and else a *SyntaxError. Other errors are ErrTooSlow,
// ErrTooManyGroups, ErrBusy, ErrClosed and the error of ctx. It may take as many steps as steps says. It returns how
// many it took, with those of Warnings; a pattern that was compiled before takes as many again.
func (e *Engine) Compile(ctx context.Context, pattern string, steps int) (taken int, err error) {
	err = e.run(ctx, func(m *machine) (err error) {
		_, taken, err = m.compile(pattern, steps)
		return err
	})
	return taken, err
}

// Test reports whether the pattern matches anywhere in text, and how many steps the match took. It may take as many as
// steps says, at most MaxSteps. The errors are those of Compile.
func (e *Engine) Test(ctx context.Context, pattern, text string, steps int) (matches bool, taken int, err error) {
	steps = min(steps, MaxSteps)
	left := steps
	err = e.run(ctx, func(m *machine) (err error) {
		matches, left, err = m.test(ctx, pattern, text, steps)
		return err
	})
	return matches, steps - left, err
}

// run calls do with a machine.
func (e *Engine) run(ctx context.Context, do func(*machine) error) error {
	m, err := e.acquire(ctx)
	if err != nil {
		return err
	}
	defer func() { e.idle <- m }()
	return do(m)
}

// contextError returns the error of ctx, also if its deadline has passed and ctx has not noticed yet.
func contextError(ctx context.Context) error {
	if end, ok := ctx.Deadline(); ok && !time.Now().Before(end) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// acquire waits for an idle machine and returns it.
func (e *Engine) acquire(ctx context.Context) (*machine, error) {
	select {
	case <-e.closed:
		return nil, ErrClosed
	default:
	}
	if err := contextError(ctx); err != nil {
		return nil, err
	}

	select {
	case m := <-e.idle:
		return m, nil
	default:
	}

	defer e.waiting.Add(-1)
	if e.waiting.Add(1) > int64(maxWaiting*cap(e.idle)) {
		return nil, ErrBusy
	}

	timer := time.NewTimer(waitTime)
	defer timer.Stop()
	select {
	case m := <-e.idle:
		return m, nil
	case <-timer.C:
		return nil, ErrBusy
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-e.closed:
		return nil, ErrClosed
	}
}
