package inputprop

import (
	"strconv"
	"strings"
)

// collection resolves each item within its own level, and puts the value together again.
func (r *resolver) collection(fl *field) {
	switch p := fl.in.Property.(type) {
	case *ObjectMapProperty:
		if fl.value.Kind == Object {
			r.entries(fl, fl.value.Keys)
			r.rekey(fl.entries, p.Key)
			fl.value = rebuilt(Object, fl.entries)
		}
	case *ObjectArrayProperty:
		if fl.value.Kind == Array {
			r.entries(fl, nil)
			fl.value = rebuilt(Array, fl.entries)
		}
	}
}

func (r *resolver) entries(fl *field, keys []string) {
	fl.entries = make([]entry, len(fl.value.Items))
	for i, item := range fl.value.Items {
		e := &fl.entries[i]
		e.node = item
		if keys != nil {
			e.key, e.given = keys[i], keys[i]
			r.at.member(keys[i])
		} else {
			e.given = strconv.Itoa(i)
			r.at.item(i)
		}
		if item.Kind == Object && r.err == nil && r.size <= maxEffective {
			e.form = r.level(fl.in.level(), item)
			e.node = e.form.values()
		}
		r.at.up()
	}
}

// rekey gives the entries their computed keys, unless one is empty or there twice: an object cannot
// have such keys, and Validate names them.
func (r *resolver) rekey(entries []entry, c *MapKeyConfig) {
	from := c.sources()
	if len(from) == 0 {
		return
	}
	taken := make(map[string]bool, len(entries))
	for i := range entries {
		e := &entries[i]
		if e.form == nil {
			continue
		}
		parts, size := e.form.keyParts(from)
		if !r.afford(size + len(parts)*len(c.SeparatorOrDefault())) {
			return
		}
		e.computed = strings.Join(parts, c.SeparatorOrDefault())
		taken[e.computed] = true
	}
	if taken[""] || len(taken) < len(entries) {
		return
	}
	for i := range entries {
		entries[i].key = entries[i].computed
	}
}

func rebuilt(kind Kind, entries []entry) *Node {
	n := &Node{Kind: kind, Items: make([]*Node, len(entries))}
	for i, e := range entries {
		n.Items[i] = e.node
		if kind == Object {
			n.Keys = append(n.Keys, e.key)
		}
	}
	return n
}
