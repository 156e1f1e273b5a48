package gqlhttp

import (
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/fault"
	"slipway/internal/quota"
	"slipway/internal/requestlog"
)

// What a request may hold where HTTP does not say otherwise.
const (
	DefaultMaxBody  = 256 << 10
	DefaultMaxQuery = 16 << 10
)

// HTTP is the transport of queries and mutations over POST, and of queries over GET, as the
// GraphQL-over-HTTP specification has them, and of all operations as event streams. It supports every
// request and refuses those that it does not understand, so it goes last.
type HTTP struct {
	// MaxBody is the most that a POST may carry, in bytes; 0 stands for DefaultMaxBody.
	MaxBody int64
	// MaxQuery is the longest text of a document, in bytes; 0 stands for DefaultMaxQuery.
	MaxQuery int
	// Timeout bounds the execution of an operation that is answered in one piece; 0 stands for
	// DefaultTimeout.
	Timeout time.Duration
	// Streams serve those who accept text/event-stream; without them nobody is.
	Streams *Streams
	// Requests bounds the queries and mutations that a caller may have in flight; nil is without limit.
	Requests *quota.Gate
}

// Caller returns whom a request counts for where each caller has a limit: the actor that it was
// authenticated as, or the address that it comes from.
func Caller(r *http.Request) quota.Caller { return callerOf(r.Context()) }

var _ graphql.Transport = HTTP{}

// Supports implements graphql.Transport.
func (HTTP) Supports(*http.Request) bool { return true }

// Do implements graphql.Transport.
func (h HTTP) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	if err := h.serve(w, r, exec); err != nil {
		Refuse(w, r, err)
	}
}

// serve answers the request, or gives the error to refuse it with.
func (h HTTP) serve(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) error {
	media, err := h.media(w, r)
	if err != nil {
		return err
	}
	leave, err := h.Requests.Enter(r.Context(), callerOf(r.Context()).Key)
	if err != nil {
		return err
	}
	defer leave()
	params, err := h.read(w, r)
	if err != nil {
		return err
	}
	op, errs := create(r.Context(), exec, params)
	defer note(r.Context(), op) // by then the cost is settled
	limitRate(w.Header(), op)
	if len(errs) > 0 {
		h.refuse(w, r, media, exec.DispatchError(graphql.WithOperationContext(r.Context(), op), errs))
		return nil
	}
	kind := op.Operation.Operation
	if named, _ := h.events(r); named && kind == ast.Subscription {
		media = mediaEvents
	}
	if err := permit(w, r.Method, kind, media); err != nil {
		return err
	}
	if kind == ast.Subscription {
		leave() // it counts as a stream
	}
	if media == mediaEvents {
		return h.Streams.serveEvents(w, r, exec, op)
	}
	ctx, cancel := context.WithTimeout(r.Context(), cmp.Or(h.Timeout, DefaultTimeout))
	defer cancel()
	next, ctx := exec.DispatchOperation(ctx, op)
	resp := next(ctx)
	if resp == nil {
		return timeout(ctx.Err())
	}
	limitRate(w.Header(), op)
	if isShared(ctx, r.Method, params, op, resp) {
		share(w, r, media, resp)
		return nil
	}
	respond(w, media, resp)
	return nil
}

// note tells the request's log line of its operation.
func note(ctx context.Context, op *graphql.OperationContext) {
	name := op.OperationName
	if op.Operation != nil {
		name = op.Operation.Name
	}
	cost := 0
	if spent, ok := op.Stats.GetExtension(spendingName).(*spending); ok {
		cost = spent.Used
	}
	requestlog.From(ctx).SetOperation(name, cost)
}

// refuse answers with the errors of an operation that was not run. What is wrong with a document a stream
// tells too; that the caller has to wait is the status of the whole answer.
func (h HTTP) refuse(w http.ResponseWriter, r *http.Request, media string, resp *graphql.Response) {
	switch status := statusOf(resp); {
	case media != mediaEvents:
		respond(w, media, resp)
	case fault.MayRetry(status):
		answer(w, cmp.Or(negotiate(r.Header), mediaJSON), status, resp)
	default:
		h.Streams.refuseEvents(w, resp)
	}
}

// media gives the media type of the answer, if the operation leaves the choice.
func (h HTTP) media(w http.ResponseWriter, r *http.Request) (string, error) {
	if r.Method != http.MethodPost && !isRead(r.Method) {
		return "", wrongMethod(w, "GET, HEAD, POST, OPTIONS", "GraphQL is served by POST and GET; found %s.", shorten(r.Method))
	}
	if _, first := h.events(r); first {
		return mediaEvents, nil
	}
	media := negotiate(r.Header)
	if media == "" {
		return "", fault.New(fault.RequestNotAcceptable,
			"Accept must allow %s or %s; it allows neither.", mediaGraphQL, mediaJSON)
	}
	return media, nil
}

func (h HTTP) events(r *http.Request) (named, first bool) {
	if h.Streams == nil {
		return false, false
	}
	return negotiateEvents(r.Header)
}

// read gives the parameters of the operation.
func (h HTTP) read(w http.ResponseWriter, r *http.Request) (*request, error) {
	start := graphql.Now()
	params, err := h.params(w, r)
	if err != nil {
		return nil, err
	}
	if err := withinQuery(params.Query, h.MaxQuery); err != nil {
		return nil, err
	}
	params.Headers = r.Header
	params.ReadTime = graphql.TraceTiming{Start: start, End: graphql.Now()}
	return params, nil
}

// withinQuery refuses a document whose text is longer than most; 0 stands for DefaultMaxQuery.
func withinQuery(text string, most int) error {
	if most = cmp.Or(most, DefaultMaxQuery); len(text) > most {
		e := fault.New(fault.DocumentTooLarge, "The document may have at most %d bytes; found %d.", most, len(text))
		e.Metadata = map[string]any{"limit": "query", "value": most, "found": len(text)}
		return e
	}
	return nil
}

func (h HTTP) params(w http.ResponseWriter, r *http.Request) (*request, error) {
	if isRead(r.Method) {
		return paramsOfURL(r.URL.RawQuery)
	}
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != mediaJSON || !isUTF8(params) {
		return nil, fault.New(fault.RequestUnsupportedMedia, "Content-Type must be %s in UTF-8.", mediaJSON)
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return nil, fault.New(fault.RequestUnsupportedMedia, "The body must not be encoded; found the Content-Encoding %.60q.", encoding)
	}
	most := cmp.Or(h.MaxBody, DefaultMaxBody)
	if r.ContentLength > most { // what waits for 100 Continue is not asked for
		return nil, fault.BodyTooLarge(most, r.ContentLength)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return nil, fault.BodyTooLarge(most, r.ContentLength)
	}
	if err != nil {
		return nil, fault.New(fault.RequestMalformed, "The body could not be read to its end.").WithCause(err)
	}
	return paramsOfBody(body)
}

// permit refuses the operations that the method or the media type of the answer cannot carry.
func permit(w http.ResponseWriter, method string, op ast.Operation, media string) error {
	switch {
	case op == ast.Subscription && method == http.MethodHead:
		return wrongMethod(w, "GET, POST, OPTIONS", "A subscription has no end that HEAD could tell of; send it by GET or POST.")
	case op == ast.Subscription && media != mediaEvents:
		return fault.New(fault.RequestNotAcceptable,
			"A subscription has more than one answer; Accept must name %s, or use a WebSocket.", mediaEvents)
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
