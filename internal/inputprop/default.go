package inputprop

import (
	"encoding/json"
	"reflect"
	"strings"
)

// First is the default that takes the first of the input's values, whatever it is.
const First = "$values:first"

// Default is what an input starts with. It is a literal, or where the variant allows it one of two
// instructions.
type Default[T any] struct {
	// Literal is the value, unless First or Reference is set.
	Literal T
	// First says to take the first of the input's values.
	First bool
	// Reference, when not empty, is the template of a value that the selected instance gives. It stands
	// for any type, but only within mapped_inputs.
	Reference string
}

// MarshalJSON writes the default as it is in a property.
func (v Default[T]) MarshalJSON() ([]byte, error) {
	switch {
	case v.First:
		return marshal(First)
	case v.Reference != "":
		return marshal(v.Reference)
	default:
		return marshal(v.Literal)
	}
}

func (v *Default[T]) json() json.RawMessage {
	if v == nil {
		return nil
	}
	return mustMarshal(v)
}

func (v *Default[T]) decodeNode(d *decoder, n *Node, r *rules) {
	switch {
	case r.first && n.Kind == String && n.Text == First:
		v.First = true
	case d.fallback && n.Kind == String && isReference(n.Text):
		d.length(n.Text, maxValue)
		v.Reference = n.Text
	default:
		if d.fallback {
			own := *r
			own.also += " or one reference such as ${{ ref.input.name }}"
			r = &own
		}
		d.value(n, reflect.ValueOf(&v.Literal).Elem(), r)
	}
}

// isReference says whether the text is one template whose path starts at ref, and nothing besides.
func isReference(text string) bool {
	path, opened := strings.CutPrefix(text, "${{")
	path, closed := strings.CutSuffix(path, "}}")
	return opened && closed && !strings.ContainsAny(path, "{}") && strings.HasPrefix(strings.TrimSpace(path), "ref.")
}
