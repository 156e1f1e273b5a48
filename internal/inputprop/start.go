package inputprop

import (
	"fmt"

	"slipway/internal/strictjson"
)

// InitialValue is the value that an input has where none is given: a literal, which may hold templates, or
// the first of its values. The zero value is nothing.
type InitialValue struct {
	// Node is the literal, nil where there is none.
	Node *strictjson.Node
	// First says that the value is the first of those to choose from.
	First bool
	// Verbatim literals have no templates, whatever their texts look like.
	Verbatim bool
}

func (v *Default[T]) initial() InitialValue {
	switch {
	case v == nil:
		return InitialValue{}
	case v.First:
		return InitialValue{First: true}
	case v.Reference != "":
		return InitialValue{Node: nodeOf(v.Reference)}
	}
	_, isRecord := any(v.Literal).(Record)
	return InitialValue{Node: nodeOf(v.Literal), Verbatim: isRecord}
}

// nodeOf is the tree of a value that this package decoded, which always has one.
func nodeOf(v any) *strictjson.Node {
	switch v := v.(type) {
	case string:
		return &strictjson.Node{Kind: strictjson.String, Text: v}
	case *strictjson.Node:
		return v
	case []*strictjson.Node:
		return &strictjson.Node{Kind: strictjson.Array, Items: v}
	case Record:
		return converted(map[string]any(v))
	case map[string]string:
		members := make(map[string]any, len(v))
		for key, text := range v {
			members[key] = text
		}
		return converted(members)
	default:
		return converted(v)
	}
}

func converted(v any) *strictjson.Node {
	n, err := strictjson.FromValue(v)
	if err != nil {
		panic(fmt.Sprintf("inputprop: %v", err))
	}
	return n
}
