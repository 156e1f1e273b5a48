package inputprop

import (
	"encoding/json"
	"strconv"
)

// JSON writes the value without white space: members in their order, numbers as they were written.
func (n *Node) JSON() json.RawMessage { return n.AppendJSON(nil) }

// MarshalJSON implements json.Marshaler.
func (n Node) MarshalJSON() ([]byte, error) { return n.JSON(), nil }

// AppendJSON appends what JSON gives.
func (n *Node) AppendJSON(b []byte) []byte {
	switch n.Kind {
	case Bool:
		return strconv.AppendBool(b, n.Bool)
	case Number:
		return append(b, n.Text...)
	case String:
		return appendString(b, n.Text)
	case Array:
		b = append(b, '[')
		for i, item := range n.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.AppendJSON(b)
		}
		return append(b, ']')
	case Object:
		b = append(b, '{')
		for i, item := range n.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, n.Keys[i]), ':')
			b = item.AppendJSON(b)
		}
		return append(b, '}')
	default:
		return append(b, "null"...)
	}
}

// appendString escapes no more than JSON asks for.
func appendString(b []byte, text string) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c == '\t':
			b = append(b, '\\', 't')
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
