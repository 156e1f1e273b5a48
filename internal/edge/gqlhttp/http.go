package gqlhttp

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/base/fault"
	"slipway/internal/base/turns"
	"slipway/internal/edge/gqlhttp/stream"
	"slipway/internal/edge/gqlhttp/wire"
	"slipway/internal/edge/httpx"
	"slipway/internal/edge/requestlog"
)

// DefaultMaxBody is what a POST may carry, in bytes, if nothing else is said.
const DefaultMaxBody = 256 << 10

// HTTP is the transport of queries and mutations over POST, and of queries over GET, as the
// GraphQL-over-HTTP specification has them, and of all operations as event streams. It supports every
// request and refuses those that it does not understand, so it goes last.
type HTTP struct {
	// MaxBody is the most that a POST may carry, in bytes; 0 stands for DefaultMaxBody.
	MaxBody int64
	// MaxQuery is the longest text of a document, in bytes; 0 stands for wire.DefaultMaxQuery.
	MaxQuery int
	// Timeout bounds the execution of an operation that is answered in one piece; 0 stands for
	// stream.DefaultTimeout.
	Timeout time.Duration
	// Streams serve those who accept text/event-stream; without them nobody is.
	Streams *stream.Streams
	// Requests bounds the queries and mutations that a caller may have in flight; nil is without limit.
	Requests *turns.Gate
	// Version is that of the server. Callers with a token get it in httpx.VersionHeader with an operation that is refused.
	Version string
}

var _ Transport = HTTP{}

// Supports implements Transport.
func (HTTP) Supports(*http.Request) bool { return true }

// Do implements Transport.
func (h HTTP) Do(w http.ResponseWriter, r *http.Request, exec stream.Executor) {
	if err := h.serve(w, r, exec); err != nil {
		wire.Refuse(w, r, err)
	}
}

// serve answers the request, or returns the error to refuse it with.
func (h HTTP) serve(w http.ResponseWriter, r *http.Request, exec stream.Executor) error {
	media, err := h.media(w, r)
	if err != nil {
		return err
	}

	leave, err := h.Requests.Enter(r.Context(), httpx.Caller(r.Context()).Key)
	if err != nil {
		return err
	}
	defer leave()
	params, err := h.read(w, r)
	if err != nil {
		return err
	}

	op, errs := exec.Create(r.Context(), params)
	defer logOperation(r.Context(), op) // by then the cost is settled
	setRateLimit(w.Header(), op)
	if len(errs) > 0 {
		h.refuse(w, r, media, exec.DispatchError(graphql.WithOperationContext(r.Context(), op), errs))
		return nil
	}

	kind := op.Operation.Operation
	if kind == ast.Subscription {
		if named, _ := h.events(wire.Accepted(r.Header)); named {
			media = wire.MediaEvents
		}
	}
	if err := permit(w, r.Method, kind, media); err != nil {
		return err
	}
	if kind == ast.Subscription {
		leave() // it counts as a stream
	}

	if media == wire.MediaEvents {
		return h.Streams.ServeEvents(w, r, exec, op)
	}

	ctx, cancel := context.WithTimeout(r.Context(), cmp.Or(h.Timeout, stream.DefaultTimeout)+exec.Patience(op))
	defer cancel()
	next, ctx := exec.DispatchOperation(ctx, op)
	resp := next(ctx)
	if resp == nil {
		return wire.Timeout(ctx.Err())
	}

	setRateLimit(w.Header(), op)
	if isShared(ctx, r.Method, params, op, resp) {
		share(w, r, media, resp)
		return nil
	}
	wire.Respond(w, media, resp)
	return nil
}

// logOperation adds the operation to the request's log line.
func logOperation(ctx context.Context, op *graphql.OperationContext) {
	name := op.OperationName
	if op.Operation != nil {
		name = op.Operation.Name
	}
	cost := 0
	if spent, ok := op.Stats.GetExtension(costName).(*costExtension); ok {
		cost = spent.Used
	}
	requestlog.From(ctx).SetOperation(name, cost)
}

// refuse answers with the errors of an operation that was not run. In a stream they are an event, but that the caller
// has to wait is the status of the whole answer.
func (h HTTP) refuse(w http.ResponseWriter, r *http.Request, media string, resp *graphql.Response) {
	if h.Version != "" && !httpx.Caller(r.Context()).Anonymous {
		w.Header().Set(httpx.VersionHeader, h.Version)
	}
	switch status := wire.Status(resp); {
	case media != wire.MediaEvents:
		wire.Respond(w, media, resp)
	case fault.MayRetry(status):
		wire.Write(w, cmp.Or(wire.Negotiate(wire.Accepted(r.Header)), httpx.MediaJSON), status, resp)
	default:
		h.Streams.RefuseEvents(w, resp)
	}
}

// media returns the media type of the answer, if the operation leaves the choice.
func (h HTTP) media(w http.ResponseWriter, r *http.Request) (string, error) {
	if r.Method != http.MethodPost && !isRead(r.Method) {
		return "", wrongMethod(w, "GET, HEAD, POST, OPTIONS",
			"GraphQL is served by POST and GET; found %s.", wire.Shorten(r.Method))
	}
	accept := wire.Accepted(r.Header)
	if _, first := h.events(accept); first {
		return wire.MediaEvents, nil
	}
	media := wire.Negotiate(accept)
	if media == "" {
		return "", fault.New(fault.RequestNotAcceptable,
			"Accept must allow %s or %s; it allows neither.", wire.MediaGraphQL, httpx.MediaJSON)
	}
	return media, nil
}

func (h HTTP) events(accept httpx.Accept) (named, first bool) {
	if h.Streams == nil {
		return false, false
	}
	return wire.NegotiateEvents(accept)
}

// read reads the request for an operation.
func (h HTTP) read(w http.ResponseWriter, r *http.Request) (*wire.Request, error) {
	start := graphql.Now()
	params, err := h.params(w, r)
	if err != nil {
		return nil, err
	}
	if err := wire.CheckQuery(params.Query, h.MaxQuery); err != nil {
		return nil, err
	}
	if err := wire.CheckCostHeader(r.Header); err != nil {
		return nil, err
	}
	params.Headers = r.Header
	params.ReadTime = graphql.TraceTiming{Start: start, End: graphql.Now()}
	return params, nil
}

func (h HTTP) params(w http.ResponseWriter, r *http.Request) (*wire.Request, error) {
	if isRead(r.Method) {
		return wire.ParseURL(r.URL.RawQuery)
	}
	if err := httpx.CheckContentType(r.Header); err != nil {
		return nil, err
	}
	if media, inUTF8 := httpx.ContentType(r.Header); media != httpx.MediaJSON || !inUTF8 {
		return nil, fault.New(fault.RequestUnsupportedMedia, "Content-Type must be %s in UTF-8.", httpx.MediaJSON)
	}
	if err := httpx.CheckEncoding(w, r.Header); err != nil {
		return nil, err
	}
	body, err := httpx.ReadBody(w, r, cmp.Or(h.MaxBody, DefaultMaxBody))
	if err != nil {
		return nil, err
	}
	return wire.ParseBody(body)
}

// permit refuses the operations that the method or the media type of the answer cannot carry.
func permit(w http.ResponseWriter, method string, op ast.Operation, media string) error {
	switch {
	case op == ast.Subscription && method == http.MethodHead:
		return wrongMethod(w, "GET, POST, OPTIONS",
			"A subscription has no end that HEAD could tell of; send it by GET or POST.")
	case op == ast.Subscription && media != wire.MediaEvents:
		return fault.New(fault.RequestNotAcceptable,
			"A subscription has more than one answer; Accept must name %s, or use a WebSocket.", wire.MediaEvents)
	case op == ast.Mutation && isRead(method):
		return wrongMethod(w, "POST, OPTIONS", "GET carries queries only; send a mutation by POST.")
	default:
		return nil
	}
}

// isRead reports whether a method reads, which GET does with an answer and HEAD without one.
func isRead(method string) bool { return method == http.MethodGet || method == http.MethodHead }

func wrongMethod(w http.ResponseWriter, allow, format string, args ...any) error {
	w.Header().Set("Allow", allow)
	return fault.New(fault.RequestMethodNotAllowed, format, args...)
}
