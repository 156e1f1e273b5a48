package gqlhttp

import (
	"context"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"slipway/internal/base/meter"
	"slipway/internal/edge/gqlhttp/document"
	"slipway/internal/edge/gqlhttp/stream"
	"slipway/internal/edge/gqlhttp/wire"
	"slipway/internal/edge/httpx"
	"slipway/internal/edge/requestlog"
)

// operations is gqlgen's executor with a stricter start: the document and the variables come to it
// parsed, validated and coerced, each once.
type operations struct {
	*executor.Executor
	documents *document.Documents
	config    Config
}

var _ stream.Executor = operations{}

// Create implements stream.Executor: it finds the document, coerces the variables and charges the caller.
func (o operations) Create(ctx context.Context, r *wire.Request) (*graphql.OperationContext, gqlerror.List) {
	p := &r.RawParams
	if err := o.config.Trusted.find(ctx, r); err != nil {
		return refusedOperation(p), gqlerror.List{wire.RequestError(err, nil, nil)}
	}

	refused := refusedOperation(p)
	doc, isTrusted, errs := o.document(p.Query)
	if errs != nil {
		return refused, errs
	}

	op, err := doc.Operation(p.OperationName)
	if err != nil {
		return refused, gqlerror.List{err}
	}
	refused.Doc, refused.Operation = doc.QueryDocument, op

	variables, errs := o.documents.Coerce(doc, op, p.Variables)
	if errs != nil {
		return refused, errs
	}

	created, errs := o.CreateOperationContext(context.WithValue(graphql.StartOperationTrace(ctx), documentKey{}, doc), p)
	created.Variables, created.DisableIntrospection = variables, !o.config.Introspection
	created.Stats.SetExtension(preparedName, doc.Prepared(op))
	if used := o.documents.Deprecated(doc, op, p.Variables); len(used) > 0 {
		created.Stats.SetExtension(deprecatedName, used)
	}
	if errs == nil {
		counted := requestlog.Operation{Type: string(op.Operation), Name: o.nameOf(op, isTrusted)}
		errs = o.charge(ctx, o.documents.Cost(doc, op, variables), counted, created)
	}
	return created, errs
}

// refusedOperation returns the context of an operation that is refused.
func refusedOperation(p *graphql.RawParams) *graphql.OperationContext {
	return &graphql.OperationContext{
		RawQuery: p.Query, OperationName: p.OperationName, Extensions: p.Extensions, Headers: p.Headers,
		DisableIntrospection: true,
	}
}

func (o operations) document(text string) (doc *document.Document, isTrusted bool, errs gqlerror.List) {
	if doc := o.config.Trusted.document(text); doc != nil {
		return doc, true, nil
	}
	doc, errs = o.documents.Get(text)
	return doc, false, errs
}

// nameOf returns the name under which an operation is counted: its own if its document is trusted, as far as so many
// are counted, and otherwise its first field.
func (o operations) nameOf(op *ast.OperationDefinition, isTrusted bool) string {
	if isTrusted && o.config.Trusted.names[op.Name] {
		return op.Name
	}
	return firstField(op.SelectionSet)
}

// firstField returns the name of the first field that a selection has, also by its fragments.
func firstField(of ast.SelectionSet) string {
	for _, s := range of {
		name := ""
		switch s := s.(type) {
		case *ast.Field:
			return s.Name
		case *ast.InlineFragment:
			name = firstField(s.SelectionSet)
		case *ast.FragmentSpread:
			name = firstField(s.Definition.SelectionSet)
		}
		if name != "" {
			return name
		}
	}
	return ""
}

// charge refuses an operation that costs more than it may, or more than its caller has left.
func (o operations) charge(
	ctx context.Context, cost document.Cost, as requestlog.Operation, op *graphql.OperationContext,
) gqlerror.List {
	most := o.config.Limits.Cost
	if o.config.Costs.On() { // no operation may cost more than its caller's bucket holds
		most = min(most, o.config.Costs.Of(httpx.Caller(ctx)).Capacity)
	}
	used := &costExtension{Used: meter.Round(cost.Total), Limit: most}
	if used.Used > most {
		return gqlerror.List{wire.RequestError(cost.Exceeded(most), nil, op.Operation.Position)}
	}
	op.Stats.SetExtension(costName, used)
	if err := used.spend(ctx, o.config.Costs); err != nil {
		return gqlerror.List{wire.RequestError(err, nil, nil)}
	}
	e := newExecution(cost, meter.Limits{Cost: most, Answer: o.config.Limits.Answer}, cost.Total)
	e.counted = as
	op.Stats.SetExtension(executionName, e)
	return nil
}

// DispatchOperation implements stream.Executor. A query or mutation waits for its turn; one that gets none is not run
// and costs nothing. An event of a subscription waits where it is resolved.
func (o operations) DispatchOperation(
	ctx context.Context, op *graphql.OperationContext,
) (graphql.ResponseHandler, context.Context) {
	if op.Operation.Operation == ast.Subscription {
		next, ctx := o.Executor.DispatchOperation(ctx, op)
		return countSubscription(op, next), withRootField(ctx, op)
	}
	if err := o.config.Turns.Take(ctx, httpx.Caller(ctx)); err != nil {
		if c, ok := op.Stats.GetExtension(costName).(*costExtension); ok {
			c.settle(ctx, 0, 0)
		}
		return graphql.OneShot(wire.Failure(ctx, err)), ctx
	}
	next, ctx := o.Executor.DispatchOperation(ctx, op)
	return func(ctx context.Context) *graphql.Response {
		defer o.config.Turns.Leave()
		return next(ctx)
	}, ctx
}

// countSubscription counts a subscription with its first answer, and what it fails with if it does not begin: no
// extension sees that.
func countSubscription(op *graphql.OperationContext, next graphql.ResponseHandler) graphql.ResponseHandler {
	isFirst := true
	return func(ctx context.Context) *graphql.Response {
		if e := executionIn(op); isFirst && e != nil {
			isFirst = false
			counter := requestlog.From(ctx).Counter()
			counter.CountStream(e.counted, meter.Round(e.cost.Total))
			countDeprecated(counter, op)
		}
		resp := next(ctx)
		if resp != nil && resp.Data == nil {
			wire.CountErrors(ctx, resp)
		}
		return resp
	}
}

// withRootField returns the context in which the events of a subscription are resolved. It is below the subscription's
// field, with whose name the paths of their errors begin. gqlgen has events begin at nothing.
func withRootField(ctx context.Context, op *graphql.OperationContext) context.Context {
	const object = "Subscription"
	fields := graphql.CollectFields(op, op.Operation.SelectionSet, []string{object})
	if len(fields) != 1 {
		return ctx // it is refused
	}
	return graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: object, Field: fields[0]})
}

// Patience implements stream.Executor.
func (o operations) Patience(op *graphql.OperationContext) time.Duration {
	if o.config.Patience == nil {
		return 0
	}
	return o.config.Patience(op)
}

// preparedName is the name under which an operation's context has what Config.Prepare has made of it.
const preparedName = "prepared"

// Prepared returns what Config.Prepare has made of an operation, nil without one.
func Prepared(op *graphql.OperationContext) any { return op.Stats.GetExtension(preparedName) }

// deprecatedName is the name under which an operation's context has what is deprecated of what it uses. It is the name
// of the extension, too.
const deprecatedName = "deprecated"

// deprecatedIn returns what is deprecated of what an operation uses.
func deprecatedIn(op *graphql.OperationContext) []document.Deprecation {
	used, _ := op.Stats.GetExtension(deprecatedName).([]document.Deprecation)
	return used
}

// countDeprecated counts what is deprecated of what an operation uses.
func countDeprecated(counter requestlog.Counter, op *graphql.OperationContext) {
	for _, used := range deprecatedIn(op) {
		counter.CountDeprecated(used.Field)
	}
}

type documentKey struct{}

// parsedDocument is a cache that returns to gqlgen's executor the document that came with the context, in place of its
// own cache. Its operations declare no variables, so that the executor leaves alone what was coerced here.
type parsedDocument struct{}

// Get implements graphql.Cache.
func (parsedDocument) Get(ctx context.Context, _ string) (*ast.QueryDocument, bool) {
	doc, ok := ctx.Value(documentKey{}).(*document.Document)
	if !ok {
		return nil, false
	}
	return doc.Executable, true
}

// Add implements graphql.Cache: there is nothing to keep.
func (parsedDocument) Add(context.Context, string, *ast.QueryDocument) {}
