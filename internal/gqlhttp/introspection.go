package gqlhttp

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/introspection"
)

// fieldKinds has the fields of __Type that only types of some kinds have; for the others they are null.
var fieldKinds = map[string][]string{
	"fields":        {"OBJECT", "INTERFACE"},
	"interfaces":    {"OBJECT", "INTERFACE"},
	"possibleTypes": {"INTERFACE", "UNION"},
	"enumValues":    {"ENUM"},
	"inputFields":   {"INPUT_OBJECT"},
	"isOneOf":       {"INPUT_OBJECT"},
}

// standardIntrospection returns what a field of introspection has by the specification, given what the library resolved
// it to. The library has an empty list or false where the specification has null, lists deprecated inputs and arguments
// without includeDeprecated, and leaves out the default reason of @deprecated.
func standardIntrospection(ctx context.Context, fc *graphql.FieldContext, result any) any {
	var parent any
	if fc.Parent != nil {
		parent = fc.Parent.Result
	}
	if t, ok := parent.(*introspection.Type); ok && t != nil {
		if kinds, limited := fieldKinds[fc.Field.Name]; limited && !slices.Contains(kinds, t.Kind()) {
			return nil
		}
	}
	if inputs, ok := result.([]introspection.InputValue); ok {
		if includeDeprecated, _ := fc.Field.ArgumentMap(graphql.GetOperationContext(ctx).Variables)["includeDeprecated"].(bool); !includeDeprecated {
			return slices.DeleteFunc(slices.Clone(inputs), func(v introspection.InputValue) bool { return v.IsDeprecated() })
		}
	}
	if d, ok := parent.(interface{ IsDeprecated() bool }); ok && fc.Field.Name == "deprecationReason" && d.IsDeprecated() {
		if reason, _ := result.(*string); reason == nil {
			return new("No longer supported")
		}
	}
	return result
}
