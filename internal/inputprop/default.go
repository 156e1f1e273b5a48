package inputprop

import (
	"encoding/json"
	"strconv"
	"strings"

	"slipway/internal/strictjson"
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

// isReference says whether the text is one template whose path starts at ref, and nothing besides.
func isReference(text string) bool {
	path, opened := strings.CutPrefix(text, "${{")
	path, closed := strings.CutSuffix(path, "}}")
	return opened && closed && !strings.ContainsAny(path, "{}") && strings.HasPrefix(strings.TrimSpace(path), "ref.")
}
