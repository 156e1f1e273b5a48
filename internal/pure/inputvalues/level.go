package inputvalues

import (
	"slices"
	"strconv"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
)

// level is a level of inputs with their values.
type level struct {
	inputs *inputprop.Level
	// fields have the indexes of the inputs.
	fields []field
	// before are the previous values of the level, nil if there are none.
	before *strictjson.Node
	// earlier is the level with the values before, made when it is first needed.
	earlier *level
	// unknownKeys are the members of the given values that are no input's.
	unknownKeys []string
}

// field is an input with its value.
type field struct {
	in      *inputprop.LevelInput
	visible bool
	// instance is what is chosen for the reference that gives the field its value, "" if it is entered.
	instance string
	// before is the value that is remembered, bound the one that binds; nil if there is none.
	before, bound *strictjson.Node
	// judged is set if nothing is wrong with the value that binds, kept where that is the value.
	judged, kept bool
	// entered is what was given; value is what counts, nil if there is none.
	entered, value *strictjson.Node
	// subject is the value for conditions.
	subject subject
	// unresolved values have templates that name what is not known here.
	unresolved bool
	// refused references may not choose the instance that they name; notLive ones have nothing to be read from.
	refused, notLive bool
	// missing is set if the output was not reported that the value is mapped from, and the input is not required.
	missing *MissingOutput
	// unknown values are those of an instance that cannot be looked into here.
	unknown bool
	// entries are the items of a collection, in order.
	entries []entry
	// read is what was read of the instance that a reference chooses, each path once.
	read []Read
}

// entry is an item of a collection. Its level is nil if the item is no object.
type entry struct {
	// key is the entry's key in a map; given is the one that it came with, computed what its values make.
	key, given, computed string
	level                *level
	node                 *strictjson.Node
}

// isVisible reports whether an input is visible, once those that it depends on are resolved. What is mapped is hidden
// with its reference.
func (l *level) isVisible(in *inputprop.LevelInput) bool {
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

// instance returns the id of what is chosen for a reference, "" when nothing is.
func (l *level) instance(reference *inputprop.LevelInput) string {
	if reference == nil {
		return ""
	}
	if n := l.fields[reference.Index].value; n != nil && n.Kind == strictjson.String {
		return n.Text
	}
	return ""
}

// isUnresolved reports whether the value of one of the inputs has templates that name what is not known here.
func (l *level) isUnresolved(ids ...string) bool {
	return slices.ContainsFunc(ids, func(id string) bool {
		in := l.inputs.ByID[id]
		return in != nil && l.fields[in.Index].unresolved
	})
}

// values returns the values that count, in the order of the form.
func (l *level) values() *strictjson.Node {
	n := &strictjson.Node{Kind: strictjson.Object}
	for i := range l.fields {
		if value := l.fields[i].value; value != nil {
			n.Keys, n.Items = append(n.Keys, l.inputs.Inputs[i].ID), append(n.Items, value)
		}
	}
	return n
}

// params returns the parameters of dynamic values, and the ids of the inputs that must have a value first.
func (l *level) params(ref *inputprop.DynamicValuesRef) (params map[string]string, waits []string) {
	params = make(map[string]string, len(ref.Params.Keys))
	for i, param := range ref.Params.Values {
		text := param.Text
		if param.Input != "" {
			if text = l.plainText(param.Input); text == "" || l.isUnresolved(param.Input) {
				waits = append(waits, param.Input)
				continue
			}
		}
		params[ref.Params.Keys[i]] = text
	}
	return params, waits
}

// plainText returns the value of an input as people write it: "" for what is not there, an object or an
// array.
func (l *level) plainText(id string) string {
	in, ok := l.inputs.ByID[id]
	if !ok {
		return ""
	}
	return plainText(l.fields[in.Index].value)
}

// textNode returns the value of a text.
func textNode(text string) *strictjson.Node {
	return &strictjson.Node{Kind: strictjson.String, Text: text}
}

// plainText returns a value as people write it.
func plainText(n *strictjson.Node) string {
	switch {
	case n == nil:
		return ""
	case n.Kind == strictjson.String:
		return n.Text
	case n.Kind == strictjson.Bool:
		return strconv.FormatBool(n.Bool)
	case n.Kind != strictjson.Number:
		return ""
	}
	if whole, err := strictjson.ParseInt32(n.Text); err == nil {
		return strconv.Itoa(int(whole))
	}
	return n.Text
}

// keyParts returns what an entry has for the inputs that make up its key, and their bytes. Those without a
// value do not count.
func (l *level) keyParts(from []string) (parts []string, size int) {
	for _, id := range from {
		if text := l.plainText(id); text != "" {
			parts = append(parts, text)
			size += len(text)
		}
	}
	return parts, size
}

// memberOf returns a member of an object, nil if there is none or no object.
func memberOf(n *strictjson.Node, key string) *strictjson.Node {
	if n == nil || n.Kind != strictjson.Object {
		return nil
	}
	return n.Get(key)
}

// isValue reports whether there is a value: null is none.
func isValue(n *strictjson.Node) bool { return n != nil && n.Kind != strictjson.Null }

// subject is the value that conditions are about, nil if there is none.
type subject struct {
	*strictjson.Node
	// items are those of an array, made when they are first looked up.
	items strictjson.Set
}

// satisfied reports whether the value is as an entry of show_when expects: an object of operators, or a
// value.
func (s *subject) satisfied(expected *strictjson.Node) bool {
	if expected.Kind != strictjson.Object {
		return isValue(s.Node) && s.matches(expected)
	}
	for i, operator := range expected.Keys {
		if !s.operate(operator, expected.Items[i]) {
			return false
		}
	}
	return true
}

// list returns the items to look others up in, nil if the value is no array.
func (s *subject) list() strictjson.Set {
	if s.items == nil && s.Kind == strictjson.Array {
		s.items = strictjson.SetOf(s.Items)
	}
	return s.items
}

// matches reports whether the value is the one expected. A list matches what it contains, one item or several in any
// order.
func (s *subject) matches(expected *strictjson.Node) bool {
	switch {
	case s.Kind != strictjson.Array:
		return strictjson.Equal(s.Node, expected)
	case expected.Kind == strictjson.Array:
		return s.list().HasAll(expected.Items)
	default:
		return s.list().Has(expected)
	}
}

// operate reports whether an operator holds.
func (s *subject) operate(operator string, operand *strictjson.Node) bool {
	switch operator {
	case inputprop.OpNot:
		return !s.satisfied(operand)
	case inputprop.OpExists:
		return isValue(s.Node) == operand.Bool
	}

	if !isValue(s.Node) {
		return false
	}

	switch operator {
	case inputprop.OpEquals:
		return strictjson.Equal(s.Node, operand)
	case inputprop.OpAnyOf:
		return slices.ContainsFunc(operand.Items, s.matches)
	case inputprop.OpContains:
		return s.list().Has(operand)
	case inputprop.OpContainsAny:
		return s.list().HasAny(operand.Items)
	case inputprop.OpContainsAll, inputprop.OpContainsEvery:
		return s.Kind == strictjson.Array && s.list().HasAll(operand.Items)
	default:
		return false
	}
}
