package inputprop

import (
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
)

// RawProperty is a property as a surface received it, yet to be decoded.
type RawProperty struct {
	node *strictjson.Node
	// typed properties have the form of GraphQL: an object with one member.
	typed bool
}

// NewRawProperty returns a raw property in the form of the property's JSON; nil is a property that was not given.
func NewRawProperty(n *strictjson.Node) RawProperty { return RawProperty{node: n} }

// NewTypedProperty returns a raw property in the typed form: an object with exactly one member, named after a variant
// with its fields in camelCase, or json with the property's JSON. In a variant null is absent, and the fields may be as
// they are read.
func NewTypedProperty(n *strictjson.Node) RawProperty { return RawProperty{node: n, typed: true} }

// Decode reads the property and gives every violation; there is a property only when there are none.
// The pointers are of the property's JSON, and start with at.
func (r RawProperty) Decode(at string) (Property, []fault.Violation) {
	n, violations := r.tree(at)
	if len(violations) > 0 {
		return nil, violations
	}
	var p Property
	if violations := strictjson.Decode(n, &p, at); len(violations) > 0 {
		return nil, violations
	}
	return p, nil
}

// tree returns the JSON of the property, in which the typed form is gone, or what is wrong with that form.
func (r RawProperty) tree(at string) (*strictjson.Node, []fault.Violation) {
	if !r.typed {
		return r.node, nil
	}
	t := newTyped(at)
	return t.oneOf(r.node), t.Violations()
}

// Changes reports whether the column, which the property was decoded and encoded to, is another than the stored one.
// What the form of the property cannot tell apart is no change: in a typed variant, a default and its absence.
func (r RawProperty) Changes(column, stored Column) bool {
	// A property is written back as the same JSON, so that the column need not be parsed.
	if given, _ := r.tree(""); stored.isOf(given) {
		return false
	}
	isVariant := r.typed && r.node.Get(jsonMember) == nil
	return !(isVariant && column.means(stored))
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
