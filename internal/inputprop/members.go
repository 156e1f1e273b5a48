package inputprop

import (
	"reflect"
	"strings"
)

func (d *decoder) slice(n *Node, v reflect.Value, r *rules) {
	if r.nonempty && len(n.Items) == 0 {
		d.fail("min_items", "must have at least 1 item, found none")
	}
	if r.max > 0 && len(n.Items) > r.max {
		d.fail("max_items", "must have at most %d items, found %d", r.max, len(n.Items))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items)))
	for i, item := range n.Items {
		d.at.item(i)
		d.value(item, v.Index(i), r.items())
		d.at.up()
	}
}

func (d *decoder) mapping(n *Node, v reflect.Value, r *rules) {
	v.Set(reflect.MakeMapWithSize(v.Type(), len(n.Items)))
	for i, key := range n.Keys {
		item := reflect.New(v.Type().Elem()).Elem()
		d.at.member(key)
		d.value(n.Items[i], item, r.items())
		d.at.up()
		v.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), item)
	}
}

// object fills a struct. An open one ignores the members that it does not know.
func (d *decoder) object(n *Node, v reflect.Value, open bool) {
	l := layoutOf(v.Type())
	seen := make([]bool, len(l.members))
	for i, key := range n.Keys {
		index, ok := l.index[key]
		if !ok {
			if !open {
				d.failMember(key, "unknown_field", "is not a field here%s; allowed are %s", d.hint(key, l.names), strings.Join(l.names, ", "))
			}
			continue
		}
		seen[index] = true
		d.at.member(key)
		d.value(n.Items[i], v.FieldByIndex(l.members[index].path), l.members[index].rules)
		d.at.up()
	}
	for i, m := range l.members {
		if m.rules.required && !seen[i] {
			d.failMember(m.name, "required", "is required")
		}
	}
}

// raw keeps free-form JSON as it was written.
func (d *decoder) raw(n *Node, v reflect.Value, r *rules) {
	if r.shape != Null && !d.expect(n, r.shape, "", r) {
		return
	}
	if r.max > 0 {
		d.leaves(n, r.max)
	}
	v.SetBytes(n.JSON())
}

// leaves bounds every string within free-form JSON.
func (d *decoder) leaves(n *Node, limit int) {
	if n.Kind == String {
		d.length(n.Text, limit)
	}
	for i, item := range n.Items {
		if n.Kind == Object {
			d.at.member(n.Keys[i])
		} else {
			d.at.item(i)
		}
		d.leaves(item, limit)
		d.at.up()
	}
}
