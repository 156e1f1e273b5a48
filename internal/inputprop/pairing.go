package inputprop

import (
	"slices"
	"strings"

	"slipway/internal/strictjson"
)

// pairing returns which previous item each item of a collection is compared with, nil for one that is new. c says how
// the keys of a map come about.
func pairing(fl *field, c *MapKeyConfig) func(i int) *strictjson.Node {
	before := fl.before
	switch {
	case before == nil || before.Kind != fl.value.Kind:
		return func(int) *strictjson.Node { return nil }
	case before.Kind == strictjson.Object:
		return func(i int) *strictjson.Node { return memberOf(before, keyOf(fl.value, i, c)) }
	default:
		return listPairing(fl.in.Items(), fl.value.Items, before.Items)
	}
}

// knownAs returns the key by which an item of a map is known: the one that its values make, or the one that it came
// with, where keys are given or the item leaves out a part of its key.
func keyOf(n *strictjson.Node, i int, c *MapKeyConfig) string {
	var parts []string
	for _, id := range c.Sources() {
		part := plainText(memberOf(n.Items[i], id))
		if part == "" {
			return n.Keys[i]
		}
		parts = append(parts, part)
	}
	if parts == nil {
		return n.Keys[i]
	}
	return strings.Join(parts, c.SeparatorOrDefault())
}

// listPairing matches the items of a list by an immutable input whose values tell them apart, else by position.
func listPairing(p *SchemaLevel, items, before []*strictjson.Node) func(i int) *strictjson.Node {
	for _, in := range p.Inputs {
		if !in.Traits.Immutable {
			continue
		}
		known, unique := byValue(before, in.ID)
		if _, alsoUnique := byValue(items, in.ID); unique && alsoUnique {
			return func(i int) *strictjson.Node { return known[strictjson.Key(items[i].Get(in.ID))] }
		}
	}
	return func(i int) *strictjson.Node {
		if i < len(before) {
			return before[i]
		}
		return nil
	}
}

// byValue indexes items by their values of an input, and reports whether each has one of its own: a text, a number
// or a boolean.
func byValue(items []*strictjson.Node, id string) (map[string]*strictjson.Node, bool) {
	index := make(map[string]*strictjson.Node, len(items))
	for _, item := range items {
		value := memberOf(item, id)
		if value == nil || !slices.Contains([]strictjson.Kind{strictjson.String, strictjson.Number, strictjson.Bool}, value.Kind) || index[strictjson.Key(value)] != nil {
			return nil, false
		}
		index[strictjson.Key(value)] = item
	}
	return index, true
}

// isValue reports whether there is a value: null is none.
func isValue(n *strictjson.Node) bool { return n != nil && n.Kind != strictjson.Null }

// stays reports whether a field keeps its value before: an immutable one that nobody has entered. Where a chosen
// instance gives the value, that holds while the instance is the same.
func (r *resolver) keepsPrevious(f *level, fl *field) bool {
	if fl.entered != nil && !r.defaulted || !fl.in.Traits.Immutable || !isValue(fl.before) {
		return false
	}
	if fl.instance == "" {
		return true
	}
	chosenBefore := f.fields[fl.in.Owner.Index].before
	return isValue(chosenBefore) && chosenBefore.Text == fl.instance
}
