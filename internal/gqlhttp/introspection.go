package gqlhttp

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/introspection"
)

// fieldKinds are the fields of a type that only types of some kinds have; the others have null.
var fieldKinds = map[string][]string{
	"fields":        {"OBJECT", "INTERFACE"},
	"interfaces":    {"OBJECT", "INTERFACE"},
	"possibleTypes": {"INTERFACE", "UNION"},
	"enumValues":    {"ENUM"},
	"inputFields":   {"INPUT_OBJECT"},
	"isOneOf":       {"INPUT_OBJECT"},
}

// standardIntrospection returns what a field of introspection has by the specification, for what the library resolved it to. The library has an empty list, or false,
// where there is null, tells deprecated inputs and arguments to those who did not ask for them, and knows no
// reason that was not written.
func standardIntrospection(ctx context.Context, fc *graphql.FieldContext, result any) any {
	var of any
	if fc.Parent != nil {
		of = fc.Parent.Result
	}
	if t, ok := of.(*introspection.Type); ok && t != nil && fieldKinds[fc.Field.Name] != nil && !slices.Contains(fieldKinds[fc.Field.Name], t.Kind()) {
		return nil
	}
	if inputs, ok := result.([]introspection.InputValue); ok {
		if all, _ := fc.Field.ArgumentMap(graphql.GetOperationContext(ctx).Variables)["includeDeprecated"].(bool); !all {
			return slices.DeleteFunc(slices.Clone(inputs), func(v introspection.InputValue) bool { return v.IsDeprecated() })
		}
	}
	if d, ok := of.(interface{ IsDeprecated() bool }); ok && fc.Field.Name == "deprecationReason" && d.IsDeprecated() {
		if reason, _ := result.(*string); reason == nil {
			return new("No longer supported")
		}
	}
	return result
}
