// Package gqlhttp serves a gqlgen schema over HTTP by the letter of the GraphQL specifications, where
// gqlgen's own handler is lenient: strict bodies and variables, the statuses and media types of
// GraphQL-over-HTTP, and errors that are those of package fault.
//
// A request goes through four stages. A Transport reads it: HTTP a POST or a GET, stream.WebSocket the messages of a
// socket. Package document finds out whether its document and variables are valid and what it costs, or Trusted finds
// the document by an id. gqlgen resolves its fields, while metering counts what they work on and answer with and ends
// what goes over a limit. The Transport writes the answer, whose errors Presenter has made from what went wrong.
package gqlhttp

import (
	"net/http"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/base/fault"
	"slipway/internal/base/turns"
	"slipway/internal/edge/gqlhttp/document"
	"slipway/internal/edge/gqlhttp/stream"
	"slipway/internal/edge/gqlhttp/wire"
	"slipway/internal/edge/quota"
)

// Config configures a Server.
type Config struct {
	// Introspection lets callers ask for the schema. Without it errors do not suggest names either.
	Introspection bool
	// Documents is how many documents stay parsed and validated; 0 stands for 1,000.
	Documents int
	// Trusted are the documents that callers may name, read for the same schema and limits; nil for none.
	Trusted *Trusted
	// Scalars are the checks of the schema's own scalars, by their names.
	Scalars map[string]document.Check
	// Limits bound each operation, Costs what a caller may spend on all of them; nil is without bounds.
	Limits document.Limits
	Costs  *quota.Costs
	// Turns bounds how many queries and mutations are executed at once; nil is without limit.
	Turns *turns.Turns
	// Presenter shows errors and recovers panics.
	Presenter Presenter
	// Prepare, if it is not nil, makes of an operation of a document what Prepared returns each time that it is executed.
	Prepare func(*ast.QueryDocument, *ast.OperationDefinition) any
	// Patience, if it is not nil, returns how long an operation may wait, besides the time that it may run.
	Patience func(*graphql.OperationContext) time.Duration
}

func (c Config) documents() document.Config {
	return document.Config{
		Introspection: c.Introspection, Kept: c.Documents,
		Scalars: c.Scalars, Limits: c.Limits, Prepare: c.Prepare,
	}
}

// Transport serves requests of some kind.
type Transport interface {
	// Supports reports whether the request is of that kind.
	Supports(r *http.Request) bool
	// Do answers the request, whose operations exec executes.
	Do(w http.ResponseWriter, r *http.Request, exec stream.Executor)
}

// Server is the http.Handler of a schema.
type Server struct {
	exec       operations
	presenter  Presenter
	transports []Transport
}

// NewServer returns a Server. Of its transports the first that supports a request serves it.
func NewServer(schema graphql.ExecutableSchema, c Config, transports ...Transport) *Server {
	c.Limits = c.Limits.WithDefaults()
	if c.Costs == nil {
		c.Costs = quota.NewCosts(quota.Bucket{}, time.Now)
	}
	exec := executor.New(schema)
	exec.SetErrorPresenter(c.Presenter.Present)
	exec.SetRecoverFunc(c.Presenter.Recover)
	exec.SetQueryCache(parsedDocument{})
	exec.Use(metering{})
	exec.Use(failureLog{c.Presenter})
	return &Server{
		exec:       operations{exec, document.New(schema.Schema(), c.documents()), c},
		presenter:  c.Presenter,
		transports: transports,
	}
}

// Use adds an extension of gqlgen's; those that were added first run first. By then the document is
// parsed and the variables are coerced, so an extension must not replace them. It panics if the extension intercepts
// fields, for plans do not call it. What is to see all fields belongs into Observer.
func (s *Server) Use(extension graphql.HandlerExtension) {
	if _, ok := extension.(graphql.FieldInterceptor); ok {
		panic("gqlhttp: the extension " + extension.ExtensionName() + " intercepts fields, which plans do not let it do")
	}
	s.exec.Use(extension)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		switch value := recover(); value {
		case nil:
		case http.ErrAbortHandler:
			panic(value)
		default:
			wire.Refuse(w, r, s.presenter.Recover(r.Context(), value))
		}
	}()
	for _, t := range s.transports {
		if t.Supports(r) {
			t.Do(w, r, s.exec)
			return
		}
	}
	wire.Refuse(w, r, fault.New(fault.RequestNotFound, "No GraphQL transport takes this request."))
}
