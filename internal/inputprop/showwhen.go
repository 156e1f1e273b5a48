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

// satisfied says whether the value of a source, nil where there is none, is as an entry of show_when
// expects: an object of operators, or a value.
func satisfied(source, expected *Node) bool {
	if source != nil && source.Kind == Null {
		source = nil
	}
	if expected.Kind != Object {
		return source != nil && matches(source, expected)
	}
	for i, operator := range expected.Keys {
		if !operate(operator, source, expected.Items[i]) {
			return false
		}
	}
	return true
}

// matches compares with a plain value. A list matches what it contains, one item or several in any
// order.
func matches(source, expected *Node) bool {
	switch {
	case source.Kind != Array:
		return equal(source, expected)
	case expected.Kind == Array:
		return setOf(source.Items).hasAll(expected.Items)
	default:
		return setOf(source.Items).has(expected)
	}
}

func operate(operator string, source, operand *Node) bool {
	switch operator {
	case opNot:
		return !satisfied(source, operand)
	case opExists:
		return (source != nil) == operand.Bool
	}
	if source == nil {
		return false
	}
	list := source.Kind == Array
	switch operator {
	case opEquals:
		return equal(source, operand)
	case opAnyOf:
		return slices.ContainsFunc(operand.Items, func(n *Node) bool { return matches(source, n) })
	case opContains:
		return list && setOf(source.Items).has(operand)
	case opContainsAny:
		return list && setOf(source.Items).hasAny(operand.Items)
	case opContainsAll, opContainsEvery:
		return list && setOf(source.Items).hasAll(operand.Items)
	default:
		return false
	}
}
