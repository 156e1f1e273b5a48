package strictjson

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// Canonical returns the value in the canonical form of RFC 8785. It is exact where every number in the value is (see
// IsExact); one that is not stays as it was written.
func Canonical(n *Node) []byte { return AppendCanonical(nil, n) }

// AppendCanonical appends what Canonical returns.
func AppendCanonical(b []byte, n *Node) []byte {
	switch n.Kind {
	case Number:
		return appendCanonicalNumber(b, n.Text)
	case Array:
		b = append(b, '[')
		for i, item := range n.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = AppendCanonical(b, item)
		}
		return append(b, ']')
	case Object:
		b = append(b, '{')
		for i, member := range n.sorted(compareUTF16) {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, n.Keys[member]), ':')
			b = AppendCanonical(b, n.Items[member])
		}
		return append(b, '}')
	default:
		return n.AppendJSON(b)
	}
}

func appendCanonicalNumber(b []byte, literal string) []byte {
	if !isShort(literal) {
		if text, exact := canonicalNumber(literal); exact {
			return append(b, text...)
		}
	}
	return append(b, literal...)
}

// sorted returns the indexes of an object's members in the order of their keys.
func (n *Node) sorted(compare func(a, b string) int) []int {
	order := make([]int, len(n.Keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return compare(n.Keys[i], n.Keys[j]) })
	return order
}

// compareUTF16 orders keys by their UTF-16 code units (section 3.2.3). That is the order of the runes, except that
// those above U+FFFF, being surrogates there, come before U+E000 to U+FFFF.
func compareUTF16(a, b string) int {
	for a != "" && b != "" {
		if a[0] == b[0] && a[0] < utf8.RuneSelf {
			a, b = a[1:], b[1:]
			continue
		}
		x, width := utf8.DecodeRuneInString(a)
		y, _ := utf8.DecodeRuneInString(b)
		if x != y {
			return cmp.Or(cmp.Compare(firstUnit(x), firstUnit(y)), cmp.Compare(x, y))
		}
		a, b = a[width:], b[width:]
	}
	return cmp.Compare(len(a), len(b))
}

// firstUnit returns the first UTF-16 code unit of a rune; all high surrogates may count as one, because the rune itself
// decides between two of them.
func firstUnit(r rune) rune {
	if r > 0xFFFF {
		return 0xD800
	}
	return r
}
