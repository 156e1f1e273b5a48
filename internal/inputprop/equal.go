package inputprop

import (
	"slices"
	"strconv"
	"strings"
)

// equal compares JSON values: numbers by what they are worth (1.0 is 1), objects whatever the order of
// their members, and nothing by turning it into another type.
func equal(a, b *Node) bool {
	if a.Kind != b.Kind || len(a.Items) != len(b.Items) {
		return false
	}
	switch a.Kind {
	case String:
		return a.Text == b.Text
	case Number:
		return a.Text == b.Text || !(isPlain(a.Text) && isPlain(b.Text)) && canonical(a) == canonical(b)
	case Array:
		for i, item := range a.Items {
			if !equal(item, b.Items[i]) {
				return false
			}
		}
		return true
	default:
		return canonical(a) == canonical(b)
	}
}

// isPlain says whether a number is written in digits alone: there is one such way for each.
func isPlain(literal string) bool { return literal != "-0" && !strings.ContainsAny(literal, ".eE") }

// canonical is a text that equal values share and others do not.
func canonical(n *Node) string { return string(appendCanonical(nil, n)) }

func appendCanonical(b []byte, n *Node) []byte {
	switch n.Kind {
	case Number:
		return appendDecimal(b, n.Text)
	case Array:
		b = append(b, '[')
		for _, item := range n.Items {
			b = append(appendCanonical(b, item), ',')
		}
		return append(b, ']')
	case Object:
		order := make([]int, len(n.Keys))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(i, j int) int { return strings.Compare(n.Keys[i], n.Keys[j]) })
		b = append(b, '{')
		for _, i := range order {
			b = append(appendString(b, n.Keys[i]), ':')
			b = append(appendCanonical(b, n.Items[i]), ',')
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

// set holds values to look others up in.
type set map[string]struct{}

func setOf(values []*Node) set {
	s := make(set, len(values))
	for _, v := range values {
		s[canonical(v)] = struct{}{}
	}
	return s
}

func (s set) has(n *Node) bool {
	_, ok := s[canonical(n)]
	return ok
}

func (s set) hasAll(values []*Node) bool {
	return !slices.ContainsFunc(values, func(n *Node) bool { return !s.has(n) })
}

func (s set) hasAny(values []*Node) bool { return slices.ContainsFunc(values, s.has) }
