package inputrules_test

import (
	"slices"
	"strings"
	"testing"
)

func TestEveryRuleOfInputsRefusesAndAllows(t *testing.T) {
	t.Parallel()
	text, number := in("t", "text"), in("n", "number")
	for _, c := range []struct {
		list string
		want string // violations as "pointer rule", joined by semicolons
	}{
		// ids, bounds
		{text + "," + in("t", "section"), "/1/id unique_id"},
		{in("n", "number", `"min":1,"max":1`), ""},
		{in("n", "number", `"min":2,"max":1`), "/0/min min_max"},

		// static values
		{in("s", "string", listed, lower), ""},
		{in("s", "string", `"values":["a","b","a",{"value":"b"}]`), "/0/values/2 unique_value; /0/values/3 unique_value"},
		{in("s", "string", `"values":["a","B",{"value":"C"}]`, lower), "/0/values/1 pattern; /0/values/2/value pattern"},
		{in("l", "string_array", `"values":["a","A"]`, lower), "/0/values/1 pattern"},
		{in("n", "number", `"min":1,"max":3,"values":[1,2,{"value":3}]`), ""},
		{in("n", "number", `"min":1,"max":3,"values":[0,2,{"value":4}]`), "/0/values/0 min; /0/values/2/value max"},
		{in("n", "number", `"values":[1,1.0]`), "/0/values/1 unique_value"},
		{in("n", "number", `"values":[]`), ""},

		// compound
		{in("c", "compound", sizes), ""},
		{in("c", "compound", `"fields":["cpu","cpu"],"values":[]`), "/0/fields/1 unique_field"},
		{in("c", "compound", `"fields":["cpu","mem"],"values":[{"label":"S","fields":{"cpu":1}}]`), "/0/values/0/fields/mem missing_field"},
		{in("c", "compound", `"fields":["a"],"values":[{"label":"S","fields":{"a":1}},{"label":"L","fields":{"a":"1"}}]`), "/0/values/1/fields/a field_type"},
		{in("c", "compound", `"fields":["a"],"values":[{"label":"S","fields":{"a":1,"b":1}},{"label":"L","fields":{"a":1,"b":2}}]`), "/0/values/1 unique_value"},
		{in("c", "compound", `"fields":["a","b"],"values":[{"label":"S","fields":{"a":1,"b":1}},{"label":"L","fields":{"a":1,"b":2}}]`), ""},

		// the first of the values
		{in("s", "string", listed, `"default":"$values:first"`), ""},
		{in("s", "string", `"values":{"source":"x"}`, `"default":"$values:first"`), ""},
		{in("s", "string", `"default":"$values:first"`), "/0/default values_first"},
		{in("n", "number", `"values":[]`, `"default":"$values:first"`), "/0/default values_first"},
		{in("c", "compound", `"fields":["a"],"values":[]`, `"default":"$values:first"`), "/0/default values_first"},
		{in("c", "compound", sizes, `"default":"$values:first"`), ""},

		// defaults
		{in("s", "string", listed, `"default":"b"`), ""},
		{in("s", "string", listed, `"default":"c"`), "/0/default not_in_values"},
		{in("s", "string", listed, `"default":""`), "/0/default not_in_values"},
		{in("s", "string", `"values":["a",""]`, lower, `"default":""`), ""},
		{in("l", "string_array", lower, `"values":["a",""]`), "/0/values/1 pattern"},
		{in("l", "string_array", lower, `"default":["a",""]`), "/0/default/1 pattern"},
		{arrayOf("a", in("n", "number"), `"default":[{"n":""}]`), "/0/default/0/n type"},
		{arrayOf("a", in("b", "boolean", `"default":true`), `"default":[{"b":null},{"b":""}]`), "/0/default/0/b type; /0/default/1/b type"},
		{mapOf("m", in("g", "gitrepo")+","+in("s", "string", listed), `"default":{"x":{"g":"","s":""},"y":{"g":null,"s":null}}`), "/0/default/x/s not_in_values"},
		{in("s", "string", `"values":{"source":"x"}`, `"default":"c"`), ""},
		{in("s", "string", lower, `"default":"B"`), "/0/default pattern"},
		{in("s", "string", lower, `"default":""`, `"required":true`), ""},
		{in("t", "text", lower, `"default":"B"`), "/0/default pattern"},
		{in("n", "number", `"min":2,"max":3,"default":3`), ""},
		{in("n", "number", `"min":2,"max":3,"default":1`), "/0/default min"},
		{in("n", "number", `"min":2,"max":3,"default":4`), "/0/default max"},
		{in("n", "number", `"values":[1,2],"default":3`), "/0/default not_in_values"},
		{in("l", "string_array", listed, lower, `"default":["a","C"]`), "/0/default/1 pattern"},
		{in("l", "string_array", listed, `"default":["a","c"]`), "/0/default/1 not_in_values"},
		{in("l", "string_array", listed, `"default":["a","${{ project.slug }}"]`), ""},
		{in("c", "compound", sizes, `"default":{"cpu":1,"mem":"2G"}`), ""},
		{in("c", "compound", sizes, `"default":{"cpu":1,"mem":"8G"}`), "/0/default not_in_values"},
		{in("c", "compound", sizes, `"default":{"cpu":1,"mem":"2G","arm":true}`), "/0/default/arm unknown_field"},
		{in("c", "compound", sizes, `"default":{"cpu":1}`), "/0/default/mem required"},
		{in("k", "keyvalue", `"default":{"a":"b"}`), ""},
		{in("k", "keyvalue", `"default":{"":"b"}`), "/0/default/ key_empty"},

		// defaults of collections
		{arrayOf("a", in("n", "number", `"max":5,"required":true`), `"default":[{"n":5},{}]`), ""},
		{arrayOf("a", in("n", "number", `"max":5`), `"default":[{"n":6},{"m":1},{"n":"1"}]`), "/0/default/0/n max; /0/default/1/m unknown_input; /0/default/2/n type"},
		{arrayOf("a", in("n", "number")+","+in("s", "section"), `"default":[{"s":1}]`), "/0/default/0/s unknown_input"},
		{mapOf("m", arrayOf("a", in("n", "number", `"max":5`)), `"default":{"x/y":{"a":[{"n":6}]}}`), "/0/default/x~1y/a/0/n max"},
		{mapOf("m", text, `"default":{"x":1}`), "/0/default/x type"},
		{mapOf("m", text, `"default":{"":{}}`), "/0/default/ key_empty"},
		{mapOf("m", text, `"key":{`+lower+`}`, `"default":{"A":{}}`), "/0/default/A pattern"},
		{mapOf("m", in("s", "string"), `"key":{"from_fields":["s"],`+lower+`}`, `"default":{"A":{"s":"b"},"B":{"s":"C"},"C":{}}`), "/0/default/B pattern"},
		{mapOf("m", in("s", "string"), `"key":{"from_fields":["s"]}`, `"default":{"1":{"s":"b"},"2":{"s":"b"}}`), "/0/default/2 key_unique"},
		{arrayOf("a", in("kind", "string")+","+in("n", "number", `"max":5`, shown(`"kind":"x"`)), `"default":[{"kind":"y","n":6}]`), ""},
		{arrayOf("a", in("kind", "string", `"default":"x"`)+","+in("n", "number", `"max":5`, shown(`"kind":"x"`)), `"default":[{"n":6}]`), "/0/default/0/n max"},
		{arrayOf("a", in("s", "string", listed), `"default":[{"s":"${{ project.slug }}"}]`), ""},
		{arrayOf("a", in("s", "string", `"default":"${{ project.slug }}"`)+","+in("n", "number", `"max":5`, shown(`"s":{"not":""}`)), `"default":[{"n":6}]`), "/0/default/0/n max"},

		{arrayOf("a", in("n", "number", `"max":5,"default":6`), `"default":[{}]`), "/0/item_inputs/0/default max"},
		{arrayOf("a", in("t", "text", `"required":true`), `"default":[{"t":""}]`), ""},

		// templates
		{in("s", "string", `"default":"${{ organization.slug }}-${{project.name}}-${{ environment.id }}-${{ module.version }}"`, lower), ""},
		{in("s", "string", `"default":"${{ module.slug }}"`), "/0/default template_path"},
		{in("s", "string", `"default":"${{ projet.slug }}"`), "/0/default template_root"},
		{in("s", "string", `"default":"echo $${{ github.sha }} $${{"`), ""},
		{in("s", "string", `"default":"a\nb"`), "/0/default line_break"},
		{in("s", "string", `"values":["a",{"value":"b\r"}]`), "/0/values/1/value line_break"},
		{in("s", "text", `"default":"a\nb"`), ""},
		{in("s", "string", `"default":"${{ project }}"`), "/0/default template_path"},
		{in("s", "string", `"default":"${{ project.slug"`), "/0/default template_syntax"},
		{in("s", "string", `"default":"${{ }}"`), "/0/default template_syntax"},
		{in("s", "string", `"default":"${{ a b }}"`), "/0/default template_syntax"},
		{in("s", "string", `"default":"${{ ref.input.x }}"`), "/0/default template_ref"},
		{in("o", "object", `"default":{"a":["${{ x.y }}"]}`), "/0/default/a/0 template_root"},
		{in("o", "array", `"default":[{"b":"${{ x.y }}"}]`), "/0/default/0/b template_root"},
		{in("k", "keyvalue", `"default":{"a":"${{ x.y }}"}`), "/0/default/a template_root"},
		{in("g", "gitrepo", `"default":"https://h/${{ project.slug }}/${{ module.nme }}"`), "/0/default template_path"},
		{in("l", "string_array", `"default":["${{ x.y }}"]`), "/0/default/0 template_root"},
		{mapOf("m", text, `"default":{"k":{"t":"${{ x.y }}"}}`), "/0/default/k/t template_root"},
		{in("c", "compound", `"fields":["a"],"values":[{"label":"L","fields":{"a":"${{"}}],"default":{"a":"${{"}`), ""},
		{reference("r", in("n", "number", `"default":"${{ ref.stack.output.port }}"`)), ""},
		{reference("r", in("s", "string", `"default":"x-${{ ref.input.a }}"`)), ""},
		{reference("r", in("n", "number", `"default":"${{ ref.output.port }}"`)), "/0/mapped_inputs/0/default template_path"},
		{reference("r", in("n", "number", `"default":"${{ ref.input.a.b }}"`)), "/0/mapped_inputs/0/default template_path"},
		{reference("r", arrayOf("a", text, `"default":[{"t":"${{ ref.input.x }}"}]`)), ""},
		{reference("r", text) + "," + in("s", "string", `"default":"a ${{ ref.input.a }}"`), "/1/default template_ref"},

		// patterns
		{in("s", "string", `"patterns":[{"pattern":"(","message":"m"}]`), "/0/patterns/0/pattern pattern_syntax"},
		{in("s", "string", `"patterns":[{"pattern":"groups","message":"m"}]`, `"default":"groups"`), "/0/patterns/0/pattern pattern_limit"},
		{in("t", "text", `"patterns":[{"pattern":"a","message":"m"},{"pattern":"[","message":"m"}]`, `"default":"a"`), "/0/patterns/1/pattern pattern_syntax"},
		{in("l", "string_array", `"patterns":[{"pattern":"(","message":"m"}]`, `"values":["a"]`), "/0/patterns/0/pattern pattern_syntax"},
		{mapOf("m", text, `"key":{"patterns":[{"pattern":"(","message":"m"}]}`), "/0/key/patterns/0/pattern pattern_syntax"},
		{in("s", "string", `"patterns":[{"pattern":"slow","message":"m"}]`, `"default":"a"`), "/0/default pattern_too_slow"},

		// conditions
		{text + "," + in("s", "string", shown(`"t":"x"`)), ""},
		{in("s", "string", shown(`"t":"x"`)), "/0/show_when/t unknown_input"},
		{in("s", "string", shown(`"s":"x"`)), "/0/show_when/s self_reference"},
		{in("d", "section") + "," + in("s", "string", shown(`"d":"x"`)), "/1/show_when/d no_value"},
		{in("d", "section", shown(`"t":"x"`)) + "," + text, ""},
		{text + "," + arrayOf("a", in("x", "text", shown(`"t":"x"`))), "/1/item_inputs/0/show_when/t unknown_input"},
		{in("a", "text", shown(`"b":1`)) + "," + in("b", "text", shown(`"c":1`)) + "," + in("c", "text", shown(`"a":1`)), "/2 cycle"},
		{text + "," + number + "," + in("s", "text", shown(`"t":{"equals":{"a":1},"not":{"any_of":[1,"a"]},"contains":null,"contains_any":[],"contains_all":[1],"contains-all":[2],"exists":false},"n":[1,null]`)), ""},
		{text + "," + in("s", "text", shown(`"t":{"is":1}`)), "/1/show_when/t/is operator"},
		{text + "," + in("s", "text", shown(`"t":{}`)), "/1/show_when/t operator"},
		{text + "," + in("s", "text", shown(`"t":{"not":{"any":[1]}}`)), "/1/show_when/t/not/any operator"},
		{text + "," + in("s", "text", shown(`"t":{"any_of":1,"contains_any":"a","contains_all":{},"contains-all":null,"exists":"yes"}`)),
			"/1/show_when/t/any_of operand; /1/show_when/t/contains_any operand; /1/show_when/t/contains_all operand; /1/show_when/t/contains-all operand; /1/show_when/t/exists operand"},
		{text + "," + in("s", "text", shown(`"t":null`)), "/1/show_when/t operand"},
		{text + "," + in("s", "text", shown(`"t":{"not":null,"equals":null,"any_of":[1,null]}`)), "/1/show_when/t/not operand; /1/show_when/t/equals operand; /1/show_when/t/any_of/1 operand"},

		// parameters of dynamic values
		{text + "," + in("s", "string", `"values":{"source":"x","params":{"p":{"input":"t"},"q":"text"}}`), ""},
		{in("s", "string", `"values":{"source":"x","params":{"p":{"input":"t"}}}`), "/0/values/params/p/input unknown_input"},
		{in("s", "string", `"values":{"source":"x","params":{"p":{"input":"s"}}}`), "/0/values/params/p/input self_reference"},
		{in("d", "section") + "," + in("s", "string", `"values":{"source":"x","params":{"p":{"input":"d"}}}`), "/1/values/params/p/input no_value"},
		{in("a", "text", shown(`"s":"x"`)) + "," + in("s", "string", `"values":{"source":"x","params":{"p":{"input":"a"}}}`), "/1 cycle"},

		// keys and titles
		{mapOf("m", in("s", "string")+","+number+","+in("b", "boolean", `"default":true`), `"key":{"from_fields":["s","n","b",null,""]}`), ""},
		{mapOf("m", text, `"key":{"from_fields":["x",null]}`), "/0/key/from_fields/0 unknown_input"},
		{mapOf("m", text, `"key":{"from_fields":[null,"t"]}`), "/0/key/from_fields/1 from_field_type"},
		{mapOf("m", text, `"item_title":{"template":"{{x} {key}: {t}"}`), ""},
		{mapOf("m", text, `"item_title":{"template":"{x}"}`), "/0/item_title/template placeholder_input"},
		{mapOf("m", text+","+in("d", "section"), `"item_title":{"template":"{d}"}`), "/0/item_title/template placeholder_input"},
		{mapOf("m", text, `"item_title":{"template":"{t"}`), "/0/item_title/template placeholder_syntax"},
		{mapOf("m", text, `"item_title":{"template":"{}"}`), "/0/item_title/template placeholder_syntax"},
		{arrayOf("a", text, `"item_title":{"template":"{t}"}`, `"item_description":"}{t}{{"`), ""},
		{arrayOf("a", text, `"item_title":{"template":"{key}"}`), "/0/item_title/template placeholder_input"},
		{arrayOf("a", in("key", "text"), `"item_title":{"template":"{key}"}`), ""},
		{arrayOf("a", text, `"item_description":"{u}"`), "/0/item_description placeholder_input"},

		// mapped inputs
		{text + "," + reference("r", in("x", "text", shown(`"t":"a","r":{"exists":false}`))) + "," + in("y", "text", shown(`"x":"b"`)), ""},
		{reference("r", in("r", "text")), "/0/mapped_inputs/0/id unique_id"},
		{reference("r", in("x", "text", shown(`"z":"a"`))), "/0/mapped_inputs/0/show_when/z unknown_input"},
		{reference("r", in("x", "text"), shown(`"x":"a"`)), "/0/mapped_inputs/0 cycle"},
		{reference("r", in("n", "number", `"min":3,"max":4,"default":2`)), "/0/mapped_inputs/0/default min"},
	} {
		violations, _ := checked(t, c.list)
		if got := strings.Join(places(violations), "; "); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s\n%v", c.list, got, c.want, violations)
		}
	}
}

func TestMessagesOfRulesSayWhatIsAllowedAndWhatWasFound(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		in("size", "text") + "," + in("b", "text", shown(`"sise":1`)):                                           `must be an input of the same level, found "sise", did you mean "size"`,
		in("a", "text", shown(`"b":1`)) + "," + in("b", "text", shown(`"a":1`)):                                 "must not depend on itself, found a → b → a",
		in("s", "string", listed, `"default":"c"`):                                                              `must be one of "a", "b", found "c"`,
		in("s", "string", `"values":[]`, `"default":"c"`):                                                       `must be one of the values, of which there are none, found "c"`,
		in("s", "string", `"default":"${{ projet.slug }}"`):                                                     `must start a template's path with one of organization, project, environment, module, or write $${{ for the text ${{, found "projet.slug", did you mean "project"`,
		in("s", "string", lower, `"default":"B"`):                                                               `must match "^[a-z]+$", found "B": lower case`,
		in("a", "text") + "," + in("b", "text", shown(`"a":{"anyof":[]}`)):                                      `must be one of the operators equals, not, any_of, contains, contains_any, contains_all, contains-all, exists, did you mean "any_of"; an object to compare with stands under equals`,
		mapOf("m", in("t", "string"), `"item_title":{"template":"{u}"}`):                                        `must name one of t, key within { }, found "u"; a brace is written {{`,
		arrayOf("l", in("t", "string"), `"item_title":{"template":"{u}"}`):                                      `must name one of t within { }, found "u"; a brace is written {{`,
		in("c", "compound", sizes, `"default":{"cpu":1,"mem":"3G"}`):                                            `must be one of {"cpu":1,"mem":"2G"}, {"cpu":4,"mem":"8G"}, found {"cpu":1,"mem":"3G"}`,
		in("n", "number", `"values":[1,2,3,4,5,6,7,8,9,10,11]`, `"default":12`):                                 `must be one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …, found 12`,
		mapOf("m", in("s", "string"), `"key":{"from_fields":["s"]}`, `"default":{"1":{"s":"b"},"2":{"s":"b"}}`): `must have a key of its own, found "b" as of /0/default/1`,
	} {
		violations, _ := checked(t, list)
		if len(violations) != 1 || violations[0].Message != want {
			t.Errorf("%s\ngot  %v\nwant %s", list, violations, want)
		}
	}
}

func TestAllViolationsAreGivenAtOnce(t *testing.T) {
	t.Parallel()
	violations, _ := checked(t, in("n", "number", `"min":2,"max":1,"values":[1],"default":7`, shown(`"x":1`)))
	want := []string{"/0/min min_max", "/0/values/0 min", "/0/default max", "/0/default not_in_values", "/0/show_when/x unknown_input"}
	if got := places(violations); !slices.Equal(got, want) {
		t.Error(got)
	}
}

func TestEveryVariantStandsAlone(t *testing.T) {
	t.Parallel()
	warned := map[string][]string{}
	for _, p := range mustDecodeList(t, fixture(t)) {
		violations, warnings, err := rules.Check(t.Context(), p, "/schema")
		if err != nil || len(violations) > 0 {
			t.Errorf("%s: %v %v", p.Head().ID, violations, err)
		}
		for _, w := range warnings {
			warned[p.Head().Type] = append(warned[p.Head().Type], w.Pointer+" "+w.Rule)
		}
	}
	if got := warned["section"]; !slices.Equal(got, []string{"/schema root_section", "/schema/show_when root_show_when"}) {
		t.Error(got)
	}
	if got := warned["number"]; !slices.Equal(got, []string{"/schema/show_when root_show_when"}) {
		t.Error(got)
	}
	violations, warnings := checked(t, strings.Trim(strings.TrimSpace(fixture(t)), "[]"))
	if len(violations) != 1 || violations[0].Pointer != "/2/default/big" || violations[0].Rule != "number_precision" ||
		len(warnings) > 0 {
		t.Error("of inputs that are released, beside the number that a release would not keep: ", violations, warnings)
	}
}

func TestWhatStandsAloneStillKeepsItsOwnRules(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		in("s", "string", shown(`"x":{"is":1}`)):                                  {"/show_when/x/is operator"},
		in("s", "string", `"values":{"source":"x","params":{"p":{"input":"y"}}}`): {},
		reference("r", in("x", "text", shown(`"y":1`))):                           {"/mapped_inputs/0/show_when/y unknown_input"},
		reference("r", in("x", "text"), shown(`"x":1`)):                           {"/mapped_inputs/0 cycle"},
		arrayOf("a", in("x", "text", shown(`"y":1`))):                             {"/item_inputs/0/show_when/y unknown_input"},
	} {
		violations, _, err := rules.Check(t.Context(), mustDecode(t, text), "")
		if got := places(violations); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v %v", text, got, err)
		}
	}
}
