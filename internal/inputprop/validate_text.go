package inputprop

import (
	"unicode/utf8"

	"slipway/internal/strictjson"
)

// text judges the text of a field by its length and by patterns, which an empty one need not match: it is how
// a form leaves the field empty.
func (j *judge) text(text string, patterns []ValidationPattern) bool {
	return text == "" || j.itemText(text, patterns)
}

// itemText judges a text of a list, which is judged as it is, by its length and by patterns. When a default is
// judged, what is wrong with a pattern stands at the pattern.
func (j *judge) itemText(text string, patterns []ValidationPattern) bool {
	before := j.Count()
	if len(text) > maxValue && utf8.RuneCountInString(text) > maxValue {
		j.Fail("max_length", "must have at most %d characters, found %d", maxValue, utf8.RuneCountInString(text))
		return false
	}
	for _, p := range patterns {
		ok, v := j.match.test(p.Pattern, text)
		switch {
		case j.saving && (v.rule == "pattern_syntax" || v.rule == "pattern_limit"):
		case v.rule != "":
			j.Fail(v.rule, "%s, in %s", v.message, strictjson.Quote(p.Pattern))
		case !ok:
			j.Fail("pattern", "must match %s, found %s: %s", strictjson.Quote(p.Pattern), strictjson.ShowText(text), p.Message)
		}
	}
	return j.Count() == before
}
