package inputprop

import (
	"unicode/utf8"

	"slipway/internal/strictjson"
)

// text judges the text of a field by its length and by patterns, which an empty one need not match: it is how
// a form leaves the field empty.
func (v *validator) text(text string, patterns []ValidationPattern) bool {
	return text == "" || v.itemText(text, patterns)
}

// itemText judges a text of a list, which is judged as it is, by its length and by patterns. When a default is
// judged, what is wrong with a pattern stands at the pattern.
func (v *validator) itemText(text string, patterns []ValidationPattern) bool {
	before := v.Count()
	if len(text) > MaxText && utf8.RuneCountInString(text) > MaxText {
		v.Fail("max_length", "must have at most %d characters, found %d", MaxText, utf8.RuneCountInString(text))
		return false
	}
	for _, p := range patterns {
		ok, flaw := v.match.Test(p.Pattern, text)
		switch {
		case v.saving && (flaw.Rule == "pattern_syntax" || flaw.Rule == "pattern_limit"):
		case flaw.Rule != "":
			v.Fail(flaw.Rule, "%s, in %s", flaw.Message, strictjson.Quote(p.Pattern))
		case !ok:
			v.Fail("pattern", "must match %s, found %s: %s", strictjson.Quote(p.Pattern), strictjson.ShowText(text), p.Message)
		}
	}
	return v.Count() == before
}
