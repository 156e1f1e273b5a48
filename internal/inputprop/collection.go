package inputprop

import (
	"strconv"
	"strings"

	"slipway/internal/strictjson"
)

// collection resolves each item within its own level, and puts the value together again.
func (r *resolver) collection(fl *field) {
	nested := fl.in.Nested
	if !nested.IsCollection() || fl.value.Kind != nested.Collection {
		return
	}
	r.entries(fl, nested.Key)
	rekey(fl.entries, nested.Key)
	fl.value = rebuilt(nested.Collection, fl.entries)
}

func (r *resolver) entries(fl *field, c *MapKeyConfig) {
	fl.entries = make([]entry, len(fl.value.Items))
	previous := pairing(fl, c)
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

// entry resolves an item against the one before, and once more where the key that comes of it is another item's.
func (r *resolver) entry(fl *field, e *entry, c *MapKeyConfig, before *strictjson.Node) {
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

func (r *resolver) item(fl *field, e *entry, c *MapKeyConfig, item, before *strictjson.Node) {
	e.level = r.level(fl.in.Items(), item, before)
	e.node = e.level.values()
	if from := c.Sources(); len(from) > 0 {
		parts, size := e.level.keyParts(from)
		if r.afford(size + len(parts)*len(c.SeparatorOrDefault())) {
			e.computed = strings.Join(parts, c.SeparatorOrDefault())
		}
	}
}

// rekey gives the entries their computed keys, unless one is empty or there twice: an object cannot
// have such keys, and Validate names them.
func rekey(entries []entry, c *MapKeyConfig) {
	if len(c.Sources()) == 0 {
		return
	}
	taken := make(map[string]bool, len(entries))
	for _, e := range entries {
		if e.level != nil {
			taken[e.computed] = true
		}
	}
	if taken[""] || len(taken) < len(entries) {
		return
	}
	for i := range entries {
		entries[i].key = entries[i].computed
	}
}

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
