package manifest

import (
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
)

// WithoutMapped returns the values of a release without those that the chosen instances give, at any depth: they are
// read anew when the rest is deployed again.
func WithoutMapped(inputs []inputprop.Property, values *strictjson.Node) *strictjson.Node {
	return unmapped(inputprop.NewLevel(inputs), values)
}

func unmapped(level *inputprop.Level, values *strictjson.Node) *strictjson.Node {
	if values == nil || values.Kind != strictjson.Object {
		return values
	}

	kept := &strictjson.Node{Kind: strictjson.Object}
	for i, id := range values.Keys {
		value, in := values.Items[i], level.ByID[id]

		switch {
		case in == nil:
		case isMapped(in, values):
			continue
		case in.Nested.IsCollection() && value.Kind == in.Nested.Collection:
			items := &strictjson.Node{Kind: value.Kind, Keys: value.Keys}
			for _, item := range value.Items {
				items.Items = append(items.Items, unmapped(in.Items(), item))
			}
			value = items
		}

		kept.Append(id, value)
	}

	return kept
}
