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
		return standardIntrospection(ctx, fc, result), err
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
	if err != nil {
		return result, err
	}
	isList := fc.Field.Definition.Type.Elem != nil
	if isList || !leaf {
		r.found(ctx, fc, result)
	}
	switch {
	case result == nil:
		return nil, nil
	case isList:
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

// found counts the objects that a field was resolved to, or the items of its list, in the place of those that were
// assumed.
func (r *running) found(ctx context.Context, fc *graphql.FieldContext, result any) {
	if strings.HasPrefix(fc.Field.Name, "__") {
		return
	}
	assumed := r.cost.Items(fc.Field.Field, fieldAround(fc)) * r.eachOf(fc.Field, "")
	if extra := r.objects(fc.Field, reflect.ValueOf(result)) - assumed; extra != 0 {
		r.meter.Add(ctx, meter.Fields, extra)
	}
}

// objects is what the objects in a value cost, or the items of a list, with those of lists inside.
func (r *running) objects(f graphql.CollectedField, value reflect.Value) (sum float64) {
	for value.Kind() == reflect.Interface || value.Kind() == reflect.Pointer {
		value = value.Elem()
	}
	if !value.IsValid() {
		return 0 // there is none
	}
	if value.Kind() != reflect.Slice || value.Type().Elem().Kind() == reflect.Uint8 {
		return r.eachOf(f, r.cost.Object(f.Field, value.Type().Name()))
	}
	for i := range value.Len() {
		item := value.Index(i)
		sum += r.objects(f, item)
		if item.Kind() == reflect.Slice && item.Type().Elem().Kind() != reflect.Uint8 {
			sum += r.eachOf(f, "") // the list inside is an item, too
		}
	}
	return sum
}

// fieldAround returns the field that a field is of, nil at the root.
func fieldAround(fc *graphql.FieldContext) *ast.Field {
	if fc.Parent == nil {
		return nil
	}
	return fc.Parent.Field.Field
}

// eachOf is what an object costs that a field was resolved to; its type is empty where it is not known.
func (r *running) eachOf(f graphql.CollectedField, object string) float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := kindOfItem{f.Field, object}
	each, known := r.each[of]
	if !known {
		each = r.cost.Each(f.Field, f.Selections, object)
		if r.each == nil {
			r.each = map[kindOfItem]float64{}
		}
		r.each[of] = each
	}
	return each
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
