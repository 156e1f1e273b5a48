package stream

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/base/fault"
	"slipway/internal/edge/gqlhttp/wire"
	"slipway/internal/edge/httpx"
)

// operation is one that runs on a socket.
type operation struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// start runs an operation of any kind.
func (s *socket) start(m message) *closeReason {
	if !isClosed(s.acknowledged) {
		return &unauthorized
	}
	ctx, cancel := context.WithCancel(s.request.Context())
	op := &operation{cancel, make(chan struct{})}
	isTaken, err := s.add(m.id, op)
	if isTaken || err != nil {
		cancel()
	}
	switch {
	case isTaken:
		return duplicateID(m.id)
	case err != nil:
		s.write(encodeMessage("error", m.id, wire.Marshal(wire.Failure(ctx, err).Errors)))
	default:
		go s.serveOperation(ctx, m, op)
	}
	return nil
}

// add adds an operation to those that run, unless its id is taken or there may be no more.
func (s *socket) add(id string, op *operation) (isTaken bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch _, isTaken := s.operations[id]; {
	case isTaken:
		return true, nil
	case s.finishing || s.draining.Err() != nil:
		return false, errDraining()
	case len(s.operations) >= s.Operations:
		return false, errTooManyOperations(s.Operations)
	}
	s.operations[id] = op
	s.running.Add(1)
	return false, nil
}

func errTooManyOperations(most int) error {
	refusal := fault.New(fault.RequestRateLimited,
		"A socket may run at most %d operations at once; this would be one more.", most)
	refusal.Metadata = map[string]any{"limit": "operations", "value": most, "found": most + 1}
	return refusal
}

// serveOperation executes an operation and completes it. Nothing more is sent of one that the client has completed, or
// that ends with the socket.
func (s *socket) serveOperation(ctx context.Context, m message, op *operation) {
	defer s.running.Done()
	defer close(op.done)
	defer op.cancel()
	if failed := s.execute(ctx, m, op); !failed && ctx.Err() == nil {
		s.release(m.id, op)
		s.write(encodeMessage("complete", m.id, nil))
	}
	s.release(m.id, op)
}

// release frees the id of an operation, which comes before the message by which its client knows.
func (s *socket) release(id string, op *operation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.operations[id] == op {
		delete(s.operations, id)
	}
}

// execute sends the operation's answers, and reports whether the last one was an error message, after
// which there is no complete.
func (s *socket) execute(ctx context.Context, m message, op *operation) (failed bool) {
	emit := func(resp *graphql.Response, _ string) bool {
		switch {
		case ctx.Err() != nil:
			return false
		case resp.Data == nil:
			failed = true
			s.release(m.id, op)
			s.write(encodeMessage("error", m.id, wire.Marshal(resp.Errors)))
			return false
		default:
			s.write(encodeMessage("next", m.id, wire.Encode(resp)))
			return true
		}
	}

	defer emitPanic(ctx, s.exec, emit)
	if err := wire.CheckQuery(m.params.Query, s.maxQuery); err != nil {
		emit(wire.Failure(ctx, err), "")
		return
	}

	leave, err := s.Requests.Enter(ctx, httpx.Caller(ctx).Key)
	if err != nil {
		emit(wire.Failure(ctx, err), "")
		return
	}
	defer leave()

	m.params.Headers = s.request.Header
	running, errs := s.exec.Create(ctx, m.params)
	if len(errs) > 0 {
		emit(s.exec.DispatchError(graphql.WithOperationContext(ctx, running), errs), "")
		return
	}

	if running.Operation.Operation == ast.Subscription {
		leave() // it counts with its socket
	}
	s.run(ctx, s.exec, running, emit)
	return
}

// stop ends an operation for its client. Its id is free again, and nothing more comes of it.
func (s *socket) stop(id string) {
	s.mu.Lock()
	op, ok := s.operations[id]
	delete(s.operations, id)
	s.mu.Unlock()
	if ok {
		op.cancel()
		<-op.done
	}
}

// finish takes no more operations and waits for those that run.
func (s *socket) finish() {
	s.mu.Lock()
	s.finishing = true
	s.mu.Unlock()
	s.running.Wait()
}
