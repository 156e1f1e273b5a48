package inputprop

import (
	"slices"

	"slipway/internal/strictjson"
)

// form is a level of inputs with their values.
type level struct {
	inputs *SchemaLevel
	// fields stand at the places of the plan's inputs.
	fields []field
	// before are the previous values of the level, nil where there are none.
	before *strictjson.Node
	// stray are the members of the given values that are no input's.
	unknownKeys []string
}

// field is an input with its value.
type field struct {
	in      *LevelInput
	visible bool
	// instance is what is chosen for the reference that gives the field its value, "" where it is entered.
	instance string
	// before is the value that binds, nil where there is none.
	before *strictjson.Node
	// entered is what was given by hand; value is what counts, nil where there is none.
	entered, value *strictjson.Node
	// subject is the value for conditions.
	subject subject
	// open values have templates that name what is not known here.
	unresolved bool
	// refused references may not choose the instance that they name; notLive ones have nothing to be read from.
	refused, notLive bool
	// unknown values are those of an instance that cannot be looked into here.
	unknown bool
	// entries are the items of a collection, in order.
	entries []entry
}

// entry is an item of a collection. Its form is nil where the item is no object.
type entry struct {
	// key is the entry's place in a map; given is the one that it came with, computed what its values make.
	key, given, computed string
	level                *level
	node                 *strictjson.Node
}

// shows says whether an input is visible, when those that it depends on are decided. What is mapped is
// hidden with its reference.
func (l *level) isVisible(in *LevelInput) bool {
	if in.Owner != nil && !l.fields[in.Owner.Index].visible {
		return false
	}
	for _, c := range in.Conditions {
		if c.Source == nil {
			continue
		}
		source := &l.fields[c.Source.Index]
		if source.subject.Node != source.value {
			source.subject = subject{Node: source.value}
		}
		if !source.subject.satisfied(c.Expected) {
			return false
		}
	}
	return true
}

// instance is the id of what is chosen for a reference, "" when nothing is.
func (l *level) instance(reference *LevelInput) string {
	if reference == nil {
		return ""
	}
	if n := l.fields[reference.Index].value; n != nil && n.Kind == strictjson.String {
		return n.Text
	}
	return ""
}

// isOpen reports whether the value of one of the inputs has templates that name what is not known here.
func (l *level) isUnresolved(ids ...string) bool {
	return slices.ContainsFunc(ids, func(id string) bool {
		in := l.inputs.ByID[id]
		return in != nil && l.fields[in.Index].unresolved
	})
}

// values are the values that count, in the order of the form.
func (l *level) values() *strictjson.Node {
	n := &strictjson.Node{Kind: strictjson.Object}
	for i := range l.fields {
		if value := l.fields[i].value; value != nil {
			n.Keys, n.Items = append(n.Keys, l.inputs.Inputs[i].ID), append(n.Items, value)
		}
	}
	return n
}

// params are the parameters of the field's dynamic values; ok is false while one of them has no value.
func (l *level) params(ref *DynamicValuesRef) (params map[string]string, waits []string) {
	params = make(map[string]string, len(ref.Params))
	for _, name := range ref.ParamNames() {
		param := ref.Params[name]
		text := param.Text
		if param.Input != "" {
			if text = l.plainText(param.Input); text == "" || l.isUnresolved(param.Input) {
				waits = append(waits, param.Input)
				continue
			}
		}
		params[name] = text
	}
	return params, waits
}
