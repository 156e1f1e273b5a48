package inputprop

import (
	"slices"

	"slipway/internal/base/strictjson"
)

// typenameMember is what GraphQL gives with any object that is read.
const typenameMember = "__typename"

// values reads the options of an input, which have the form of the JSON or the one that they are read in:
// {options: [{value, label, description}]} or {source, params}.
func (t *typed) values(n *strictjson.Node, compound bool) *strictjson.Node {
	n = t.json(n)
	switch {
	case n == nil:
		return nil
	case n.Kind == strictjson.Array:
		return t.options(n, compound, false)
	case n.Kind != strictjson.Object:
		return n
	case n.GetText(typenameMember) == "StaticValues" || isGiven(n.Get("options")):
		return t.static(n, compound)
	default:
		return t.stripped(n, "DynamicValuesRef", "options", "params")
	}
}

func (t *typed) static(n *strictjson.Node, compound bool) *strictjson.Node {
	n = t.stripped(n, "StaticValues", "source", "params")
	for _, key := range n.Keys {
		if key != "options" {
			t.FailMember(key, "unknown_field", "is not a field beside options")
		}
	}
	options := n.Get("options")
	if options == nil || options.Kind != strictjson.Array {
		found := strictjson.Shown("none")
		if options != nil {
			found = strictjson.Show(options)
		}
		t.Fail("type", "must have an array of options, found %s", found)
		return nil
	}
	return t.options(options, compound, true)
}

// options reads options that stand in the property. Those that were read say their value apart, whether or not
// there is more to say; then the value alone is the short form of the same.
func (t *typed) options(list *strictjson.Node, compound, read bool) *strictjson.Node {
	n := &strictjson.Node{Kind: strictjson.Array, Items: make([]*strictjson.Node, len(list.Items))}
	for i, item := range list.Items {
		t.Path.PushIndex(i)
		if item.Kind == strictjson.Object {
			item = t.stripped(item, "InputOption", "label", "description")
		}
		value := item.Get("value")
		switch {
		case value == nil:
		case compound && item.Get("fields") == nil:
			item.Keys[slices.Index(item.Keys, "value")] = "fields"
		case read && len(item.Keys) == 1 && value.Kind != strictjson.Object && value.Kind != strictjson.Array:
			item = value
		}
		n.Items[i] = item
		t.Path.Pop()
	}
	return n
}

// stripped is a copy of an object that was read as a type: without the name of the type, and without those of
// the members that are null.
func (t *typed) stripped(n *strictjson.Node, typename string, nullable ...string) *strictjson.Node {
	copied := &strictjson.Node{Kind: strictjson.Object}
	for i, key := range n.Keys {
		item := n.Items[i]
		switch {
		case key == typenameMember:
			if item.Kind != strictjson.String || item.Text != typename {
				t.FailMember(key, "other_type",
					"must be %s here, or be left out, found %s", strictjson.Quote(typename), strictjson.Show(item))
			}
		case item.Kind == strictjson.Null && slices.Contains(nullable, key):
		default:
			copied.Keys, copied.Items = append(copied.Keys, key), append(copied.Items, item)
		}
	}
	return copied
}

// isGiven reports whether a member is there and is not null.
func isGiven(n *strictjson.Node) bool { return n != nil && n.Kind != strictjson.Null }
