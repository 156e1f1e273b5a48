package plan

import (
	"context"
	"errors"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
)

// Context returns the context that resolvers are called with. It is theirs until they return: after that, what it tells
// of the field is not true any more.
func (w *Writer) Context() context.Context { return &w.place }

// Arguments are those that a field is resolved with.
type Arguments struct{ Args map[string]any }

// Arguments decodes the arguments of the field. It returns false if they are refused, which it has reported.
func (w *Writer) Arguments(
	n *Node, decode func(context.Context, map[string]any) (map[string]any, error),
) (Arguments, bool) {
	args, err := decode(&w.place, n.Collected.ArgumentMap(w.Operation.Variables))
	if err != nil {
		w.Operation.Error(&w.place, err)
		return Arguments{}, false
	}
	top := len(w.path) - 1
	w.at(top, step{node: n, args: args})
	return Arguments{args}, true
}

// Begin reports whether a field with a selection is to be resolved.
func (w *Writer) Begin() bool {
	if w.observer == nil {
		return true
	}
	err := w.observer.Begin(&w.place, w.place.field())
	return err == nil || w.Fail(err)
}

// Resolved reports whether the object or the list is to be written that the field was resolved to.
func (w *Writer) Resolved(value any) bool {
	if w.observer == nil {
		return true
	}
	err := w.observer.Resolved(&w.place, w.place.field(), value)
	return err == nil || w.Fail(err)
}

// Text reports whether the text of a length is to be written that the field was resolved to, and makes room for it.
func (w *Writer) Text(length int) bool {
	w.makeRoom(length)
	if w.observer == nil {
		return true
	}
	err := w.observer.Text(&w.place, length)
	return err == nil || w.Fail(err)
}

// Length returns the length of a text, 0 if there is none.
func Length[T ~string | ~[]byte](text *T) int {
	if text == nil {
		return 0
	}
	return len(*text)
}

// Fail reports an error of the field. It returns false, for the value is null.
func (w *Writer) Fail(err error) bool {
	w.Operation.Error(&w.place, graphql.AddFieldLocationToError(&w.place, err))
	return false
}

// Missing reports that the field was resolved to nothing, and must not be null.
func (w *Writer) Missing() bool { return w.null("must not be null") }

// Null reports that a value is null, and must not be.
func (w *Writer) Null() bool {
	return w.null("the requested element is null which the schema does not allow")
}

// null reports what is wrong with the value at the path, unless something has been reported before.
func (w *Writer) null(message string) bool {
	if !graphql.HasFieldError(&w.place, w.place.field()) {
		w.Operation.Error(&w.place, errors.New(message))
	}
	return false
}

// Bytes returns what the value of a leaf is appended to.
func (w *Writer) Bytes() []byte { return w.buf }

// Appended takes what Bytes has become. If nothing was appended, the value is null.
func (w *Writer) Appended(b []byte, nonNull bool) bool {
	isNull := len(b) == len(w.buf)
	w.buf = b
	if isNull && nonNull {
		return w.Null()
	}
	return !isNull
}

// Marshal writes the value of a leaf that has a marshaler of gqlgen's kind.
func (w *Writer) Marshal(m graphql.Marshaler, nonNull bool) bool {
	switch {
	case m != graphql.Null:
		m.MarshalGQL(&w.buf)
		return true
	case nonNull:
		return w.Null()
	default:
		return false
	}
}

// AppendInt appends an integer.
func AppendInt[T int | int32 | int64](b []byte, v T) []byte {
	return strconv.AppendInt(b, int64(v), 10)
}

// AppendBoolean appends true or false.
func AppendBoolean(b []byte, v bool) []byte { return strconv.AppendBool(b, v) }

// AppendString appends a text in quotes, with the same characters escaped as by graphql.MarshalString.
func AppendString(b []byte, s string) []byte {
	const hex = "0123456789ABCDEF"
	b = append(b, '"')
	begin := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '\\' && c != '"' {
			continue
		}

		b = append(b, s[begin:i]...)
		begin = i + 1
		switch c {
		case '\t':
			b = append(b, `\t`...)
		case '\r':
			b = append(b, `\r`...)
		case '\n':
			b = append(b, `\n`...)
		case '\\', '"':
			b = append(b, '\\', c)
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}

	return append(append(b, s[begin:]...), '"')
}
