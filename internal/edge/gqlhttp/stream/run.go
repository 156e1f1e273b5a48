package stream

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"slipway/internal/base/turns"
	"slipway/internal/edge/gqlhttp/wire"
	"slipway/internal/edge/httpx"
)

// Executor executes operations, as gqlgen's executor does.
type Executor interface {
	// Create begins the operation that a request asks for: it parses, validates and coerces. With errors the operation
	// is not to be dispatched.
	Create(ctx context.Context, r *wire.Request) (*graphql.OperationContext, gqlerror.List)
	// DispatchOperation executes an operation. The handler returns its next response, nil when there is none.
	DispatchOperation(ctx context.Context, op *graphql.OperationContext) (graphql.ResponseHandler, context.Context)
	// Patience returns how long an operation may wait, besides the time that it may run.
	Patience(op *graphql.OperationContext) time.Duration
	// DispatchError returns the response of an operation that was not created.
	DispatchError(ctx context.Context, errs gqlerror.List) *graphql.Response
	// PresentRecoveredError logs a panic and returns what the caller may know of it.
	PresentRecoveredError(ctx context.Context, value any) error
}

// emitter sends an answer, with the id of the event that it is for, which may be empty, and reports whether another one
// is wanted. The answer's data are valid until it returns.
type emitter func(resp *graphql.Response, eventID string) bool

// run executes an operation and emits each of its answers. It returns when there are no more, when
// none is wanted, when the context ends or, for a subscription, when the streams are to end.
func (s *Streams) run(ctx context.Context, exec Executor, op *graphql.OperationContext, emit emitter) {
	if op.Operation.Operation == ast.Subscription {
		s.subscribe(ctx, exec, op, emit)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, s.Timeout+exec.Patience(op))
	defer cancel()
	next, ctx := exec.DispatchOperation(ctx, op)
	resp := next(ctx)
	if resp == nil {
		resp = wire.Failure(ctx, wire.Timeout(ctx.Err()))
	}
	emit(resp, "")
}

func (s *Streams) subscribe(ctx context.Context, exec Executor, op *graphql.OperationContext, emit emitter) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.draining, func() { cancel(errEnded) })()
	start := time.AfterFunc(s.Timeout, func() { cancel(context.DeadlineExceeded) })

	next, running := exec.DispatchOperation(ctx, op)
	start.Stop()

	for {
		resp, id, refusal := s.event(running, next)
		switch cause := context.Cause(ctx); {
		case errors.Is(cause, context.DeadlineExceeded):
			emit(wire.Failure(ctx, wire.Timeout(cause)), "")
			return
		case cause == nil && refusal != nil:
			emit(wire.Failure(ctx, refusal), "")
			return
		case cause != nil || resp == nil || !emit(resp, id):
			return
		}
	}
}

// event waits for the next event, for as long as that takes, and bounds its resolution only. It also returns the
// event's id. If the answer has no data, by which a client would know the event, it has the id as an extension. With a
// refusal the event was not resolved, and the subscription ends.
func (s *Streams) event(
	ctx context.Context, next graphql.ResponseHandler,
) (resp *graphql.Response, id string, refusal error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &resolution{limit: s.Timeout, turns: s.Turns, cancel: cancel}
	defer r.end()
	resp = next(context.WithValue(ctx, resolutionKey{}, r))
	if r.refusal != nil {
		return nil, "", r.refusal
	}
	if r.id != "" && resp != nil && string(resp.Data) == "null" {
		if resp.Extensions == nil {
			resp.Extensions = map[string]any{}
		}
		resp.Extensions["cursor"] = r.id
	}
	return resp, r.id, nil
}

type resolutionKey struct{}

// resolution is that of an event, from its first field on: its time, and its turn among all that is executed.
type resolution struct {
	limit  time.Duration
	turns  *turns.Turns
	cancel context.CancelCauseFunc
	mu     sync.Mutex
	timer  *time.Timer
	taken  bool
	id     string
	// refusal is why the event is not resolved.
	refusal error
}

// SetEventID sets the id of the event that the fields are resolved for. An event stream has it beside the event, and a
// client that comes back sends it: see LastEventID. Elsewhere it does nothing.
func SetEventID(ctx context.Context, id string) {
	if r, ok := ctx.Value(resolutionKey{}).(*resolution); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.id = id
	}
}

type lastEventKey struct{}

// LastEventID returns the id of the last event that the client of an event stream got before it lost the connection,
// nil if it says none. A browser sends it by itself.
func LastEventID(ctx context.Context) *string {
	id, _ := ctx.Value(lastEventKey{}).(*string)
	return id
}

// withLastEventID returns a context with what the request says of the last event.
func withLastEventID(ctx context.Context, r *http.Request) context.Context {
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		return context.WithValue(ctx, lastEventKey{}, &id)
	}
	return ctx
}

// RefuseEvent ends the subscription whose event is to be resolved in the context with an error, as its last answer. The
// event itself is not sent: it comes again after the cursor of the one before. Elsewhere it does nothing.
func RefuseEvent(ctx context.Context, refusal error) {
	if r, ok := ctx.Value(resolutionKey{}).(*resolution); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.refusal = refusal
		r.cancel(refusal)
	}
}

func (r *resolution) begin(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer != nil || r.refusal != nil {
		return
	}
	r.timer = time.AfterFunc(r.limit, func() { r.cancel(context.DeadlineExceeded) })
	if err := r.turns.Take(ctx, httpx.Caller(ctx)); err != nil {
		r.cancel(context.DeadlineExceeded)
		return
	}
	r.taken = true
}

func (r *resolution) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer != nil {
		r.timer.Stop()
	}
	if r.taken {
		r.turns.Leave()
	}
}

// BeginEvent starts the clock of the event that is to be resolved in the context, if it is that of an event and the
// clock does not run yet. Whoever resolves an event calls it, because an executor waits for an event and resolves it in
// one call, so that nothing else shows when it came.
func BeginEvent(ctx context.Context) {
	if r, ok := ctx.Value(resolutionKey{}).(*resolution); ok {
		r.begin(ctx)
	}
}

// emitPanic is deferred where an operation runs on a goroutine of its own: a panic outside the resolvers is
// logged, masked and emitted, and the process lives.
func emitPanic(ctx context.Context, exec Executor, emit emitter) {
	if value := recover(); value != nil {
		masked := exec.PresentRecoveredError(ctx, value)
		emit(&graphql.Response{Errors: gqlerror.List{wire.AsError(masked)}}, "")
	}
}
