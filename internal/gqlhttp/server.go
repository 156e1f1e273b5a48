// Package gqlhttp serves a gqlgen schema over HTTP by the letter of the GraphQL specifications, where
// gqlgen's own handler is lenient: strict bodies and variables, the statuses and media types of
// GraphQL-over-HTTP, and errors that are those of package fault.
package gqlhttp

import (
	"context"
	"net/http"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"slipway/internal/fault"
	"slipway/internal/meter"
	"slipway/internal/quota"
)

// Config is what a Server may be told.
type Config struct {
	// Introspection lets callers ask for the schema. Without it errors do not suggest names either.
	Introspection bool
	// Documents is about how many documents stay parsed and validated; 0 stands for 1,000.
	Documents int
	// Trusted are the documents that callers may name, read for the same schema and limits; nil for none.
	Trusted *Trusted
	// Scalars are the checks of the schema's own scalars, by their names.
	Scalars map[string]Check
	// Limits bound each operation, Costs what a caller may spend on all of them; nil is without bounds.
	Limits Limits
	Costs  *quota.Costs
	// Presenter shows errors and recovers panics.
	Presenter Presenter
}

// Server is the http.Handler of a schema.
type Server struct {
	exec       strict
	presenter  Presenter
	transports []graphql.Transport
}

// NewServer makes a Server. Of its transports the first that supports a request serves it.
func NewServer(schema graphql.ExecutableSchema, c Config, transports ...graphql.Transport) *Server {
	c.Limits = c.Limits.WithDefaults()
	if c.Costs == nil {
		c.Costs = quota.NewCosts(quota.Bucket{}, time.Now)
	}
	documents := newDocuments(schema.Schema(), c)
	exec := executor.New(schema)
	exec.SetErrorPresenter(c.Presenter.Present)
	exec.SetRecoverFunc(c.Presenter.Recover)
	exec.SetQueryCache(handover{})
	exec.Use(metering{documents})
	exec.Use(panicLog{c.Presenter})
	return &Server{
		exec:       strict{exec, documents, c.Costs},
		presenter:  c.Presenter,
		transports: transports,
	}
}

// Use adds an extension of gqlgen's; those that were added first run first. By then the document is
// parsed and the variables are coerced, so an extension must not replace them.
func (s *Server) Use(extension graphql.HandlerExtension) { s.exec.Use(extension) }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		switch value := recover(); value {
		case nil:
		case http.ErrAbortHandler:
			panic(value)
		default:
			Refuse(w, r, s.presenter.Recover(r.Context(), value))
		}
	}()
	r = r.WithContext(graphql.StartOperationTrace(r.Context()))
	for _, t := range s.transports {
		if t.Supports(r) {
			t.Do(w, r, s.exec)
			return
		}
	}
	Refuse(w, r, fault.New(fault.RequestNotFound, "No GraphQL transport takes this request."))
}

// strict is gqlgen's executor with a stricter beginning: the document and the variables come to it
// parsed, validated and coerced, each once.
type strict struct {
	*executor.Executor
	documents *documents
	costs     *quota.Costs
}

// create begins the operation that a request asks for, by the executor of a Server.
func create(ctx context.Context, exec graphql.GraphExecutor, r *request) (*graphql.OperationContext, gqlerror.List) {
	s := exec.(strict) // no other comes to these transports
	if err := s.documents.trusted.find(ctx, r); err != nil {
		return notBegun(&r.RawParams), gqlerror.List{refusal(err, nil, nil)}
	}
	return s.CreateOperationContext(ctx, &r.RawParams)
}

// notBegun is the context of an operation that is refused.
func notBegun(p *graphql.RawParams) *graphql.OperationContext {
	return &graphql.OperationContext{
		RawQuery: p.Query, OperationName: p.OperationName, Extensions: p.Extensions, Headers: p.Headers,
		DisableIntrospection: true,
	}
}

// CreateOperationContext implements graphql.GraphExecutor.
func (s strict) CreateOperationContext(ctx context.Context, p *graphql.RawParams) (*graphql.OperationContext, gqlerror.List) {
	refused := notBegun(p)
	doc, errs := s.documents.get(p.Query)
	if errs != nil {
		return refused, errs
	}
	op, err := doc.operation(p.OperationName)
	if err != nil {
		return refused, gqlerror.List{err}
	}
	refused.Doc, refused.Operation = doc.QueryDocument, op
	if p.Variables, errs = s.documents.coerce(doc, op, p.Variables); errs != nil {
		return refused, errs
	}
	running, errs := s.Executor.CreateOperationContext(context.WithValue(ctx, documentKey{}, doc), p)
	running.DisableIntrospection = !s.documents.introspection
	if errs == nil {
		errs = s.charge(ctx, doc, running)
	}
	return running, errs
}

// charge refuses an operation that costs more than it may, or more than its caller has left.
func (s strict) charge(ctx context.Context, doc *document, op *graphql.OperationContext) gqlerror.List {
	c, most := s.documents.costOf(op.Variables), s.documents.limits.Cost
	if s.costs.On() { // no operation may cost more than its caller's bucket holds
		most = min(most, s.costs.Of(callerOf(ctx)).Capacity)
	}
	total := c.operation(op.Operation, doc.told[op.Operation])
	spent := &spending{Used: meter.Round(total), Limit: most}
	if spent.Used > most {
		return gqlerror.List{refusal(c.refuse(op.Operation, total, most), nil, op.Operation.Position)}
	}
	op.Stats.SetExtension(spendingName, spent)
	if err := spent.spend(ctx, s.costs); err != nil {
		return gqlerror.List{refusal(err, nil, nil)}
	}
	op.Stats.SetExtension(runningName, s.documents.run(c, most, total))
	return nil
}
