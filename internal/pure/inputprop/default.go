package inputprop

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"slipway/internal/base/strictjson"
)

// First is the default that takes the first of the input's values, whatever it is.
const First = "$values:first"

// Default is the value that an input has if none is given. It is a literal, or if the variant allows it, one of two
// instructions.
type Default[T any] struct {
	// Literal is the value, unless First or Reference is set.
	Literal T
	// First is set if the value is the first of the input's values.
	First bool
	// Reference, when not empty, is the template of a value that the selected instance gives. It stands
	// for any type, but only within mapped_inputs.
	Reference string
}

// AppendJSON appends the default as it is in a property.
func (v *Default[T]) AppendJSON(b []byte) []byte {
	switch {
	case v.First:
		return strictjson.Append(b, First)
	case v.Reference != "":
		return strictjson.Append(b, v.Reference)
	default:
		return strictjson.Append(b, v.Literal)
	}
}

func (v *Default[T]) json() json.RawMessage {
	if v == nil {
		return nil
	}
	return v.AppendJSON(nil)
}

// DecodeJSON implements strictjson.Decodable.
func (v *Default[T]) DecodeJSON(d *strictjson.Decoder, n *strictjson.Node, r *strictjson.Rules) {
	_, first := r.Arg(ruleFirst)
	mapped := nestingOf(d).mapped
	if first {
		r = r.Or(strconv.Quote(First))
	}
	switch {
	case first && n.Kind == strictjson.String && n.Text == First:
		v.First = true
	case mapped && n.Kind == strictjson.String && isReference(n.Text):
		d.Length(n.Text, MaxText)
		v.Reference = n.Text
	default:
		if mapped {
			r = r.Or("one reference such as ${{ ref.input.name }}")
		}
		d.Into(n, &v.Literal, r)
	}
}

// isReference reports whether the text is one template whose path starts at ref, and nothing besides.
func isReference(text string) bool {
	path, opened := strings.CutPrefix(text, "${{")
	path, closed := strings.CutSuffix(path, "}}")
	return opened && closed && !strings.ContainsAny(path, "{}") && strings.HasPrefix(strings.TrimSpace(path), "ref.")
}

// InitialValue is the value that an input has if none is given: a literal, which may hold templates, or
// the first of its values. The zero value is nothing.
type InitialValue struct {
	// Node is the literal, nil if there is none.
	Node *strictjson.Node
	// First is set if the value is the first of those to choose from.
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

// nodeOf returns the tree of a value that this package decoded, which always has one.
func nodeOf(v any) *strictjson.Node {
	switch v := v.(type) {
	case string:
		return &strictjson.Node{Kind: strictjson.String, Text: v}
	case *strictjson.Node:
		return v
	case []*strictjson.Node:
		return &strictjson.Node{Kind: strictjson.Array, Items: v}
	case bool:
		return &strictjson.Node{Kind: strictjson.Bool, Bool: v}
	case int32:
		return &strictjson.Node{Kind: strictjson.Number, Text: strconv.Itoa(int(v))}
	case []string:
		list := &strictjson.Node{Kind: strictjson.Array}
		for _, text := range v {
			list.Items = append(list.Items, nodeOf(text))
		}
		return list
	case Record:
		return v.Node()
	case strictjson.Ordered[string]:
		return nodeOfMembers(v.Keys, v.Values)
	default:
		panic(fmt.Sprintf("inputprop: a value of the Go type %T", v))
	}
}

// nodeOfMembers returns the tree of an object, its members in their order.
func nodeOfMembers[T any](keys []string, values []T) *strictjson.Node {
	n := &strictjson.Node{Kind: strictjson.Object, Keys: keys}
	for _, value := range values {
		n.Items = append(n.Items, nodeOf(value))
	}
	return n
}
