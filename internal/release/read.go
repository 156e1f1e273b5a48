package release

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// reader turns JSON texts into trees for appendValue (map[string]any, []any, string, json.Number in
// its canonical form, bool, nil) and reports every place that has no exact canonical form.
type reader struct{ report }

func (r *reader) name(member, s string) string {
	r.enter(member)
	defer r.leave()
	switch {
	case s == "":
		r.refuse("required", "must not be empty")
	case !utf8.ValidString(s):
		r.refuse("encoding", "must be valid UTF-8, found %.40q", s)
	}
	return s
}

func (r *reader) object(member string, text json.RawMessage) any {
	r.enter(member)
	defer r.leave()
	switch {
	case len(text) == 0:
		r.refuse("required", "must be an object, found nothing")
		return nil
	case !utf8.Valid(text):
		r.refuse("encoding", "must be valid UTF-8")
		return nil
	case !json.Valid(text):
		r.refuse("json", "must be well-formed JSON")
		return nil
	case bytes.TrimLeft(text, " \t\r\n")[0] != '{':
		r.refuse("type", "must be an object, found %.40s", text)
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	return (&walk{reader: r, text: text, dec: dec}).value()
}

// walk reads one text that is known to be well-formed, so its tokens cannot fail.
type walk struct {
	*reader
	text []byte
	dec  *json.Decoder
}

func (w *walk) value() any {
	switch token := w.token().(type) {
	case json.Delim:
		if token == '{' {
			return w.members()
		}
		return w.items()
	case json.Number:
		text, exact := canonicalNumber(token.String())
		if !exact {
			w.refuse("number_precision", NumberPrecision, w.shown(token.String()))
		}
		return json.Number(text)
	default:
		return token
	}
}

func (w *walk) members() map[string]any {
	members := map[string]any{}
	for w.dec.More() {
		name, _ := w.token().(string)
		w.enter(name)
		if _, twice := members[name]; twice {
			w.refuse("duplicate_key", "must be there once, found it again")
		}
		members[name] = w.value()
		w.leave()
	}
	w.token()
	return members
}

func (w *walk) items() []any {
	items := []any{}
	for w.dec.More() {
		w.enter(strconv.Itoa(len(items)))
		items = append(items, w.value())
		w.leave()
	}
	w.token()
	return items
}

// token gives the next token. The decoder puts U+FFFD where an escape is half a surrogate pair, which
// would give different inputs one digest, so such a string is refused.
func (w *walk) token() json.Token {
	start := w.dec.InputOffset()
	token, _ := w.dec.Token()
	s, isString := token.(string)
	if isString && strings.ContainsRune(s, utf8.RuneError) && halfSurrogate(w.text[start:w.dec.InputOffset()]) {
		w.refuse("encoding", `must be valid Unicode, found half a surrogate pair among the \u escapes`)
	}
	return token
}

// halfSurrogate says whether a well-formed JSON text has a \u escape of a surrogate without its other
// half right behind it.
func halfSurrogate(text []byte) bool {
	for len(text) > 0 {
		switch {
		case text[0] != '\\':
			text = text[1:]
		case text[1] != 'u':
			text = text[2:]
		case !utf16.IsSurrogate(escaped(text)):
			text = text[6:]
		case utf16.DecodeRune(escaped(text), escaped(text[6:])) == utf8.RuneError:
			return true
		default:
			text = text[12:]
		}
	}
	return false
}

// escaped is the code unit of the \u escape that text begins with, or -1.
func escaped(text []byte) rune {
	if !bytes.HasPrefix(text, []byte(`\u`)) {
		return -1
	}
	unit, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(unit)
}
