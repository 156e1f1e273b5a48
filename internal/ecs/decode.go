package ecs

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
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

// DecodeNew reads what a caller knows of a deployment beforehand. It is DecodePatch, but for two things: what
// Slipway itself fills must be left out, and keys that nothing declares are refused, except in the objects that
// the cloud describes itself by, to which it adds.
func DecodeNew(raw []byte) (*Data, []fault.Violation) {
	return decode(raw, func(p place) *Data {
		p.strict = true
		o := closed[Data](p)
		for _, name := range filled {
			if value, given := o.members[name]; given {
				o.child(name, value).refuse("read_only", "is filled by Slipway and must be left out")
			}
		}
		d := o.data()
		d.Type = Type
		return d
	})
}

// DecodeTaskDefinition reads a task definition, as Decode does; the pointers start at it.
func DecodeTaskDefinition(raw []byte) (*TaskDefinition, []fault.Violation) {
	return decode(raw, taskDefinition)
}

// DecodeArtifact reads the task definition of a new release: as DecodeTaskDefinition, but keys that it does not
// have are refused.
func DecodeArtifact(raw []byte) (*TaskDefinition, []fault.Violation) {
	return decode(raw, func(p place) *TaskDefinition {
		p.strict = true
		return taskDefinition(p)
	})
}

func decode[T any](raw []byte, read func(place) *T) (*T, []fault.Violation) {
	var found fault.Violations
	p := place{raw: bytes.TrimSpace(raw), found: &found}
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

// closed is open for an object that has no members but the fields of T, where the place is strict.
func closed[T any](p place) object {
	o := open(p)
	if !p.strict {
		return o
	}
	names := fieldsOf(reflect.TypeFor[T]())
	for _, name := range slices.Sorted(maps.Keys(o.members)) {
		if !slices.Contains(names, name) {
			o.child(name, nil).refuse("unknown_field", "is not a field here; allowed are %s", strings.Join(names, ", "))
		}
	}
	return o
}

// fieldsOf gives the names that the fields of a type have in JSON.
func fieldsOf(t reflect.Type) []string {
	names := make([]string, t.NumField())
	for i := range names {
		names[i], _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
	}
	return names
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
