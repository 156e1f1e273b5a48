package inputprop

import (
	"slices"

	"slipway/internal/strictjson"
)

// The operators of a condition; several in one object must all hold.
const (
	OpEquals      = "equals"
	OpNot         = "not"
	OpAnyOf       = "any_of"
	OpContains    = "contains"
	OpContainsAny = "contains_any"
	OpContainsAll = "contains_all"
	// opContainsEvery is contains_all by its other name.
	OpContainsEvery = "contains-all"
	OpExists        = "exists"
)

var Operators = []string{OpEquals, OpNot, OpAnyOf, OpContains, OpContainsAny, OpContainsAll, OpContainsEvery, OpExists}

// subject is the value that conditions are about, nil where there is none.
type subject struct {
	*strictjson.Node
	// items are those of an array, made when they are first looked up.
	items strictjson.Set
}

// satisfied says whether the value is as an entry of show_when expects: an object of operators, or a
// value.
func (s *subject) satisfied(expected *strictjson.Node) bool {
	if expected.Kind != strictjson.Object {
		return s.exists() && s.matches(expected)
	}
	for i, operator := range expected.Keys {
		if !s.operate(operator, expected.Items[i]) {
			return false
		}
	}
	return true
}

func (s *subject) exists() bool { return s.Node != nil && s.Kind != strictjson.Null }

// list gives the items to look others up in, nil where the value is no array.
func (s *subject) list() strictjson.Set {
	if s.items == nil && s.Kind == strictjson.Array {
		s.items = strictjson.SetOf(s.Items)
	}
	return s.items
}

// matches compares with a plain value. A list matches what it contains, one item or several in any
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

func (s *subject) operate(operator string, operand *strictjson.Node) bool {
	switch operator {
	case OpNot:
		return !s.satisfied(operand)
	case OpExists:
		return s.exists() == operand.Bool
	}
	if !s.exists() {
		return false
	}
	switch operator {
	case OpEquals:
		return strictjson.Equal(s.Node, operand)
	case OpAnyOf:
		return slices.ContainsFunc(operand.Items, s.matches)
	case OpContains:
		return s.list().Has(operand)
	case OpContainsAny:
		return s.list().HasAny(operand.Items)
	case OpContainsAll, OpContainsEvery:
		return s.Kind == strictjson.Array && s.list().HasAll(operand.Items)
	default:
		return false
	}
}
