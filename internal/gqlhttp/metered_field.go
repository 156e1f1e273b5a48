package gqlhttp

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/meter"
)

// largeText is from how many bytes on a value is counted before it is written.
const largeText = 512

// InterceptField implements graphql.FieldInterceptor: it counts what a field was resolved to.
func (metering) InterceptField(ctx context.Context, next graphql.Resolver) (any, error) {
	fc := graphql.GetFieldContext(ctx)
	switch {
	case fc.Object == "Subscription":
		return next(ctx) // what begins is no answer yet
	case strings.HasPrefix(fc.Object, "__"):
		result, err := next(ctx) // which was counted before
		return exact(ctx, fc, result), err
	}
	r := runningOf(ctx)
	if r == nil {
		return next(ctx)
	}
	leaf := len(fc.Field.Selections) == 0
	if !leaf {
		if err := r.stop(ctx); err != nil {
			return nil, err
		}
	}
	result, err := next(ctx)
	if err != nil || result == nil {
		return result, err
	}
	switch {
	case fc.Field.Definition.Type.Elem != nil:
		r.items(ctx, fc, result)
	case leaf:
		return result, r.text(ctx, result)
	case fc.Object == "Mutation":
		r.commit(fc, result)
		return result, nil // it has happened, whatever has ended since
	default:
		r.page(fc, result)
	}
	return result, r.stop(ctx)
}

// stop is why nothing more of an operation is to be resolved, nil while there is nothing.
func (r *running) stop(ctx context.Context) error {
	err := meter.Err(ctx)
	if over := r.meter.Over(); over != nil {
		if root := graphql.GetRootFieldContext(ctx); root != nil && r.has(root.Field.Alias) {
			return r.after(over, root.Field.Alias)
		}
		return over
	}
	return err
}

// items counts the items of a list that were not assumed, and takes off those that were and are not there.
func (r *running) items(ctx context.Context, fc *graphql.FieldContext, list any) {
	assumed := r.cost.times(fc.Field.Field, parent{page: r.pageAround(fc)})
	extra := lengthOf(reflect.ValueOf(list)) - assumed
	if extra != 0 {
		r.meter.Add(ctx, meter.Fields, extra*r.eachOf(fc.Field))
	}
}

// pageAround is how many nodes the connection that a field is of is taken to have, 0 for a field of
// something else.
func (r *running) pageAround(fc *graphql.FieldContext) float64 {
	if around := fc.Parent; around != nil && around.Field.Field != nil && around.Field.Definition != nil {
		return r.cost.page(around.Field.Field)
	}
	return 0
}

// eachOf is what an item of a list costs.
func (r *running) eachOf(f graphql.CollectedField) float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	each, known := r.each[f.Field]
	if !known {
		each = r.cost.each(f.Field, f.Selections)
		if r.each == nil {
			r.each = map[*ast.Field]float64{}
		}
		r.each[f.Field] = each
	}
	return each
}

// lengthOf is how many items a list has, with those of lists inside.
func lengthOf(list reflect.Value) float64 {
	if list.Kind() != reflect.Slice {
		return 0
	}
	n := float64(list.Len())
	if list.Type().Elem().Kind() == reflect.Slice && list.Type().Elem().Elem().Kind() != reflect.Uint8 {
		for i := range list.Len() {
			n += lengthOf(list.Index(i))
		}
	}
	return n
}

// text counts a large value, and is why nothing more is to be resolved then.
func (r *running) text(ctx context.Context, value any) error {
	size := 0
	switch v := value.(type) {
	case string:
		size = len(v)
	case *string:
		if v != nil {
			size = len(*v)
		}
	case json.RawMessage:
		size = len(v)
	}
	if size < largeText {
		return nil
	}
	_ = meter.Answer(ctx, meter.Taken, size) // stop says it as a mutation needs it
	return r.stop(ctx)
}

// page notes a page that is cut where the document did not say.
func (r *running) page(fc *graphql.FieldContext, result any) {
	connection, ok := result.(interface{ CutByDefault() bool })
	if !ok || !connection.CutByDefault() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.truncated == nil {
		r.truncated = map[string]bool{}
	}
	r.truncated[pathOf(fc)] = true
}

// commit notes the payload of a mutation.
func (r *running) commit(fc *graphql.FieldContext, payload any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.committed == nil {
		r.committed = map[string]any{}
	}
	r.committed[fc.Field.Alias] = payload
}

func (r *running) has(alias string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.committed[alias] != nil
}
