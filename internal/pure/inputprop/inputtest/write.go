package inputtest

import (
	"strings"
)

// Members of properties that many tests have.
const (
	// Lower lets a text be of small letters.
	Lower = `"patterns":[{"pattern":"^[a-z]+$","message":"lower case"}]`
	// Listed lets choose from "a" and "b".
	Listed = `"values":["a",{"value":"b","label":"B"}]`
	// Sizes are the options of a compound input.
	Sizes = `"fields":["cpu","mem"],"values":[` +
		`{"label":"S","fields":{"cpu":1,"mem":"2G","arm":true}},{"label":"L","fields":{"cpu":4,"mem":"8G"}}]`
)

// In writes a property of a type; more are its other members.
func In(id, kind string, more ...string) string {
	text := `{"id":"` + id + `","label":"` + strings.ToUpper(id) + `","type":"` + kind + `"`
	for _, m := range more {
		text += "," + m
	}
	return text + "}"
}

// MapOf writes a map of items.
func MapOf(id, items string, more ...string) string {
	return In(id, "object_map", append(more, `"item_inputs":[`+items+`]`)...)
}

// ArrayOf writes a list of items.
func ArrayOf(id, items string, more ...string) string {
	return In(id, "object_array", append(more, `"item_inputs":[`+items+`]`)...)
}

// Reference writes a reference with mapped inputs.
func Reference(id, mapped string, more ...string) string {
	return In(id, "$ref:net", append(more, `"mapped_inputs":[`+mapped+`]`)...)
}

// Shown writes a show_when.
func Shown(conditions string) string { return `"show_when":{` + conditions + `}` }
