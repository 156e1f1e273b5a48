package inputprop

import (
	"slices"
	"strings"
	"unicode"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
)

// jsonMember is the member of a one-of input that holds the property's JSON as it is.
const jsonMember = "json"

// FromTypedList reads properties in the typed form, see NewTypedProperty; the list is for DecodeList. The violations
// are those of the form.
func FromTypedList(list []*RawProperty, at string) (*strictjson.Node, []fault.Violation) {
	t := newTyped(at)
	items := make([]*strictjson.Node, len(list))
	for i, item := range list {
		items[i] = item.node
	}
	n := t.list(&strictjson.Node{Kind: strictjson.Array, Items: items}, t.oneOf)
	return n, t.Violations()
}

type typed struct {
	*strictjson.Collector
	levels int
}

func newTyped(at string) *typed { return &typed{strictjson.NewCollector(at), strictjson.MaxLevels + 1} }

func (t *typed) oneOf(n *strictjson.Node) *strictjson.Node {
	switch {
	case n.Kind != strictjson.Object:
		return t.json(n)
	case len(n.Keys) != 1:
		return t.notOne(n)
	case n.Items[0].Kind == strictjson.Null:
		t.Fail("one_of", "must not be null in its one member, found null for %s", strictjson.Quote(n.Keys[0]))
		return nil
	case n.Keys[0] == jsonMember:
		return t.json(n.Items[0])
	}
	for _, variant := range variants {
		if variant.member == n.Keys[0] {
			return t.variant(variant, n.Items[0])
		}
	}
	return t.notOne(n)
}

func (t *typed) notOne(n *strictjson.Node) *strictjson.Node {
	t.Fail("one_of", "must have exactly one of %s, found %s", strings.Join(memberNames(), ", "), listed(n.Keys))
	return nil
}

// variant renames the members and puts the type among them.
func (t *typed) variant(variant variant, n *strictjson.Node) *strictjson.Node {
	if n.Kind != strictjson.Object || !t.enter() {
		return t.json(n)
	}
	defer t.leave()

	discriminator := variant.name
	if variant.name == refPrefix {
		discriminator += n.GetText("moduleType")
	}
	t.sameType(n.Get("type"), discriminator)

	property := t.members(n, func(key string, n *strictjson.Node) *strictjson.Node {
		switch {
		case key == "type", key == "module_type" && variant.name == refPrefix:
			return nil // the discriminator says it
		case key == "item_inputs", key == "mapped_inputs":
			return t.list(n, t.oneOf)
		case key == "item_title", key == "key":
			return t.record(n)
		case key == "values":
			return t.values(n, variant.member == "compound")
		default:
			return t.plain(key, n)
		}
	})

	property.Append("type", &strictjson.Node{Kind: strictjson.String, Text: discriminator})
	return property
}

// sameType refuses the type of what was read of another variant.
func (t *typed) sameType(n *strictjson.Node, want string) {
	if isGiven(n) && (n.Kind != strictjson.String || n.Text != want) {
		t.FailMember("type", "other_type",
			"must be %s here, or be left out, found %s", strictjson.Quote(want), strictjson.Show(n))
	}
}

// members returns the members of a typed object by their names in JSON, each as read makes it, without those that
// are null.
func (t *typed) members(
	object *strictjson.Node, read func(key string, n *strictjson.Node) *strictjson.Node,
) *strictjson.Node {
	members := &strictjson.Node{Kind: strictjson.Object}
	for i, name := range object.Keys {
		if name == typenameMember || object.Items[i].Kind == strictjson.Null {
			continue
		}
		key := snake(name)
		t.Path.PushKey(key)
		if item := read(key, object.Items[i]); item != nil {
			members.Append(key, item)
		}
		t.Path.Pop()
	}
	return members
}

// plain reads a member whose inside, but for patterns, is the caller's JSON.
func (t *typed) plain(key string, n *strictjson.Node) *strictjson.Node {
	switch key {
	case "patterns":
		return t.list(n, t.record)
	case "fields", "from_fields":
		return t.list(n, t.json)
	default:
		return t.json(n)
	}
}

// record reads a typed object that is no input.
func (t *typed) record(n *strictjson.Node) *strictjson.Node {
	if n.Kind != strictjson.Object || !t.enter() {
		return t.json(n)
	}
	defer t.leave()
	return t.members(n, t.plain)
}

// list reads a list, for which GraphQL lets its one item stand.
func (t *typed) list(n *strictjson.Node, item func(n *strictjson.Node) *strictjson.Node) *strictjson.Node {
	items := n.Items
	if n.Kind != strictjson.Array {
		items = []*strictjson.Node{n}
	}
	if !t.enter() {
		return t.json(n)
	}
	defer t.leave()
	list := &strictjson.Node{Kind: strictjson.Array, Items: make([]*strictjson.Node, 0, len(items))}
	for i := range items {
		t.Path.PushIndex(i)
		list.Items = append(list.Items, item(items[i]))
		t.Path.Pop()
	}
	return list
}

// json takes a value as it is.
func (t *typed) json(n *strictjson.Node) *strictjson.Node {
	if n.Levels() > t.levels {
		t.Fail("json", "is nested too deep, at most %d levels are allowed", strictjson.MaxLevels)
		return nil
	}
	return n
}

func (t *typed) enter() bool {
	if t.levels == 0 {
		return false
	}
	t.levels--
	return true
}

func (t *typed) leave() { t.levels++ }

func memberNames() []string {
	names := make([]string, 0, len(variants)+1)
	for _, v := range variants {
		names = append(names, v.member)
	}
	return append(names, jsonMember)
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strictjson.Short(strings.Join(slices.Sorted(slices.Values(names)), " and "))
}

// snake turns camelCase into snake_case.
func snake(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
