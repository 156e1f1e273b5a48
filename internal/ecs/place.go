package ecs

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"slipway/internal/fault"
)

// place is one value of a well-formed JSON text, and where it is. Its readers give nil and leave a
// violation where the value is not what they read.
type place struct {
	raw     json.RawMessage
	pointer string
	found   *fault.Violations
	// strict places are within what a caller writes: see DecodeNew.
	strict bool
}

func (p place) child(token string, raw json.RawMessage) place {
	return place{raw, p.pointer + fault.Pointer(token), p.found, p.strict}
}

func (p place) refuse(rule, format string, args ...any) {
	p.found.Add(p.pointer, rule, format, args...)
}

// is refuses a value of another JSON type than the wanted.
func (p place) is(want string) bool {
	found := "a number"
	switch p.raw[0] {
	case '{':
		found = "an object"
	case '[':
		found = "an array"
	case '"':
		found = "a string"
	case 't', 'f':
		found = "a boolean"
	case 'n':
		found = "null"
	}
	switch found {
	case want:
		return true
	case "null":
		p.refuse("null", "must be %s, found null; leave it out instead", want)
	default:
		p.refuse("type", "must be %s, found %s", want, found)
	}
	return false
}

// scalar reads a value of the wanted JSON type as a T.
func scalar[T any](p place, want string) *T {
	if !p.is(want) {
		return nil
	}
	value := new(T)
	if err := json.Unmarshal(p.raw, value); err != nil {
		p.refuse("range", "must be %s that a double can hold, found %.40s", want, p.raw)
		return nil
	}
	return value
}

func text(p place) *string { return scalar[string](p, "a string") }

func flag(p place) *bool { return scalar[bool](p, "a boolean") }

// moment reads a UTC date-time and keeps its text.
func moment(p place) *string {
	s := text(p)
	if s != nil && !isMoment(*s) {
		p.refuse("format", "must be a UTC date-time with Z and at most 9 digits of fraction, such as 2026-01-31T09:30:00.5Z, found %.60q", *s)
		return nil
	}
	return s
}

// isMoment is stricter than time.Parse, which takes other offsets, short hours, decimal commas and
// fractions of any length.
func isMoment(s string) bool {
	const whole = len("2006-01-02T15:04:05Z")
	if _, err := time.Parse(time.RFC3339, s); err != nil || !strings.HasSuffix(s, "Z") {
		return false
	}
	digits := len(s) - whole - len(".")
	return len(s) == whole || digits >= 1 && digits <= 9 && s[whole-1] == '.'
}

// count reads a whole number.
func count(p place) *int32 {
	f := scalar[float64](p, "a number")
	if f != nil && *f != math.Trunc(*f) {
		p.refuse("int32", "must be an integer, found %.40s", p.raw)
		return nil
	}
	return p.int32(f)
}

// weight reads a number and rounds it.
func weight(p place) *int32 {
	f := scalar[float64](p, "a number")
	if f != nil {
		*f = math.Round(*f)
	}
	return p.int32(f)
}

func (p place) int32(f *float64) *int32 {
	if f == nil {
		return nil
	}
	if *f < math.MinInt32 || *f > math.MaxInt32 {
		p.refuse("int32", "must be from %d to %d, found %.40s", math.MinInt32, math.MaxInt32, p.raw)
		return nil
	}
	n := int32(*f)
	return &n
}

// freeForm reads an object of any form and keeps its text, but for white space between the tokens.
func freeForm(p place) json.RawMessage {
	var compact bytes.Buffer
	if !p.is("an object") || json.Compact(&compact, p.raw) != nil {
		return nil
	}
	return compact.Bytes()
}

// list reads an array whose items read can read.
func list[T any](read func(place) *T) func(place) []T {
	return func(p place) []T {
		items := scalar[[]json.RawMessage](p, "an array")
		if items == nil {
			return nil
		}
		values := make([]T, 0, len(*items))
		for i, raw := range *items {
			if v := read(p.child(strconv.Itoa(i), raw)); v != nil {
				values = append(values, *v)
			}
		}
		return values
	}
}
