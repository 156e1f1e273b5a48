package inputprop

import (
	"maps"
	"slices"

	"slipway/internal/strictjson"
)

// paramNames are the names of the parameters, sorted.
func (v *DynamicValuesRef) ParamNames() []string { return slices.Sorted(maps.Keys(v.Params)) }

// choice is the value that an input has once an option is chosen: for compound inputs, the fields of
// the option that they expose.
func ChosenValue(p Property, o Option) *strictjson.Node {
	fields := p.Traits().Fields
	record, ok := o.Value.(Record)
	if !ok || fields == nil {
		return nodeOf(o.Value)
	}
	return projection(record, fields)
}

func projection(record Record, fields []string) *strictjson.Node {
	n := &strictjson.Node{Kind: strictjson.Object}
	for _, name := range fields {
		if value, ok := record[name]; ok && n.Get(name) == nil {
			n.Keys, n.Items = append(n.Keys, name), append(n.Items, nodeOf(value))
		}
	}
	return n
}

func choicesOf(p Property, options []Option) []*strictjson.Node {
	list := make([]*strictjson.Node, len(options))
	for i, o := range options {
		list[i] = ChosenValue(p, o)
	}
	return list
}
