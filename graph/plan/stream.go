package plan

import (
	"context"
	"encoding/json"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// subscribe starts the events of a subscription.
func (e *Execution) subscribe(ctx context.Context, root *Node, s *selection) graphql.ResponseHandler {
	ctx = graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: s.on.Name})
	if len(s.nodes) != 1 || s.nodes[0].field == nil {
		graphql.AddErrorf(ctx, "must subscribe to exactly one stream")
		return nil
	}
	next := s.nodes[0].field.Subscribe(ctx, e, s.nodes[0])
	return func(ctx context.Context) *graphql.Response {
		event := next(ctx)
		if event == nil {
			return nil
		}
		data := make(written, 0, root.room())
		event.MarshalGQL(&data)
		root.took(len(data))
		return &graphql.Response{Data: json.RawMessage(data)}
	}
}

// Stream starts the events of a subscription's field, of which the function that it returns has the next one. It is
// given the decoder of the field's arguments, nil without any, the resolver, and what writes a value of the field.
func Stream[T any](
	ctx context.Context, e *Execution, n *Node,
	decode func(context.Context, map[string]any) (map[string]any, error),
	resolve func(context.Context, Arguments) (<-chan T, error),
	write func(*Writer, *Node, T) bool,
) func(context.Context) graphql.Marshaler {
	return graphql.ResolveFieldStream(ctx, e.Operation, n.Collected,
		func(ctx context.Context, _ graphql.CollectedField) (*graphql.FieldContext, error) {
			return e.streamContext(ctx, n, decode)
		},
		func(ctx context.Context) (any, error) {
			return resolve(ctx, Arguments{graphql.GetFieldContext(ctx).Args})
		},
		nil,
		func(ctx context.Context, _ ast.SelectionSet, v T) graphql.Marshaler {
			return event(ctx, e, n, v, write)
		},
		true, n.field.NonNull)
}

// streamContext returns the FieldContext of a subscription's field. Where arguments are refused, it has reported that.
func (e *Execution) streamContext(
	ctx context.Context, n *Node, decode func(context.Context, map[string]any) (map[string]any, error),
) (fc *graphql.FieldContext, err error) {
	fc = &graphql.FieldContext{
		Object: n.field.Object, Field: n.Collected, IsMethod: n.field.IsMethod, IsResolver: n.field.IsResolver,
	}
	ctx = graphql.WithFieldContext(ctx, fc)
	defer func() {
		if value := recover(); value != nil {
			err = e.Operation.Recover(ctx, value)
		}
		if err != nil {
			e.Operation.Error(ctx, err)
		}
	}()
	if decode != nil {
		fc.Args, err = decode(ctx, n.Collected.ArgumentMap(e.Operation.Variables))
	}
	return fc, err
}

// event returns the value of a subscription's field. Paths of errors begin below the field that the context has, as in
// gqlgen's executor.
func event[T any](
	ctx context.Context, e *Execution, n *Node, v T, write func(*Writer, *Node, T) bool,
) graphql.Marshaler {
	w := e.writer(ctx, e.observer(ctx), n.room())
	if !write(w, n, v) {
		return graphql.Null
	}
	n.took(w.end())
	return &value{w.output, w.begin}
}
