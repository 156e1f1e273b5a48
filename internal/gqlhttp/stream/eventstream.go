package stream

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"slipway/internal/gqlhttp/wire"
)

// ServeEvents answers an operation with an event stream, as the protocol GraphQL over Server-Sent Events
// has it for one connection an operation: each answer is an event next, and complete is the last one.
// Everything is written from here, so that nothing is once the handler has returned.
func (s *Streams) ServeEvents(w http.ResponseWriter, r *http.Request, exec Executor, op *graphql.OperationContext) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.serving.Done()
	leave, err := s.enter(r.Context())
	if err != nil {
		return err
	}
	defer leave()
	ctx, cancel := context.WithCancel(withLastEventID(r.Context(), r))
	answers := make(chan answer)
	go func() {
		defer close(answers)
		emit := func(resp *graphql.Response, eventID string) bool {
			select {
			case answers <- answer{wire.Encode(resp), eventID}:
				return true
			case <-ctx.Done():
				return false
			}
		}
		defer emitPanic(ctx, exec, emit)
		s.run(ctx, exec, op, emit)
	}()
	defer func() {
		cancel()
		for range answers { // until the operation has ended
		}
	}()
	s.relay(startEvents(w, s.WriteTimeout), r, answers)
	return nil
}

// answer is the text of an answer, and the id of its event.
type answer struct {
	text    []byte
	eventID string
}

// relay writes the answers until there are no more, which is so when the caller is gone, or until the
// caller is slow or may not listen any longer.
func (s *Streams) relay(out *events, r *http.Request, answers <-chan answer) {
	heartbeat, recheck := time.NewTicker(s.Heartbeat), time.NewTicker(s.Recheck)
	defer heartbeat.Stop()
	defer recheck.Stop()
	for out.err == nil {
		select {
		case answer, more := <-answers:
			if !more {
				out.complete()
				return
			}
			out.next(answer.text, answer.eventID)
		case <-heartbeat.C:
			out.comment()
		case <-recheck.C:
			if err := s.checkCaller(r); err != nil {
				out.next(wire.Encode(wire.Failure(r.Context(), err)), "")
				out.complete()
				return
			}
		}
	}
}

// RefuseEvents answers with a stream of one event, which is how a request is refused whose document or
// variables are wrong: a browser's EventSource hides the body of any other answer.
func (s *Streams) RefuseEvents(w http.ResponseWriter, resp *graphql.Response) {
	out := startEvents(w, s.WriteTimeout)
	out.next(wire.Encode(resp), "")
	out.complete()
}

// events writes an event stream. Its first error stays, and nothing is written after it.
type events struct {
	w       http.ResponseWriter
	rc      *http.ResponseController
	timeout time.Duration
	err     error
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

// next writes an answer, with the id of its event unless that is empty. Line breaks would end its line; in JSON they can
// only be white space, and ids have none.
func (e *events) next(answer []byte, eventID string) {
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
	e.write([]byte("event: next\ndata: "), answer, []byte(end))
}

func (e *events) complete() { e.write([]byte("event: complete\ndata:\n\n")) }

// comment is a sign of life that clients pass over.
func (e *events) comment() { e.write([]byte(":\n\n")) }

func (e *events) write(parts ...[]byte) {
	if e.err != nil {
		return
	}
	_ = e.rc.SetWriteDeadline(time.Now().Add(e.timeout)) // where there is none, the server has no connection to keep
	for _, part := range parts {
		if _, e.err = e.w.Write(part); e.err != nil { //nolint:gosec // it is JSON in an event stream, which no browser takes for a page
			return
		}
	}
	e.err = e.rc.Flush()
}
