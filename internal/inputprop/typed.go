package inputprop

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"slipway/internal/fault"
)

// jsonMember is the member of a one-of input that holds the property's JSON as it is.
const jsonMember = "json"

// FromTyped turns the one-of input of GraphQL into a draft: exactly one member, named after a variant
// with its fields in camelCase, or json. The violations are those of the one-of inputs, this one's and
// those inside it; their pointers are of the property's JSON, and start with at.
func FromTyped(v map[string]any, at string) (Draft, []fault.Violation) {
	t := newTyped(at)
	n := t.oneOf(v)
	return Draft{n}, t.violations()
}

// FromTypedList is FromTyped for a list of inputs; the list is for DecodeList.
func FromTypedList(list []map[string]any, at string) (*Node, []fault.Violation) {
	t := newTyped(at)
	n := t.list(list)
	return n, t.violations()
}

type typed struct {
	report
	levels int
}

func newTyped(at string) *typed { return &typed{report{root: at}, MaxLevels + 1} }

func (t *typed) oneOf(v any) *Node {
	members, ok := deref(v).(map[string]any)
	if !ok {
		return t.json(v)
	}
	if len(members) != 1 {
		t.fail("one_of", "must have exactly one of %s, found %s", strings.Join(memberNames(), ", "), listed(members))
		return nil
	}
	for member, value := range members {
		if absent(value) {
			t.fail("one_of", "must not be null in its one member, found null for %s", quote(member))
			return nil
		}
		if member == jsonMember {
			return t.json(value)
		}
		for _, variant := range variants {
			if variant.member == member {
				return t.variant(variant, value)
			}
		}
		t.fail("one_of", "must have exactly one of %s, found %s", strings.Join(memberNames(), ", "), listed(members))
	}
	return nil
}

// variant renames the members and puts the type among them.
func (t *typed) variant(variant variant, v any) *Node {
	members, ok := deref(v).(map[string]any)
	if !ok || !t.enter() {
		return t.json(v)
	}
	defer t.leave()
	n := &Node{Kind: Object}
	discriminator := &Node{Kind: String, Text: variant.name}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if name == "moduleType" && variant.name == refPrefix {
			if moduleType := t.json(members[name]); moduleType != nil {
				discriminator.Text += moduleType.Text
			}
			continue
		}
		t.member(n, name, members[name])
	}
	n.Keys, n.Items = append(n.Keys, "type"), append(n.Items, discriminator)
	return n
}

// member adds a member under its name in JSON. Only the inputs and the key of a map have members of
// their own to rename; everything else inside is the caller's JSON.
func (t *typed) member(n *Node, name string, v any) {
	key := snake(name)
	t.at.member(key)
	defer t.at.up()
	var item *Node
	switch key {
	case "item_inputs", "mapped_inputs":
		item = t.list(v)
	case "key":
		item = t.renamed(v)
	default:
		item = t.json(v)
	}
	n.Keys, n.Items = append(n.Keys, key), append(n.Items, item)
}

func (t *typed) list(v any) *Node {
	r := reflect.ValueOf(deref(v))
	if r.Kind() != reflect.Slice || r.IsNil() || !t.enter() {
		return t.json(v)
	}
	defer t.leave()
	n := &Node{Kind: Array}
	for i := range r.Len() {
		t.at.item(i)
		n.Items = append(n.Items, t.oneOf(r.Index(i).Interface()))
		t.at.up()
	}
	return n
}

func (t *typed) renamed(v any) *Node {
	n := t.json(v)
	if n != nil && n.Kind == Object {
		for i, name := range n.Keys {
			n.Keys[i] = snake(name)
		}
	}
	return n
}

// json takes a value as it is.
func (t *typed) json(v any) *Node {
	c := converter{levels: t.levels}
	n, err := c.value(v)
	var syntax *SyntaxError
	if errors.As(err, &syntax) {
		t.failBelow(syntax.Pointer, "json", "%s", syntax.Message)
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

// deref follows pointers, which GraphQL libraries use for what may be null.
func deref(v any) any {
	r := reflect.ValueOf(v)
	for r.Kind() == reflect.Pointer && !r.IsNil() {
		r = r.Elem()
	}
	if !r.IsValid() {
		return nil
	}
	return r.Interface()
}

func absent(v any) bool {
	r := reflect.ValueOf(v)
	if !r.IsValid() {
		return true
	}
	nullable := r.Kind() == reflect.Pointer || r.Kind() == reflect.Map || r.Kind() == reflect.Slice && r.Type() != anyList
	return nullable && r.IsNil()
}

func memberNames() []string {
	names := make([]string, 0, len(variants)+1)
	for _, v := range variants {
		names = append(names, v.member)
	}
	return append(names, jsonMember)
}

func listed(members map[string]any) string {
	if len(members) == 0 {
		return "none"
	}
	return short(strings.Join(slices.Sorted(maps.Keys(members)), " and "))
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
