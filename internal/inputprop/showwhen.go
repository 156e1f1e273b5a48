package inputprop

import "slices"

// The operators of a condition; several in one object must all hold.
const (
	opEquals      = "equals"
	opNot         = "not"
	opAnyOf       = "any_of"
	opContains    = "contains"
	opContainsAny = "contains_any"
	opContainsAll = "contains_all"
	// opContainsEvery is contains_all by its other name.
	opContainsEvery = "contains-all"
	opExists        = "exists"
)

var operators = []string{opEquals, opNot, opAnyOf, opContains, opContainsAny, opContainsAll, opContainsEvery, opExists}

// subject is the value that conditions are about, nil where there is none.
type subject struct {
	*Node
	// items are those of an array, made when they are first looked up.
	items set
}

// satisfied says whether the value is as an entry of show_when expects: an object of operators, or a
// value.
func (s *subject) satisfied(expected *Node) bool {
	if expected.Kind != Object {
		return s.there() && s.matches(expected)
	}
	for i, operator := range expected.Keys {
		if !s.operate(operator, expected.Items[i]) {
			return false
		}
	}
	return true
}

func (s *subject) there() bool { return s.Node != nil && s.Kind != Null }

// list gives the items to look others up in, nil where the value is no array.
func (s *subject) list() set {
	if s.items == nil && s.Kind == Array {
		s.items = setOf(s.Items)
	}
	return s.items
}

// matches compares with a plain value. A list matches what it contains, one item or several in any
// order.
func (s *subject) matches(expected *Node) bool {
	switch {
	case s.Kind != Array:
		return equal(s.Node, expected)
	case expected.Kind == Array:
		return s.list().hasAll(expected.Items)
	default:
		return s.list().has(expected)
	}
}

func (s *subject) operate(operator string, operand *Node) bool {
	switch operator {
	case opNot:
		return !s.satisfied(operand)
	case opExists:
		return s.there() == operand.Bool
	}
	if !s.there() {
		return false
	}
	switch operator {
	case opEquals:
		return equal(s.Node, operand)
	case opAnyOf:
		return slices.ContainsFunc(operand.Items, s.matches)
	case opContains:
		return s.list().has(operand)
	case opContainsAny:
		return s.list().hasAny(operand.Items)
	case opContainsAll, opContainsEvery:
		return s.Kind == Array && s.list().hasAll(operand.Items)
	default:
		return false
	}
}
