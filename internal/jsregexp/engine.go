// Package jsregexp runs JavaScript regular expressions as a browser runs them: a pattern means
// new RegExp(pattern) without flags, and a match is .test(text), of ECMAScript 2025. Go's regexp has neither the
// syntax (no lookahead, no backreferences) nor the meaning, so a form checked in the browser and the same value
// checked here would differ.
//
// An [Engine] has a fixed number of JavaScript virtual machines, each for one goroutine at a time and with the
// patterns that it compiled last. Where the virtual machine differs from browsers, the pattern is rewritten
// before it is compiled.
//
// Patterns come from outside and may be written to hang. Every match has a deadline, so such a pattern costs its
// caller an error and others a short wait. Compiling cannot be interrupted; a pattern that would take long is
// refused by its estimated cost. Two limits are narrower than those of browsers: a pattern has at most 254
// capturing groups and 16 KiB.
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
	// matchTime is how long one match may take.
	matchTime = 50 * time.Millisecond
	// waitTime is how long a call waits for a machine: as long as ten matches that hang.
	waitTime = 10 * matchTime
	// maxWaiting is how many calls may wait for each machine.
	maxWaiting = 128
)

var (
	// ErrTooSlow is the error of a match or a compilation that ran out of time or memory.
	ErrTooSlow = errors.New("the pattern takes too long")
	// ErrTooManyGroups is the error of a pattern with more than MaxGroups capturing groups.
	ErrTooManyGroups = errors.New("the pattern has too many groups")
	// ErrBusy is the error of a call that found no free virtual machine in time. It may succeed later.
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

// Engine runs patterns on a fixed number of virtual machines. It is safe for concurrent use.
type Engine struct {
	// idle has the machines that nobody uses; nil stands for one that has not been started.
	idle    chan *machine
	waiting atomic.Int64
	closing sync.Once
	closed  chan struct{}
}

// New returns an engine of size machines, at least 1. Each is started when it is first needed.
func New(size int) (*Engine, error) {
	if size < 1 {
		return nil, fmt.Errorf("jsregexp: an engine of %d machines; it takes 1 or more", size)
	}
	e := &Engine{idle: make(chan *machine, size), closed: make(chan struct{})}
	for range size {
		e.idle <- nil
	}
	return e, nil
}

// Close frees the machines once the calls that use them are done. Later calls return ErrClosed.
func (e *Engine) Close() error {
	var failures []error
	e.closing.Do(func() {
		close(e.closed)
		for range cap(e.idle) {
			if m := <-e.idle; m != nil {
				failures = append(failures, m.close())
			}
		}
	})
	return errors.Join(failures...)
}

// Compile returns nil for a pattern that a browser accepts, and else a *SyntaxError. Other errors are ErrTooSlow,
// ErrTooManyGroups, ErrBusy, ErrClosed and the error of ctx.
func (e *Engine) Compile(ctx context.Context, pattern string) error {
	return e.run(ctx, func(m *machine) error {
		_, err := m.compile(pattern)
		return err
	})
}

// Test reports whether the pattern matches anywhere in text. The errors are those of Compile.
func (e *Engine) Test(ctx context.Context, pattern, text string) (bool, error) {
	var matches bool
	err := e.run(ctx, func(m *machine) (err error) {
		matches, err = m.test(pattern, text)
		return err
	})
	return matches, err
}

// run calls do with a machine. A machine that is broken, or with which do panicked, is not used again.
func (e *Engine) run(ctx context.Context, do func(*machine) error) (err error) {
	m, err := e.acquire(ctx)
	if err != nil {
		return err
	}
	reusable := false
	defer func() {
		if reusable {
			e.idle <- m
			return
		}
		e.idle <- nil
		if m != nil {
			err = errors.Join(err, m.close())
		}
	}()
	if m == nil {
		if m, err = newMachine(); err != nil {
			return err
		}
	}
	if err := m.setDeadline(ctx); err != nil {
		return err
	}
	err = do(m)
	reusable = !m.broken
	if ended := contextError(ctx); m.broken && ended != nil {
		return ended
	}
	return err
}

// contextError returns the error of ctx, also where its deadline has passed and ctx has not noticed yet.
func contextError(ctx context.Context) error {
	if end, ok := ctx.Deadline(); ok && !time.Now().Before(end) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// acquire waits for an idle machine and returns it, or nil for one that has not been started.
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
