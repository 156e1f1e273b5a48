package inputprop

import (
	"maps"
	"slices"

	"slipway/internal/strictjson"
)

// valuesOf is where the property's choice comes from, nil where it has none.
func valuesOf(p Property) Values {
	if choice, ok := p.(interface{ ValueSource() Values }); ok {
		return choice.ValueSource()
	}
	return nil
}

// dynamic is the property's reference to values that the server knows, nil where it has none.
func dynamic(p Property) *DynamicValuesRef {
	ref, _ := valuesOf(p).(*DynamicValuesRef)
	return ref
}

// paramNames are the names of the parameters, sorted.
func (v *DynamicValuesRef) paramNames() []string { return slices.Sorted(maps.Keys(v.Params)) }

// choice is the value that an input has once an option is chosen: for compound inputs, the fields of
// the option that they expose.
func choice(p Property, o Option) *strictjson.Node {
	record, ok := o.Value.(Record)
	compound, isCompound := p.(*CompoundProperty)
	if !ok || !isCompound {
		return nodeOf(o.Value)
	}
	return projection(record, compound.Fields)
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
		list[i] = choice(p, o)
	}
	return list
}
