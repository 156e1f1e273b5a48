package gqlhttp

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/meter"
)

// metering is the extension that counts what an operation works on while it runs and what it answers with, and puts the
// cost in the answer. A subscription is paid for when it starts, and again with each of its events, which is counted anew
// and has no cost in its answer.
type metering struct{}

func (metering) ExtensionName() string                   { return "Metering" }
func (metering) Validate(graphql.ExecutableSchema) error { return nil }

// The names under which an operation's context has its costExtension and its execution. The first is the name in the
// answer, too.
const costName, executionName = "cost", "execution"

// InterceptResponse implements graphql.ResponseInterceptor.
func (metering) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	op := graphql.GetOperationContext(ctx)
	e, ok := op.Stats.GetExtension(executionName).(*execution)
	if !ok {
		return next(ctx) // the operation was refused
	}
	kind := op.Operation.Operation
	if kind == ast.Subscription {
		e = e.ofEvent()
	}
	ctx = withExecution(ctx, e)
	resp := next(ctx)
	if resp == nil {
		return nil
	}
	e.pay(ctx) // where there was nothing to resolve
	e.finish(ctx, kind, resp)
	return resp
}

// InterceptRootField implements graphql.RootFieldInterceptor.
func (metering) InterceptRootField(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	e := executionOf(ctx)
	if graphql.GetOperationContext(ctx).Operation.Operation == ast.Mutation {
		return e.resolveMutation(ctx, next)
	}
	if e.enterRootField(ctx) {
		defer e.leaveRootField()
	}
	if err := meter.Err(ctx); err != nil { // before the arguments are read
		return refusedRootField(ctx, err)
	}
	value := e.written(ctx, next(ctx))
	if e.isAnswerTooLarge() {
		return graphql.Null // nothing of it is sent
	}
	return value
}

// refusedRootField returns the value of a root field that ends with an error, which is null.
func refusedRootField(ctx context.Context, err error) graphql.Marshaler {
	alias := graphql.GetRootFieldContext(ctx).Field.Alias
	graphql.AddError(graphql.WithPathContext(ctx, graphql.NewPathWithField(alias)), err)
	return graphql.Null
}

// InterceptField implements graphql.FieldInterceptor for gqlgen's executor: it has an Observer observe the field.
func (metering) InterceptField(ctx context.Context, next graphql.Resolver) (any, error) {
	fc := graphql.GetFieldContext(ctx)
	switch {
	case fc.Object == "Subscription":
		return next(ctx) // the start of a subscription has no answer
	case strings.HasPrefix(fc.Object, "__"):
		result, err := next(ctx) // which was counted before
		return standardIntrospection(ctx, fc, result), err
	}
	o := Observe(ctx)
	if o.execution == nil {
		return next(ctx)
	}
	isLeaf := len(fc.Field.Selections) == 0
	if !isLeaf {
		if err := o.Begin(ctx, fc); err != nil {
			return nil, err
		}
	}
	result, err := next(ctx)
	switch {
	case err != nil:
	case !isLeaf || fc.Field.Definition.Type.Elem != nil:
		err = o.Resolved(ctx, fc, result)
	default:
		err = o.Text(ctx, textLength(result))
	}
	return result, err
}

// textLength returns the length of a text or of JSON, 0 for other values.
func textLength(value any) int {
	switch v := value.(type) {
	case string:
		return len(v)
	case *string:
		if v != nil {
			return len(*v)
		}
	case json.RawMessage:
		return len(v)
	}
	return 0
}
