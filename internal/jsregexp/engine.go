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
	// waitTime is how long a call waits for a machine: a few others that hang, one after the other.
	waitTime = 10 * matchTime
	// maxWaiting is how many calls may wait for each machine.
	maxWaiting = 128
)

// Engine runs patterns on a fixed number of virtual machines. It is safe for concurrent use.
type Engine struct {
	// idle has the machines that nobody uses; nil stands for one that is yet to be started.
	idle    chan *machine
	waiting atomic.Int64
	closing sync.Once
	closed  chan struct{}
}

// New makes an engine of size machines, 1 at least. Each is started when it is first needed.
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

// Close frees the machines, once the calls that use them are done. Later calls fail with ErrClosed.
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

// Compile says whether a browser takes the pattern: nil, a *SyntaxError, ErrTooSlow, ErrTooManyGroups, ErrBusy, ErrClosed
// or the error of ctx.
func (e *Engine) Compile(ctx context.Context, pattern string) error {
	return e.run(ctx, func(m *machine) error {
		_, err := m.compile(pattern)
		return err
	})
}

// Test says whether the pattern matches anywhere in text. It fails as Compile does.
func (e *Engine) Test(ctx context.Context, pattern, text string) (bool, error) {
	var matches bool
	err := e.run(ctx, func(m *machine) (err error) {
		matches, err = m.test(pattern, text)
		return err
	})
	return matches, err
}

// run lends a machine to do. One that broke, or that do panicked with, is not used again.
func (e *Engine) run(ctx context.Context, do func(*machine) error) (err error) {
	m, err := e.acquire(ctx)
	if err != nil {
		return err
	}
	sound := false
	defer func() {
		if sound {
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
	if err := m.allow(ctx); err != nil {
		return err
	}
	err = do(m)
	sound = !m.broken
	if over := ended(ctx); m.broken && over != nil {
		return over
	}
	return err
}

// ended is the error of ctx. A machine stops at the deadline of ctx, which ctx itself may notice later.
func ended(ctx context.Context) error {
	if end, ok := ctx.Deadline(); ok && !time.Now().Before(end) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// acquire waits for an idle machine; nil stands for one that is yet to be started.
func (e *Engine) acquire(ctx context.Context) (*machine, error) {
	if err := e.refusal(ctx); err != nil {
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
	patience := time.NewTimer(waitTime)
	defer patience.Stop()
	select {
	case m := <-e.idle:
		return m, nil
	case <-patience.C:
		return nil, ErrBusy
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-e.closed:
		return nil, ErrClosed
	}
}

func (e *Engine) refusal(ctx context.Context) error {
	select {
	case <-e.closed:
		return ErrClosed
	default:
		return ended(ctx)
	}
}
