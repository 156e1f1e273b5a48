package inputvalues_test

import (
	"strings"
	"testing"

	"slipway/internal/pure/inputvalues"
)

// empties are the five ways to leave a value empty; "" stands for leaving it out.
var empties = []string{``, `null`, `""`, `[]`, `{}`}

// emptied is what each of empties breaks for the variants, "" for nothing; the section has no value at all.
var emptied = []struct {
	input string
	rules [5]string
}{
	{in("x", "string"), [5]string{"", "", "", "type", "type"}},
	{in("x", "string", lower), [5]string{"", "", "", "type", "type"}},
	{in("x", "string", listed), [5]string{"", "", "not_in_values", "type", "type"}},
	{in("x", "string", `"values":["a",""]`), [5]string{"", "", "", "type", "type"}},
	{in("x", "text", lower), [5]string{"", "", "", "type", "type"}},
	{in("x", "gitrepo"), [5]string{"", "", "", "type", "type"}},
	{in("x", "number"), [5]string{"", "", "type", "type", "type"}},
	{in("x", "number", `"values":[1,2]`), [5]string{"", "", "type", "type", "type"}},
	{in("x", "boolean", `"default":true`), [5]string{"", "type", "type", "type", "type"}},
	{in("x", "section"), [5]string{"", "unknown_input", "unknown_input", "unknown_input", "unknown_input"}},
	{in("x", "compound", sizes), [5]string{"", "", "type", "type", "required required"}},
	{in("x", "$ref:net"), [5]string{"", "", "type", "type", "type"}},
	{in("x", "object"), [5]string{"", "", "type", "type", ""}},
	{in("x", "array"), [5]string{"", "", "type", "", "type"}},
	{in("x", "string_array"), [5]string{"", "", "type", "", "type"}},
	{in("x", "keyvalue"), [5]string{"", "", "type", "type", ""}},
	{mapOf("x", in("t", "text")), [5]string{"", "", "type", "type", ""}},
	{arrayOf("x", in("t", "text")), [5]string{"", "", "type", "", "type"}},
}

// levels are where an input may stand: its inputs, and values with a % for "the member".
var levels = map[string]struct{ list, values string }{
	"the top":       {`%`, `{%}`},
	"a list":        {arrayOf("l", `%`), `{"l":[{%}]}`},
	"a map":         {mapOf("m", `%`), `{"m":{"k":{%}}}`},
	"a list's list": {arrayOf("l", arrayOf("i", `%`)), `{"l":[{"i":[{%}]}]}`},
	"a reference":   {reference("r", `%`), `{%}`},
}

func TestEachVariantTakesTheEmptyValuesOfItsType(t *testing.T) {
	t.Parallel()
	for level, at := range levels {
		for _, c := range emptied {
			if level == "a reference" && strings.Contains(c.input, "$ref:") {
				continue
			}
			for i, empty := range empties {
				member := ""
				if empty != "" {
					member = `"x":` + empty
				}
				values := strings.Replace(at.values, "%", member, 1)
				got := rulesOf(validated(t, strings.Replace(at.list, "%", c.input, 1), values, ""))
				if want := c.rules[i]; got != want {
					t.Errorf("%s: %s %s: got %q, want %q", level, c.input, values, got, want)
				}
			}
		}
	}
}

func TestARequiredInputRefusesWhatIsEmptyInItsType(t *testing.T) {
	t.Parallel()
	for _, c := range emptied {
		if strings.Contains(c.input, `"boolean"`) || strings.Contains(c.input, `"section"`) {
			continue
		}
		input := strings.Replace(c.input, `"label"`, `"required":true,"label"`, 1)
		for i, empty := range empties {
			want, values := c.rules[i], `{"x":`+empty+`}`
			if empty == "" {
				values = `{}`
			}
			free := strings.Contains(input, `"object"`) || strings.Contains(input, `"array"`)
			if want == "" && !free || want == "not_in_values" || empty == "" || empty == "null" {
				want = "required"
			}
			if got := rulesOf(validated(t, input, values, "")); got != want {
				t.Errorf("%s %s: got %q, want %q", input, values, got, want)
			}
		}
	}
}

func TestItemsKeysAndMembersAreJudgedAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ list, values, want string }{
		{in("a", "string_array"), `{"a":[""]}`, ""},
		{in("a", "string_array", lower), `{"a":["b","",null]}`, "/a/1 pattern; /a/2 type"},
		{in("a", "string_array", listed), `{"a":["a",""]}`, "/a/1 not_in_values"},
		{in("a", "string_array", `"values":["a",""]`), `{"a":["a",""]}`, ""},
		{in("k", "keyvalue"), `{"k":{"a":"","":"","b":null,"c":[]}}`, "/k/ key_empty; /k/b type; /k/c type"},
		{in("c", "compound", sizes), `{"c":{"cpu":1,"mem":""}}`, "/c not_in_values"},
		{in("c", "compound", sizes), `{"c":{"cpu":null,"mem":"2G"}}`, "/c/cpu type"},
		{in("c", "compound", `"fields":["a"],"values":[{"label":"none","fields":{"a":""}}]`), `{"c":{"a":""}}`, ""},
		{in("o", "object"), `{"o":{"":"","a":null,"b":[""]}}`, ""},
	} {
		if got := strings.Join(places(validated(t, c.list, c.values, "")), "; "); got != c.want {
			t.Errorf("%s %s\ngot  %s\nwant %s", c.list, c.values, got, c.want)
		}
	}
}

func TestAnEmptyTextIsAValueAndNullIsNone(t *testing.T) {
	t.Parallel()
	list := in("s", "text", `"default":"d"`) + "," +
		in("there", "section", shown(`"s":{"exists":true}`)) + "," + in("empty", "section", shown(`"s":""`)) + "," +
		in("full", "section", shown(`"s":{"not":""}`))
	for values, want := range map[string]string{
		`{}`:         `{"s":"d"} s there full`,
		`{"s":""}`:   `{"s":""} s there empty`,
		`{"s":null}`: `{"s":null} s full`,
	} {
		r, violations := resolved(t, list, values, inputvalues.Env{})
		got := string(r.Values.JSON()) + " " + strings.Join(r.Levels[0].Visible, " ")
		if got != want || len(violations) > 0 {
			t.Errorf("%s: got %s %v, want %s", values, got, violations, want)
		}
	}
}
