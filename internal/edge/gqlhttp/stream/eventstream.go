package stream

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/edge/gqlhttp/wire"
	"slipway/internal/edge/httpx"
	"slipway/internal/edge/requestlog"
)

// ServeEvents answers an operation with an event stream, as the protocol GraphQL over Server-Sent Events has it for one
// connection an operation: each answer is an event next, and complete is the last one. Nothing is written once it has
// returned.
//
// A subscription outlives its handler if it can. Timers do what is due meanwhile, so that a stream which nothing is
// sent on holds little more than one stack.
func (s *Streams) ServeEvents(
	w http.ResponseWriter, r *http.Request, exec Executor, op *graphql.OperationContext,
) error {
	if err := s.begin(); err != nil {
		return err
	}
	leave, err := s.enter(r.Context())
	if err != nil {
		s.serving.Done()
		return err
	}

	release := requestlog.From(r.Context()).Hold(http.StatusOK)
	serve := func(w http.ResponseWriter, r *http.Request) {
		defer s.serving.Done()
		defer leave()
		bytes := 0
		defer func() { release(bytes) }()
		bytes = s.sendEvents(w, r, exec, op)
	}

	if op.Operation.Operation == ast.Subscription {
		httpx.Detach(w, r, serve)
	} else {
		serve(w, r) // what is in flight counts until it is answered
	}
	return nil
}

// sendEvents sends the answers of an operation, and returns how many bytes they had.
func (s *Streams) sendEvents(
	w http.ResponseWriter, r *http.Request, exec Executor, op *graphql.OperationContext,
) (bytes int) {
	ctx, cancel := context.WithCancelCause(withLastEventID(r.Context(), r))
	defer cancel(nil)
	out := startEvents(w, s.WriteTimeout)
	defer out.end()
	defer s.attend(r, out, cancel)()
	s.runEvents(ctx, exec, op, func(resp *graphql.Response, eventID string) bool {
		return ctx.Err() == nil && out.next(wire.Encode(resp), eventID)
	})
	if refusal := context.Cause(ctx); isRefusal(refusal) {
		out.next(wire.Encode(wire.Failure(r.Context(), refusal)), "")
	}
	return out.complete()
}

func (s *Streams) runEvents(ctx context.Context, exec Executor, op *graphql.OperationContext, emit emitter) {
	defer emitPanic(ctx, exec, emit)
	s.run(ctx, exec, op, emit)
}

// attend gives signs of life on a stream, and cancels it if the caller does not take them, or may not listen any
// longer, which is the cause then. stop is to be called when the operation has ended.
func (s *Streams) attend(r *http.Request, out *events, cancel context.CancelCauseFunc) (stop func()) {
	heartbeat := repeat(s.Heartbeat, func() bool {
		isTaken := out.comment()
		if !isTaken {
			cancel(nil)
		}
		return isTaken
	})
	recheck := repeat(s.Recheck, func() bool {
		err := s.checkCaller(r)
		if err != nil {
			cancel(err)
		}
		return err == nil
	})
	return func() {
		heartbeat()
		recheck()
	}
}

// repeat calls f at intervals while it returns true, until stop is called. A call may be under way then.
func repeat(every time.Duration, f func() bool) (stop func()) {
	var mu sync.Mutex
	stopped := false
	var timer *time.Timer

	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(every, func() {
		if !f() {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if !stopped {
			timer.Reset(every)
		}
	})

	return func() {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
		timer.Stop()
	}
}

// RefuseEvents answers with a stream of one event, which is how a request is refused whose document or
// variables are wrong: a browser's EventSource hides the body of any other answer.
func (s *Streams) RefuseEvents(w http.ResponseWriter, resp *graphql.Response) {
	out := startEvents(w, s.WriteTimeout)
	out.next(wire.Encode(resp), "")
	out.complete()
}

// events writes an event stream, from several goroutines. Its first error stays, and nothing is written after it.
type events struct {
	w       http.ResponseWriter
	rc      *http.ResponseController
	timeout time.Duration

	mu      sync.Mutex
	err     error
	written int
}

// startEvents begins the stream. The time that the server gives an answer does not fit a stream: each
// write has its own.
func startEvents(w http.ResponseWriter, timeout time.Duration) *events {
	h := w.Header()
	h.Set("Content-Type", wire.MediaEvents+"; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Add("Vary", "Accept")
	e := &events{w: w, rc: http.NewResponseController(w), timeout: timeout}
	w.WriteHeader(http.StatusOK)
	e.comment()
	return e
}

// next writes an answer, with the id of its event unless that is empty, and reports whether it was taken. Line breaks
// would end its line; in JSON they can only be white space, and ids have none.
func (e *events) next(answer []byte, eventID string) bool {
	if bytes.ContainsAny(answer, "\r\n") {
		answer = bytes.Map(func(r rune) rune {
			if r == '\r' || r == '\n' {
				return ' '
			}
			return r
		}, answer)
	}
	end := "\n\n"
	if eventID != "" {
		end = "\nid: " + eventID + end
	}
	return e.write([]byte("event: next\ndata: "), answer, []byte(end))
}

// complete ends the stream, and returns how many bytes it had.
func (e *events) complete() int {
	e.write([]byte("event: complete\ndata:\n\n"))
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.written
}

// comment is a sign of life that clients pass over. It reports whether it was taken.
func (e *events) comment() bool { return e.write([]byte(":\n\n")) }

// end lets nothing more be written.
func (e *events) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.err = errEnded
}

func (e *events) write(parts ...[]byte) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err != nil {
		return false
	}
	_ = e.rc.SetWriteDeadline(time.Now().Add(e.timeout)) // where there is none, the server has no connection to keep
	for _, part := range parts {
		if _, e.err = e.w.Write(part); e.err != nil {
			return false
		}
		e.written += len(part)
	}
	e.err = e.rc.Flush()
	return e.err == nil
}
