package strictjson

import (
	"slices"
	"strconv"
	"strings"
)

// Equal reports whether two values are the same: numbers by what they are worth (1.0 is 1, also if no double holds
// them), objects whatever the order of their members, and nothing by turning it into another type.
func Equal(a, b *Node) bool {
	if a.Kind != b.Kind || len(a.Items) != len(b.Items) {
		return false
	}

	switch a.Kind {
	case Null:
		return true
	case Bool:
		return a.Bool == b.Bool
	case String:
		return a.Text == b.Text
	case Number:
		return a.Text == b.Text || !(isPlain(a.Text) && isPlain(b.Text)) && Key(a) == Key(b)
	case Array:
		return slices.EqualFunc(a.Items, b.Items, Equal)
	default:
		if slices.Equal(a.Keys, b.Keys) {
			return slices.EqualFunc(a.Items, b.Items, Equal)
		}
		return Key(a) == Key(b)
	}
}

// isPlain reports whether a number is written in digits alone: there is one such way for each.
func isPlain(literal string) bool { return literal != "-0" && !strings.ContainsAny(literal, ".eE") }

// Key returns a text that equal values share and others do not. It is no JSON, and not the canonical form, which has
// only numbers that a double holds.
func Key(n *Node) string { return string(appendKey(nil, n)) }

func appendKey(b []byte, n *Node) []byte {
	switch n.Kind {
	case Number:
		return appendDecimal(b, n.Text)
	case Array:
		b = append(b, '[')
		for _, item := range n.Items {
			b = append(appendKey(b, item), ',')
		}
		return append(b, ']')
	case Object:
		b = append(b, '{')
		for _, i := range n.sorted(strings.Compare) {
			b = append(appendString(b, n.Keys[i]), ':')
			b = append(appendKey(b, n.Items[i]), ',')
		}
		return append(b, '}')
	default:
		return n.AppendJSON(b)
	}
}

func appendDecimal(b []byte, literal string) []byte {
	digits, exponent := decimal(literal)
	if digits == "" {
		return append(b, '0')
	}
	if strings.HasPrefix(literal, "-") {
		b = append(b, '-')
	}
	return strconv.AppendInt(append(append(b, digits...), 'e'), int64(exponent), 10)
}

// Set holds values to look others up in.
type Set map[string]struct{}

// SetOf returns the set of values.
func SetOf(values []*Node) Set {
	s := make(Set, len(values))
	for _, v := range values {
		s[Key(v)] = struct{}{}
	}
	return s
}

// Has reports whether a value is in the set.
func (s Set) Has(n *Node) bool {
	_, ok := s[Key(n)]
	return ok
}

// HasAll reports whether all values are in the set.
func (s Set) HasAll(values []*Node) bool {
	return !slices.ContainsFunc(values, func(n *Node) bool { return !s.Has(n) })
}

// HasAny reports whether one of the values is in the set.
func (s Set) HasAny(values []*Node) bool { return slices.ContainsFunc(values, s.Has) }
