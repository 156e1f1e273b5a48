package strictjson

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"
)

// JSON writes the value without white space: members in their order, numbers as they were written. It returns nil for
// nil.
func (n *Node) JSON() json.RawMessage {
	if n == nil {
		return nil
	}
	return n.AppendJSON(nil)
}

// MarshalJSON implements json.Marshaler.
func (n Node) MarshalJSON() ([]byte, error) { return n.JSON(), nil }

// AppendJSON appends what JSON returns.
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

// Encodable types write themselves as JSON.
type Encodable interface {
	// AppendJSON appends the value as JSON.
	AppendJSON(b []byte) []byte
}

// Encode writes what Decode reads: what is absent is left out, and reading the text again gives an equal value. It
// writes maps too, by their sorted keys, and panics for other types that Decode does not read.
func Encode(v any) json.RawMessage { return Append(nil, v) }

// Append appends what Encode returns.
func Append(b []byte, v any) []byte { return appendValue(b, reflect.ValueOf(v)) }

func appendValue(b []byte, v reflect.Value) []byte {
	if !v.IsValid() {
		return append(b, "null"...)
	}
	if nilable(v.Kind()) && v.IsNil() {
		return append(b, "null"...)
	}

	switch v.Kind() {
	case reflect.String:
		return appendString(b, v.String())
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool())
	case reflect.Int32:
		return strconv.AppendInt(b, v.Int(), 10)
	}

	if own, ok := encodable(v); ok {
		return own.AppendJSON(b)
	}

	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return appendValue(b, v.Elem())
	case reflect.Slice:
		if v.Type() == rawType {
			return append(b, v.Bytes()...)
		}
		return appendItems(b, v)
	case reflect.Map:
		return appendMap(b, v)
	case reflect.Struct:
		return appendStruct(b, v)
	default:
		panic("strictjson: cannot encode a " + v.Type().String())
	}
}

func nilable(k reflect.Kind) bool {
	return k == reflect.Pointer || k == reflect.Interface || k == reflect.Slice || k == reflect.Map
}

// encodable returns a value, or the pointer to it, as one that writes itself.
func encodable(v reflect.Value) (Encodable, bool) {
	if own, ok := v.Interface().(Encodable); ok {
		return own, true
	}
	if v.CanAddr() {
		own, ok := v.Addr().Interface().(Encodable)
		return own, ok
	}
	return nil, false
}

func appendItems(b []byte, v reflect.Value) []byte {
	b = append(b, '[')
	for i := range v.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendValue(b, v.Index(i))
	}
	return append(b, ']')
}

// appendMap writes the members by their sorted keys.
func appendMap(b []byte, v reflect.Value) []byte {
	values := make(map[string]reflect.Value, v.Len())
	for iter := v.MapRange(); iter.Next(); {
		values[iter.Key().String()] = iter.Value()
	}
	b = append(b, '{')
	for i, key := range slices.Sorted(maps.Keys(values)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, key), ':')
		b = appendValue(b, values[key])
	}
	return append(b, '}')
}

func appendStruct(b []byte, v reflect.Value) []byte {
	b = append(b, '{')
	first := true
	for _, m := range layoutOf(v.Type()).members {
		field := v.FieldByIndex(m.Path)
		if m.omitzero && field.IsZero() {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(appendString(b, m.Name), ':')
		b = appendValue(b, field)
	}
	return append(b, '}')
}

// appendString escapes what must be escaped and nothing else (RFC 8785, section 3.2.2.2). What is not UTF-8 becomes
// U+FFFD; no text that Parse has read has any.
func appendString(b []byte, text string) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')

	start := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(text[i:])
			if r == utf8.RuneError && size == 1 {
				b = append(append(b, text[start:i]...), "\ufffd"...)
				start = i + 1
			}
			i += size
			continue
		}

		i++
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}

		b = append(b, text[start:i-1]...)
		start = i

		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\b':
			b = append(b, '\\', 'b')
		case '\f':
			b = append(b, '\\', 'f')
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
	}

	return append(append(b, text[start:]...), '"')
}
