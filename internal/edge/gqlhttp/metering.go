package gqlhttp

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/base/meter"
	"slipway/internal/base/tracing"
	"slipway/internal/edge/gqlhttp/wire"
	"slipway/internal/edge/requestlog"
)

// metering is the extension that counts what an operation works on while it runs and what it answers with, and puts
// the cost in the answer if the caller asks for it. A subscription is paid for when it starts, and again with each of
// its events. Each event is counted anew and has no cost in its answer.
type metering struct{}

func (metering) ExtensionName() string                   { return "Metering" }
func (metering) Validate(graphql.ExecutableSchema) error { return nil }

// The names under which an operation's context has its costExtension and its execution. The first is the name in the
// answer, too.
const costName, executionName = "cost", "execution"

// InterceptResponse implements graphql.ResponseInterceptor.
func (metering) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	op := graphql.GetOperationContext(ctx)
	counter := requestlog.From(ctx).Counter()
	e := executionIn(op)
	if e == nil { // the operation was refused
		resp := next(ctx)
		counter.CountOperation(requestlog.Operation{Type: "refused", Name: "refused"}, 0, 0)
		wire.CountErrors(ctx, resp)
		return resp
	}

	kind := op.Operation.Operation
	var span tracing.Span // an event has none, for it is not known when it begins
	if kind == ast.Subscription {
		e = e.ofEvent()
	} else {
		ctx, span = tracing.Start(ctx, e.counted.Type)
		defer span.End(nil)
	}

	ctx = withExecution(ctx, e)
	resp := next(ctx)
	if resp == nil {
		return nil
	}

	e.pay(ctx) // where there was nothing to resolve
	e.finish(ctx, kind, resp)
	if kind == ast.Subscription {
		counter.CountItem(e.counted, e.meter.Cost())
	} else {
		counter.CountOperation(e.counted, e.meter.Cost(), graphql.Now().Sub(op.Stats.OperationStart))
		countDeprecated(counter, op)
	}
	wire.CountErrors(ctx, resp)
	describe(span, e, resp)
	return resp
}

// describe tells of an operation in its span: what it was and cost, and the code of the first error.
func describe(span tracing.Span, e *execution, resp *graphql.Response) {
	if !span.IsRecorded() {
		return
	}
	span.SetName(e.counted.Type + " " + e.counted.Name)
	span.SetText("graphql.operation.type", e.counted.Type)
	span.SetText("graphql.operation.name", e.counted.Name)
	span.SetNumber("slipway.cost", e.meter.Cost())
	if len(resp.Errors) > 0 {
		span.SetText("error.type", string(wire.CodeOf(resp.Errors[0])))
	}
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
