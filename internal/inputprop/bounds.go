package inputprop

import (
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// text says whether the string keeps its rules.
func (d *decoder) text(text string, r *rules) bool {
	before := d.found.Count()
	if r.nonempty && text == "" {
		d.fail("min_length", "must have at least 1 character, found none")
	}
	d.length(text, r.max)
	if len(r.enum) > 0 && !slices.Contains(r.enum, text) {
		d.fail("enum", "must be one of %s, found %s%s", strings.Join(r.enum, ", "), quoteValue(text), d.hint(text, r.enum))
	}
	if r.format != "" {
		f := formats[r.format]
		if flaw := f.flaw(text); flaw != "" {
			d.fail("format", f.message, quoteValue(text), flaw)
		}
	}
	return d.found.Count() == before
}

func (d *decoder) length(text string, limit int) {
	if limit == 0 || len(text) <= limit {
		return
	}
	if count := utf8.RuneCountInString(text); count > limit {
		d.fail("max_length", "must have at most %d characters, found %d", limit, count)
	}
}

func (d *decoder) int32(literal string, v reflect.Value) {
	number, err := parseInt32(literal)
	if err != nil {
		d.fail("int32", "%v, found %s", err, repeated(short(literal)))
		return
	}
	v.SetInt(int64(number))
}
