package ecs

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"slipway/internal/fault"
)

// Decode reads data that names its type. Keys that data does not have are dropped, for the cloud adds
// some; inside a definition everything is kept. Whatever else is wrong is in the violations, whose
// pointers start at the data; there is no data then.
func Decode(raw []byte) (*Data, []fault.Violation) {
	return decode(raw, func(p place) *Data {
		o := open(p)
		if _, named := o.members["type"]; o.members != nil && !named {
			p.child("type", nil).refuse("required", "must be %q, found nothing", Type)
		}
		return o.data()
	})
}

// DecodePatch reads what Merge takes: data that may leave out its type, for there is only one.
func DecodePatch(raw []byte) (*Data, []fault.Violation) {
	return decode(raw, func(p place) *Data {
		d := open(p).data()
		d.Type = Type
		return d
	})
}

// DecodeTaskDefinition reads a task definition, as Decode does; the pointers start at it.
func DecodeTaskDefinition(raw []byte) (*TaskDefinition, []fault.Violation) {
	return decode(raw, taskDefinition)
}

func decode[T any](raw []byte, read func(place) *T) (*T, []fault.Violation) {
	var found fault.Violations
	p := place{bytes.TrimSpace(raw), "", &found}
	switch {
	case !utf8.Valid(raw):
		p.refuse("encoding", "must be valid UTF-8")
	case !json.Valid(raw):
		p.refuse("json", "must be well-formed JSON")
	default:
		if value := read(p); found.Count() == 0 {
			return value, nil
		}
	}
	return nil, found.All("")
}

// object is a place whose members are at hand.
type object struct {
	place
	members map[string]json.RawMessage
}

// open gives the members of an object, or none where there is another value. A name that is there twice
// is refused: which of the two was meant is a guess.
func open(p place) object {
	o := object{place: p}
	if !p.is("an object") {
		return o
	}
	o.members = map[string]json.RawMessage{}
	dec := json.NewDecoder(bytes.NewReader(p.raw))
	// The text is well-formed, so its tokens and values cannot fail.
	_, _ = dec.Token()
	for dec.More() {
		var value json.RawMessage
		token, _ := dec.Token()
		_ = dec.Decode(&value)
		name, _ := token.(string)
		if _, twice := o.members[name]; twice {
			p.child(name, value).refuse("duplicate_key", "must be there once, found it again")
		}
		o.members[name] = value
	}
	return o
}

// member reads one member, and gives the zero T where it is absent.
func member[T any](o object, name string, read func(place) T) T {
	raw, ok := o.members[name]
	if !ok {
		var absent T
		return absent
	}
	return read(o.child(name, raw))
}

// discriminator reads the type of data; there is one.
func discriminator(p place) string {
	s := text(p)
	if s == nil {
		return ""
	}
	if *s != Type {
		p.refuse("enum", "must be %q, found %.60q", Type, *s)
	}
	return *s
}
