package inputprop

import (
	"slipway/internal/strictjson"

	"slipway/internal/fault"
)

// RawProperty is a property as a surface received it, yet to be decoded.
type RawProperty struct {
	node *strictjson.Node
	// typed drafts have the form of GraphQL, in which a default and its absence are the same.
	typed bool
}

// NewRawProperty returns a raw property in the form of the property's JSON; nil is a property that was not given.
func NewRawProperty(n *strictjson.Node) RawProperty { return RawProperty{node: n} }

// Decode reads the property and gives every violation; there is a property only when there are none.
// The pointers start with at.
func (r RawProperty) Decode(at string) (Property, []fault.Violation) {
	var p Property
	if violations := strictjson.Decode(r.node, &p, at); len(violations) > 0 {
		return nil, violations
	}
	return p, nil
}

// Changes reports whether the property, which the draft was decoded to, is another than that of a column. What
// the form of the draft cannot tell apart is no change.
func (r RawProperty) Changes(p Property, stored Column) bool {
	column := NewColumn(p)
	return !column.Equal(stored) && !(r.typed && column.means(stored))
}

// DecodeJSON implements strictjson.Decodable: a body may hold any value for a property, which Decode looks at.
func (r *RawProperty) DecodeJSON(_ *strictjson.Decoder, n *strictjson.Node, _ *strictjson.Rules) {
	r.node = n
}

// DecodeList reads a list of properties as Decode reads one. The bounds hold for the list as a whole,
// but each property has its levels.
func DecodeList(n *strictjson.Node, at string) ([]Property, []fault.Violation) {
	var list []Property
	if violations := strictjson.Decode(n, &list, at); len(violations) > 0 {
		return nil, violations
	}
	return list, nil
}
