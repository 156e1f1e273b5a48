package gqlhttp

import (
	"cmp"
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/fault"
)

// What a request may hold where HTTP does not say otherwise.
const (
	DefaultMaxBody  = 256 << 10
	DefaultMaxQuery = 16 << 10
)

// HTTP is the transport of queries and mutations over POST, and of queries over GET, as the
// GraphQL-over-HTTP specification has them. It supports every request and refuses those that it does
// not understand, so it goes last.
type HTTP struct {
	// MaxBody is the most that a POST may carry, in bytes; 0 stands for DefaultMaxBody.
	MaxBody int64
	// MaxQuery is the longest text of a document, in bytes; 0 stands for DefaultMaxQuery.
	MaxQuery int
}

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
	params, media, err := h.read(w, r)
	if err != nil {
		return err
	}
	op, errs := exec.CreateOperationContext(r.Context(), params)
	if len(errs) > 0 {
		respond(w, media, exec.DispatchError(graphql.WithOperationContext(r.Context(), op), errs))
		return nil
	}
	if err := permit(w, r.Method, op.Operation.Operation); err != nil {
		return err
	}
	next, ctx := exec.DispatchOperation(r.Context(), op)
	resp := next(ctx)
	if resp == nil {
		return timeout(ctx.Err())
	}
	respond(w, media, resp)
	return nil
}

// read gives the parameters of the operation and the media type of the answer.
func (h HTTP) read(w http.ResponseWriter, r *http.Request) (*graphql.RawParams, string, error) {
	if r.Method != http.MethodPost && r.Method != http.MethodGet {
		return nil, "", wrongMethod(w, "GET, POST", "GraphQL is served by POST and GET; found %s.", shorten(r.Method))
	}
	media := negotiate(r.Header)
	if media == "" {
		return nil, "", fault.New(fault.RequestNotAcceptable,
			"Accept must allow %s or %s; it allows neither.", mediaGraphQL, mediaJSON)
	}
	start := graphql.Now()
	params, err := h.params(w, r)
	if err != nil {
		return nil, "", err
	}
	if most := cmp.Or(h.MaxQuery, DefaultMaxQuery); len(params.Query) > most {
		return nil, "", fault.New(fault.DocumentTooLarge,
			"The document may have at most %d bytes; found %d.", most, len(params.Query))
	}
	params.Headers = r.Header
	params.ReadTime = graphql.TraceTiming{Start: start, End: graphql.Now()}
	return params, media, nil
}

func (h HTTP) params(w http.ResponseWriter, r *http.Request) (*graphql.RawParams, error) {
	if r.Method == http.MethodGet {
		return paramsOfURL(r.URL.RawQuery)
	}
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != mediaJSON || !isUTF8(params) {
		return nil, fault.New(fault.RequestUnsupportedMedia, "Content-Type must be %s in UTF-8.", mediaJSON)
	}
	most := cmp.Or(h.MaxBody, DefaultMaxBody)
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return nil, fault.New(fault.RequestTooLarge, "The body may have at most %d bytes; it has more.", most)
	}
	if err != nil {
		return nil, fault.New(fault.RequestMalformed, "The body could not be read to its end.").Because(err)
	}
	return paramsOfBody(body)
}

// permit refuses the operations that the method cannot carry.
func permit(w http.ResponseWriter, method string, op ast.Operation) error {
	switch {
	case op == ast.Subscription:
		return fault.New(fault.RequestNotAcceptable,
			"A subscription has more than one answer; it needs a streaming transport.")
	case op == ast.Mutation && method == http.MethodGet:
		return wrongMethod(w, "POST", "GET carries queries only; send a mutation by POST.")
	default:
		return nil
	}
}

func wrongMethod(w http.ResponseWriter, allow, format string, args ...any) error {
	w.Header().Set("Allow", allow)
	return fault.New(fault.RequestMethodNotAllowed, format, args...)
}
