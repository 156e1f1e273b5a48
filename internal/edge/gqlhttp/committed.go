package gqlhttp

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
)

// resolveMutation carries a mutation out, unless the operation is over its limits. If its answer is what goes
// over them, it is null, and the error says that the mutation was carried out.
func (e *execution) resolveMutation(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	if err := meter.Err(ctx); err != nil {
		return refusedRootField(ctx, err)
	}
	value := e.written(ctx, next(ctx))
	alias := graphql.GetRootFieldContext(ctx).Field.Alias
	if over := e.meter.Over(); over != nil && e.isCommitted(alias) {
		if hasErrorBelow(ctx, alias) {
			return graphql.Null
		}
		return refusedRootField(ctx, e.answerMissing(over, alias))
	}
	return value
}

func hasErrorBelow(ctx context.Context, alias string) bool {
	return slices.ContainsFunc(graphql.GetErrors(ctx), func(err *gqlerror.Error) bool {
		return len(err.Path) > 0 && err.Path[0] == ast.PathName(alias)
	})
}

// addCommitted keeps the payload of a mutation that was carried out.
func (e *execution) addCommitted(fc *graphql.FieldContext, payload any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.committed == nil {
		e.committed = map[string]any{}
	}
	e.committed[fc.Field.Alias] = payload
}

// isCommitted reports whether the mutation of a name was carried out.
func (e *execution) isCommitted(alias string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.committed[alias] != nil
}

// answerMissing returns the error of a mutation that was carried out and whose answer went over a limit, with the ids
// of what it created or changed.
func (e *execution) answerMissing(over *fault.Error, alias string) *fault.Error {
	missing := *over
	missing.Message = "The mutation was carried out, and only its answer is missing. " + over.Message
	missing.Metadata = maps.Clone(over.Metadata)
	missing.Metadata["committed"] = true
	if ids := idsIn(e.committed[alias]); len(ids) > 0 {
		missing.Metadata["ids"] = ids
	}
	return &missing
}

// idsIn returns the ids of the records that a payload has.
func idsIn(payload any) (ids []string) {
	v := reflect.Indirect(reflect.ValueOf(payload))
	if v.Kind() != reflect.Struct {
		return nil
	}
	for i := range v.NumField() {
		if record := reflect.Indirect(v.Field(i)); record.Kind() == reflect.Struct {
			if id := record.FieldByName("ID"); id.IsValid() && id.Kind() == reflect.String {
				ids = append(ids, id.String())
			}
		}
	}
	return ids
}
