package inputprop

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"slipway/internal/strictjson"

	"slipway/internal/fault"
)

// jsonMember is the member of a one-of input that holds the property's JSON as it is.
const jsonMember = "json"

// FromTyped turns the one-of input of GraphQL into a draft: exactly one member, named after a variant
// with its fields in camelCase, or json. In a variant null is absent, and the fields may be as they are
// read. The violations are those of the typed form; their pointers are of
// the property's JSON, and start with at.
func FromTyped(v map[string]any, at string) (RawProperty, []fault.Violation) {
	t := newTyped(at)
	n := t.oneOf(v)
	_, isJSON := v[jsonMember]
	return RawProperty{node: n, typed: !isJSON}, t.Violations()
}

// FromTypedList is FromTyped for a list of inputs; the list is for DecodeList.
func FromTypedList(list []map[string]any, at string) (*strictjson.Node, []fault.Violation) {
	t := newTyped(at)
	n := t.list(list, t.oneOf)
	return n, t.Violations()
}

type typed struct {
	*strictjson.Collector
	levels int
}

func newTyped(at string) *typed { return &typed{strictjson.NewCollector(at), strictjson.MaxLevels + 1} }

func (t *typed) oneOf(v any) *strictjson.Node {
	members, ok := deref(v).(map[string]any)
	if !ok {
		return t.json(v)
	}
	if len(members) != 1 {
		t.Fail("one_of", "must have exactly one of %s, found %s", strings.Join(memberNames(), ", "), listed(members))
		return nil
	}
	for member, value := range members {
		if absent(value) {
			t.Fail("one_of", "must not be null in its one member, found null for %s", strictjson.Quote(member))
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
		t.Fail("one_of", "must have exactly one of %s, found %s", strings.Join(memberNames(), ", "), listed(members))
	}
	return nil
}

// variant renames the members and puts the type among them.
func (t *typed) variant(variant variant, v any) *strictjson.Node {
	members, ok := deref(v).(map[string]any)
	if !ok || !t.enter() {
		return t.json(v)
	}
	defer t.leave()
	discriminator := variant.name
	if variant.name == refPrefix {
		if moduleType := t.json(members["moduleType"]); moduleType != nil {
			discriminator += moduleType.Text
		}
	}
	t.sameType(members["type"], discriminator)
	n := t.members(members, func(key string, v any) *strictjson.Node {
		switch {
		case key == "type", key == "module_type" && variant.name == refPrefix:
			return nil // the discriminator says it
		case key == "item_inputs", key == "mapped_inputs":
			return t.list(v, t.oneOf)
		case key == "item_title", key == "key":
			return t.record(v)
		case key == "values":
			return t.values(v, variant.member == "compound")
		default:
			return t.plain(key, v)
		}
	})
	n.Keys, n.Items = append(n.Keys, "type"), append(n.Items, &strictjson.Node{Kind: strictjson.String, Text: discriminator})
	return n
}

// sameType refuses the type of what was read of another variant.
func (t *typed) sameType(given any, want string) {
	if absent(given) {
		return
	}
	if n := t.json(given); n != nil && (n.Kind != strictjson.String || n.Text != want) {
		t.FailMember("type", "other_type", "must be %s here, or be left out, found %s", strictjson.Quote(want), strictjson.Show(n))
	}
}

// members gives the members of a typed object by their names in JSON, each as read makes it, without those that
// are null.
func (t *typed) members(members map[string]any, read func(key string, v any) *strictjson.Node) *strictjson.Node {
	n := &strictjson.Node{Kind: strictjson.Object}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if absent(members[name]) {
			continue
		}
		key := snake(name)
		t.Path.PushKey(key)
		if item := read(key, members[name]); item != nil {
			n.Keys, n.Items = append(n.Keys, key), append(n.Items, item)
		}
		t.Path.Pop()
	}
	return n
}

// plain reads a member whose inside, but for patterns, is the caller's JSON.
func (t *typed) plain(key string, v any) *strictjson.Node {
	switch key {
	case "patterns":
		return t.list(v, t.record)
	case "fields", "from_fields":
		return t.list(v, t.json)
	default:
		return t.json(v)
	}
}

// record reads a typed object that is no input.
func (t *typed) record(v any) *strictjson.Node {
	members, ok := deref(v).(map[string]any)
	if !ok || !t.enter() {
		return t.json(v)
	}
	defer t.leave()
	return t.members(members, t.plain)
}

// list reads a list, for which GraphQL lets its one item stand.
func (t *typed) list(v any, item func(v any) *strictjson.Node) *strictjson.Node {
	v = deref(v)
	r := reflect.ValueOf(v)
	if r.Kind() != reflect.Slice {
		r = reflect.ValueOf([]any{v})
	} else if r.IsNil() && r.Type() != anyList {
		return t.json(v)
	}
	if !t.enter() {
		return t.json(v)
	}
	defer t.leave()
	n := &strictjson.Node{Kind: strictjson.Array}
	for i := range r.Len() {
		t.Path.PushIndex(i)
		n.Items = append(n.Items, item(r.Index(i).Interface()))
		t.Path.Pop()
	}
	return n
}

// json takes a value as it is.
func (t *typed) json(v any) *strictjson.Node {
	n, err := strictjson.FromValueWithin(v, t.levels)
	var syntax *strictjson.SyntaxError
	if errors.As(err, &syntax) {
		t.FailBelow(syntax.Pointer, "json", "%s", syntax.Message)
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

// anyList is the type that a GraphQL library gives literals; [] is nil in it, which is not null.
var anyList = reflect.TypeFor[[]any]()

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
	return strictjson.Short(strings.Join(slices.Sorted(maps.Keys(members)), " and "))
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
