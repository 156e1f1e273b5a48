package release

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"
)

// appendValue writes a tree of the reader's in the canonical form (RFC 8785, section 3.2).
func appendValue(out []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(out, "null"...)
	case bool:
		return strconv.AppendBool(out, v)
	case json.Number:
		return append(out, v...)
	case string:
		return appendString(out, v)
	case []any:
		return appendItems(out, v)
	case map[string]any:
		return appendMembers(out, v)
	default:
		// Only the reader makes trees.
		panic(fmt.Sprintf("release: a %T has no canonical form", value))
	}
}

func appendItems(out []byte, items []any) []byte {
	out = append(out, '[')
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendValue(out, item)
	}
	return append(out, ']')
}

func appendMembers(out []byte, members map[string]any) []byte {
	out = append(out, '{')
	for i, name := range slices.SortedFunc(maps.Keys(members), compareUTF16) {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendString(out, name)
		out = append(out, ':')
		out = appendValue(out, members[name])
	}
	return append(out, '}')
}

// compareUTF16 orders names by their UTF-16 code units (section 3.2.3). That is the order of the runes,
// except that those above U+FFFF, being surrogates there, come before U+E000 to U+FFFF.
func compareUTF16(a, b string) int {
	for a != "" && b != "" {
		x, width := utf8.DecodeRuneInString(a)
		y, _ := utf8.DecodeRuneInString(b)
		if x != y {
			return cmp.Or(cmp.Compare(firstUnit(x), firstUnit(y)), cmp.Compare(x, y))
		}
		a, b = a[width:], b[width:]
	}
	return cmp.Compare(len(a), len(b))
}

// firstUnit is the first UTF-16 code unit of a rune; all high surrogates may count as one, because the
// rune itself decides between two of them.
func firstUnit(r rune) rune {
	if r > 0xFFFF {
		return 0xD800
	}
	return r
}

// appendString escapes what must be escaped and nothing else (section 3.2.2.2).
func appendString(out []byte, s string) []byte {
	out = append(out, '"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\':
			out = append(out, '\\', c)
		case '\b':
			out = append(out, `\b`...)
		case '\f':
			out = append(out, `\f`...)
		case '\n':
			out = append(out, `\n`...)
		case '\r':
			out = append(out, `\r`...)
		case '\t':
			out = append(out, `\t`...)
		default:
			if c < ' ' {
				out = fmt.Appendf(out, `\u%04x`, c)
				continue
			}
			out = append(out, c)
		}
	}
	return append(out, '"')
}
