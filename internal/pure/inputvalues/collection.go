package inputvalues

import (
	"slices"
	"strconv"
	"strings"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
)

// collection resolves each item within its own level, and puts the value together again.
func (r *resolver) collection(fl *field) {
	nested := fl.in.Nested
	if r.outlining || !nested.IsCollection() || fl.value.Kind != nested.Collection {
		return
	}
	r.entries(fl, nested.Key)
	rekey(fl.entries, nested.Key)
	fl.value = rebuilt(nested.Collection, fl.entries)
}

// entries resolves the items of a collection; c says how the keys of a map come about.
func (r *resolver) entries(fl *field, c *inputprop.MapKeyConfig) {
	fl.entries = make([]entry, len(fl.value.Items))
	previous := r.pairing(fl, c)
	for i, item := range fl.value.Items {
		e := &fl.entries[i]
		e.node = item
		if fl.value.Kind == strictjson.Object {
			e.key, e.given = fl.value.Keys[i], fl.value.Keys[i]
			r.Path.PushKey(e.given)
		} else {
			e.given = strconv.Itoa(i)
			r.Path.PushIndex(i)
		}
		if item.Kind == strictjson.Object && r.err == nil && r.size <= maxEffective {
			r.entry(fl, e, c, previous(i))
		}
		r.Path.Pop()
	}
}

// entry resolves an item against the one before, and once more if the key that comes of it is another item's.
func (r *resolver) entry(fl *field, e *entry, c *inputprop.MapKeyConfig, before *strictjson.Node) {
	found, size, item := r.Save(), r.size, e.node
	r.item(fl, e, c, item, before)
	if len(c.Sources()) == 0 || r.err != nil {
		return
	}
	if named := memberOf(fl.before, e.computed); named != before {
		r.Restore(found)
		r.size = size
		r.item(fl, e, c, item, named)
	}
}

// item resolves an item once, and computes its key.
func (r *resolver) item(fl *field, e *entry, c *inputprop.MapKeyConfig, item, before *strictjson.Node) {
	e.level = r.level(fl.in.Items(), item, before)
	e.node = e.level.values()
	if from := c.Sources(); len(from) > 0 {
		parts, size := e.level.keyParts(from)
		if r.afford(size + len(parts)*len(c.SeparatorOrDefault())) {
			e.computed = strings.Join(parts, c.SeparatorOrDefault())
		}
	}
}

// rekey assigns the entries their computed keys, unless one is empty or there twice: an object cannot
// have such keys, and Validate names them.
func rekey(entries []entry, c *inputprop.MapKeyConfig) {
	if len(c.Sources()) == 0 {
		return
	}
	computed := make(map[string]bool, len(entries))
	for _, e := range entries {
		if e.level != nil {
			computed[e.computed] = true
		}
	}
	if computed[""] || len(computed) < len(entries) {
		return
	}
	for i := range entries {
		entries[i].key = entries[i].computed
	}
}

// rebuilt returns the collection of the entries.
func rebuilt(kind strictjson.Kind, entries []entry) *strictjson.Node {
	n := &strictjson.Node{Kind: kind, Items: make([]*strictjson.Node, len(entries))}
	for i, e := range entries {
		n.Items[i] = e.node
		if kind == strictjson.Object {
			n.Keys = append(n.Keys, e.key)
		}
	}
	return n
}

// pairing returns which previous item each item of a collection is compared with, nil for one that is new. c says how
// the keys of a map come about.
func (r *resolver) pairing(fl *field, c *inputprop.MapKeyConfig) func(i int) *strictjson.Node {
	before := fl.before
	switch {
	case before == nil || before.Kind != fl.value.Kind:
		return func(int) *strictjson.Node { return nil }
	case before.Kind == strictjson.Object:
		return func(i int) *strictjson.Node { return memberOf(before, keyOf(fl.value, i, c)) }
	default:
		return r.listPairing(fl.in.Items(), fl.value.Items, before.Items)
	}
}

// keyOf returns the key by which an item of a map is known: the one that its values make, or the one that it came
// with, where keys are given or the item leaves out a part of its key.
func keyOf(n *strictjson.Node, i int, c *inputprop.MapKeyConfig) string {
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

// listPairing matches the items of a list by an immutable input whose values, defaults among them, tell them apart,
// else by position.
func (r *resolver) listPairing(p *inputprop.Level, items, before []*strictjson.Node) func(i int) *strictjson.Node {
	var completed []*strictjson.Node
	for _, in := range p.Inputs {
		if !in.Traits.Immutable {
			continue
		}
		known, unique := byValue(before, in.ID)
		if !unique {
			continue
		}

		told := items
		if !areEntered(items, in) {
			if completed == nil {
				completed = r.outlines(p, items)
			}
			told = completed
		}

		if _, unique := byValue(told, in.ID); unique {
			return func(i int) *strictjson.Node { return known[strictjson.Key(told[i].Get(in.ID))] }
		}
	}

	return func(i int) *strictjson.Node {
		if i < len(before) {
			return before[i]
		}
		return nil
	}
}

// areEntered reports whether all items have a value of an input as it was entered.
func areEntered(items []*strictjson.Node, in *inputprop.LevelInput) bool {
	return in.Owner == nil && len(in.Conditions) == 0 &&
		!slices.ContainsFunc(items, func(item *strictjson.Node) bool { return memberOf(item, in.ID) == nil })
}

// outlines returns the items of a list with the defaults of their own inputs. What is inside of their collections does
// not tell them apart, and is left as it was given: to complete it for this would take twice as long at each level.
func (r *resolver) outlines(p *inputprop.Level, items []*strictjson.Node) []*strictjson.Node {
	completed := slices.Clone(items)
	r.aside(func() {
		defer func(outside bool) { r.outlining = outside }(r.outlining)
		r.outlining = true
		for i, item := range items {
			if item.Kind == strictjson.Object && r.err == nil {
				r.Path.PushIndex(i)
				completed[i] = r.level(p, item, nil).values()
				r.Path.Pop()
			}
		}
	})
	return completed
}

// byValue indexes items by their values of an input, and reports whether each has one of its own: a text, a number
// or a boolean.
func byValue(items []*strictjson.Node, id string) (map[string]*strictjson.Node, bool) {
	index := make(map[string]*strictjson.Node, len(items))
	for _, item := range items {
		value := memberOf(item, id)
		if value == nil ||
			!slices.Contains([]strictjson.Kind{strictjson.String, strictjson.Number, strictjson.Bool}, value.Kind) ||
			index[strictjson.Key(value)] != nil {
			return nil, false
		}
		index[strictjson.Key(value)] = item
	}
	return index, true
}
