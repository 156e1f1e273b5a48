package executortest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/introspection"

	"slipway/graph"
	"slipway/graph/generated"
	"slipway/internal/edge/gqlhttp"
	"slipway/internal/edge/gqlhttp/document"
)

// executor is what executes operations.
type executor string

const (
	plans  executor = "plan"
	gqlgen executor = "gqlgen"
)

// endpoints make those whose operations an executor executes.
var endpoints = map[executor]func(generated.ResolverRoot, graph.Config) http.Handler{
	plans: graph.NewHandler,
	gqlgen: func(r generated.ResolverRoot, c graph.Config) http.Handler {
		own := generated.NewExecutableSchema(generated.Config{Schema: document.StandardSchema(schema), Resolvers: r})
		return graph.HandlerOf(oracle{own}, c)
	},
}

// oracle executes operations as gqlgen's generated code does. The program does not: here alone is what plans have to
// answer.
type oracle struct{ graphql.ExecutableSchema }

// Exec implements graphql.ExecutableSchema.
func (o oracle) Exec(ctx context.Context) graphql.ResponseHandler {
	graphql.GetOperationContext(ctx).ResolverMiddleware = observed
	return o.ExecutableSchema.Exec(ctx)
}

// observed is the middleware of fields. It has the server's observer told of them, which plans do themselves.
func observed(ctx context.Context, next graphql.Resolver) (any, error) {
	fc := graphql.GetFieldContext(ctx)
	switch {
	case fc.Object == "Subscription":
		return next(ctx) // the start of a subscription has no answer
	case strings.HasPrefix(fc.Object, "__"):
		result, err := next(ctx) // which was counted before
		return standardIntrospection(ctx, fc, result), err
	}
	o := gqlhttp.Observe(ctx)
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

// fieldKinds has the fields of __Type that only types of some kinds have; for the others they are null.
var fieldKinds = map[string][]string{
	"fields":        {"OBJECT", "INTERFACE"},
	"interfaces":    {"OBJECT", "INTERFACE"},
	"possibleTypes": {"INTERFACE", "UNION"},
	"enumValues":    {"ENUM"},
	"inputFields":   {"INPUT_OBJECT"},
	"isOneOf":       {"INPUT_OBJECT"},
}

// standardIntrospection returns what a field of introspection has by the specification, given what gqlgen resolved it to:
// an empty list or false if the specification has null, deprecated inputs and arguments without includeDeprecated, and
// no default reason of @deprecated.
func standardIntrospection(ctx context.Context, fc *graphql.FieldContext, result any) any {
	name, parent := fc.Field.Name, fc.Parent.Result
	if t, ok := parent.(*introspection.Type); ok && t != nil {
		if kinds, limited := fieldKinds[name]; limited && !slices.Contains(kinds, t.Kind()) {
			return nil
		}
	}
	if inputs, ok := result.([]introspection.InputValue); ok {
		args := fc.Field.ArgumentMap(graphql.GetOperationContext(ctx).Variables)
		if includeDeprecated, _ := args["includeDeprecated"].(bool); !includeDeprecated {
			isOld := func(v introspection.InputValue) bool { return v.IsDeprecated() }
			return slices.DeleteFunc(slices.Clone(inputs), isOld)
		}
	}
	if d, ok := parent.(interface{ IsDeprecated() bool }); ok && name == "deprecationReason" && d.IsDeprecated() {
		if reason, _ := result.(*string); reason == nil {
			return new("No longer supported")
		}
	}
	return result
}
