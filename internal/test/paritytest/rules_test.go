package paritytest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/test/worldtest"
)

// broken is a schema that breaks one rule, and one that is nearly the same and breaks none. pointer is
// where the rule is broken, within the schema.
type broken struct {
	rule, pointer string
	wrong, right  string
}

// property writes a property of a type; more are its other members.
func property(id, kind string, more ...string) string {
	return fmt.Sprintf(`{"id":%q,"label":"A label","type":%q%s}`, id, kind, strings.Join(append([]string{""}, more...), ","))
}

// items writes an object_array "a" of inputs.
func items(inputs ...string) string {
	return property("a", "object_array", `"item_inputs":[`+strings.Join(inputs, ",")+`]`)
}

// entries writes an object_map "m" of one input.
func entries(input string, more ...string) string {
	return property("m", "object_map", append([]string{`"item_inputs":[` + input + `]`}, more...)...)
}

func pattern(text string) string {
	return `"patterns":[{"pattern":"` + text + `","message":"no"}]`
}

// options writes the options of a compound input of the field f.
func options(fields ...string) string {
	list := make([]string, len(fields))
	for i, f := range fields {
		list[i] = fmt.Sprintf(`{"label":"L%d","fields":{%s}}`, i, f)
	}
	return `"fields":["f"],"values":[` + strings.Join(list, ",") + `]`
}

// manyMatches is a list whose items need more matches than a request may ask for.
func manyMatches(items int) string {
	patterns := strings.TrimSuffix(strings.Repeat(`{"pattern":"[ab]","message":"no"},`, 100), ",")
	return property("l", "string_array", `"patterns":[`+patterns+`]`, `"default":["a"`+strings.Repeat(`,"a"`, items-1)+`]`)
}

// longPatterns writes an input with patterns of 1,000 characters each.
func longPatterns(count int) string {
	one := fmt.Sprintf(`{"pattern":%q,"message":"no"},`, strings.Repeat("a", 1000))
	return property("s", "string", `"patterns":[`+strings.TrimSuffix(strings.Repeat(one, count), ",")+`]`)
}

var text1 = property("t", "text")

// everyRule has each rule of inputs.
var everyRule = []broken{
	{"unique_id", "/item_inputs/1/id", items(text1, text1), items(text1, property("u", "text"))},
	{"min_max", "/min", property("n", "number", `"min":2,"max":1`), property("n", "number", `"min":1,"max":1`)},
	{"unique_value", "/values/1", property("s", "string", `"values":["a","a"]`), property("s", "string", `"values":["a","A"]`)},
	{"unique_value", "/values/1", property("c", "compound", options(`"f":1`, `"f":1`)), property("c", "compound", options(`"f":1`, `"f":2`))},
	{"unique_field", "/fields/1", property("c", "compound", `"fields":["f","f"],"values":[]`), property("c", "compound", `"fields":["f","g"],"values":[]`)},
	{"missing_field", "/values/0/fields/f", property("c", "compound", options(`"g":1`)), property("c", "compound", options(`"f":1,"g":1`))},
	{"field_type", "/values/1/fields/f", property("c", "compound", options(`"f":1`, `"f":"1"`)), property("c", "compound", options(`"f":"0"`, `"f":"1"`))},
	{"values_first", "/default", property("s", "string", `"default":"$values:first"`), property("s", "string", `"values":["a"],"default":"$values:first"`)},
	{"pattern", "/default", property("s", "string", pattern("^a$"), `"default":"b"`), property("s", "string", pattern("^a$"), `"default":"a"`)},
	{"pattern", "/values/0", property("s", "string", pattern("^a$"), `"values":["b"]`), property("s", "string", pattern("^a$"), `"values":["a"]`)},
	{"min", "/default", property("n", "number", `"min":2,"default":1`), property("n", "number", `"min":2,"default":2`)},
	{"max", "/default", property("n", "number", `"max":2,"default":3`), property("n", "number", `"max":2,"default":2`)},
	{"not_in_values", "/default", property("s", "string", `"values":["a"],"default":"b"`), property("s", "string", `"values":["a"],"default":"a"`)},
	{"unknown_input", "/default/k/u", entries(text1, `"default":{"k":{"u":"x"}}`), entries(text1, `"default":{"k":{"t":"x"}}`)},
	{"key_empty", "/default/", property("k", "keyvalue", `"default":{"":"x"}`), property("k", "keyvalue", `"default":{"x":""}`)},
	{"key_unique", "/default/2", entries(property("s", "string"), `"key":{"from_fields":["s"]},"default":{"1":{"s":"b"},"2":{"s":"b"}}`),
		entries(property("s", "string"), `"key":{"from_fields":["s"]},"default":{"1":{"s":"b"},"2":{"s":"c"}}`)},
	{"type", "/default/k", entries(text1, `"default":{"k":1}`), entries(text1, `"default":{"k":{}}`)},
	{"required", "/default/f", property("c", "compound", options(`"f":1`), `"default":{}`), property("c", "compound", options(`"f":1`), `"default":{"f":1}`)},
	{"unknown_field", "/default/g", property("c", "compound", options(`"f":1,"g":2`), `"default":{"f":1,"g":2}`), property("c", "compound", options(`"f":1,"g":2`), `"default":{"f":1}`)},
	{"pattern_syntax", "/patterns/0/pattern", property("s", "string", pattern("(")), property("s", "string", pattern("()"))},
	{"pattern_too_slow", "/default", property("s", "string", pattern("^(?=(a+)+$)a"), `"default":"`+strings.Repeat("a", 40)+`!"`),
		property("s", "string", pattern("^(?=(a+)+$)a"), `"default":"`+strings.Repeat("a", 40)+`"`)},
	{"pattern_limit", "/patterns/0/pattern", property("s", "string", pattern(strings.Repeat("()", 255))), property("s", "string", pattern(strings.Repeat("()", 254)))},
	{"max_patterns", "/patterns/32/pattern", longPatterns(33), longPatterns(32)},
	{"max_tests", "/default/80", manyMatches(81), manyMatches(2)},
	{"template_syntax", "/default", property("s", "string", `"default":"${{ project.slug"`), property("s", "string", `"default":"${{ project.slug }}"`)},
	{"template_root", "/default", property("s", "string", `"default":"${{ projet.slug }}"`), property("s", "string", `"default":"${{ project.id }}"`)},
	{"template_path", "/default", property("s", "string", `"default":"${{ module.slug }}"`), property("s", "string", `"default":"${{ module.version }}"`)},
	{"template_ref", "/default", property("s", "string", `"default":"${{ ref.input.x }}"`),
		property("r", "$ref:aws/vpc", `"mapped_inputs":[`+property("s", "string", `"default":"${{ ref.input.x }}"`)+`]`)},
	{"self_reference", "/item_inputs/0/show_when/t", items(property("t", "text", `"show_when":{"t":"x"}`)), items(property("t", "text", `"show_when":{"u":"x"}`), property("u", "text"))},
	{"no_value", "/item_inputs/1/show_when/d", items(property("d", "section"), property("t", "text", `"show_when":{"d":"x"}`)), items(property("d", "text"), property("t", "text", `"show_when":{"d":"x"}`))},
	{"cycle", "/item_inputs/1", items(property("t", "text", `"show_when":{"u":"x"}`), property("u", "text", `"show_when":{"t":"x"}`)),
		items(property("t", "text", `"show_when":{"u":"x"}`), property("u", "text"))},
	{"operator", "/item_inputs/1/show_when/t/is", items(text1, property("u", "text", `"show_when":{"t":{"is":1}}`)), items(text1, property("u", "text", `"show_when":{"t":{"equals":1}}`))},
	{"operand", "/item_inputs/1/show_when/t/exists", items(text1, property("u", "text", `"show_when":{"t":{"exists":"no"}}`)), items(text1, property("u", "text", `"show_when":{"t":{"exists":false}}`))},
	{"from_field_type", "/key/from_fields/0", entries(text1, `"key":{"from_fields":["t"]}`), entries(property("t", "string"), `"key":{"from_fields":["t"]}`)},
	{"placeholder_syntax", "/item_title/template", entries(text1, `"item_title":{"template":"{t"}`), entries(text1, `"item_title":{"template":"{t}{{"}`)},
	{"placeholder_input", "/item_title/template", entries(text1, `"item_title":{"template":"{u}"}`), entries(text1, `"item_title":{"template":"{key}"}`)},
	{"unknown_source", "/values/source", property("s", "string", `"values":{"source":"planets"}`), property("s", "string", `"values":{"source":"projects"}`)},
	{"unknown_param", "/values/params/size", property("s", "string", `"values":{"source":"projects","params":{"size":"1"}}`), property("s", "string", `"values":{"source":"module_instances","params":{"type":"web"}}`)},
}

func TestEveryRuleIsHeldAlikeOnBothSurfaces(t *testing.T) {
	t.Parallel()
	held(t, worldtest.SQLite, everyRule)
}

func TestRulesAreHeldAlikeOnPostgreSQL(t *testing.T) {
	t.Parallel()
	held(t, worldtest.Postgres, everyRule[:4])
}

const publish = `mutation($input: PublishModuleVersionInput!) {
	publishModuleVersion(input: $input) { moduleVersion { version } } }`

// when is an input with a condition.
func when(condition string) string { return property("u", "text", `"show_when":`+condition) }

// versionRules has a rule of the inputs of a version, with where it is broken by the wrong ones.
var versionRules = map[string]struct {
	pointer      string
	wrong, right []string
}{
	"unique_id":        {"/1/id", []string{text1, text1}, []string{text1, property("u", "text")}},
	"unknown_input":    {"/1/show_when/x", []string{text1, when(`{"x":1}`)}, []string{text1, when(`{"t":1}`)}},
	"self_reference":   {"/0/show_when/u", []string{when(`{"u":1}`)}, []string{text1, when(`{"t":"u"}`)}},
	"no_value":         {"/1/show_when/d", []string{property("d", "section"), when(`{"d":1}`)}, []string{property("d", "text"), when(`{"d":1}`)}},
	"cycle":            {"/1", []string{property("t", "text", `"show_when":{"u":1}`), when(`{"t":1}`)}, []string{property("t", "text", `"show_when":{"u":1}`), property("u", "text")}},
	"operator":         {"/1/show_when/t/is", []string{text1, when(`{"t":{"is":1}}`)}, []string{text1, when(`{"t":{"not":1}}`)}},
	"operand":          {"/1/show_when/t", []string{text1, when(`{"t":null}`)}, []string{text1, when(`{"t":false}`)}},
	"template_ref":     {"/0/default", []string{property("s", "string", `"default":"${{ ref.input.x }}"`)}, []string{property("s", "string", `"default":"ref.input.x"`)}},
	"from_field_type":  {"/0/key/from_fields/0", []string{entries(text1, `"key":{"from_fields":["t"]}`)}, []string{entries(text1)}},
	"number_precision": {"/0/default/n", []string{property("o", "object", `"default":{"n":12345678901234567890}`)}, []string{property("o", "object", `"default":{"n":1234567890}`)}},
}

func TestRulesOfSiblingsAreHeldWhenAVersionIsPublished(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	p, admin := w.Fixture(t, w.Acme, "web"), w.Acme.Tokens[actor.Admin]
	publishing := func(version string, inputs ...string) worldtest.Response {
		list := make([]map[string]any, len(inputs))
		for i, text := range inputs {
			list[i] = map[string]any{"json": json.RawMessage(text)}
		}
		return w.GraphQL(t, admin, publish, map[string]any{"input": map[string]any{
			"moduleDefinitionId": p.Definition.ID, "version": version, "deploymentType": "aws:ecs", "inputs": list,
		}})
	}
	for rule, c := range versionRules {
		refused := publishing("2.0.0", c.wrong...)
		want := place{"/input/inputs" + c.pointer, rule}
		if got := first(refused.Refusal(t)); got != want || refused.Code(t) != string(fault.ModuleVersionRuleBroken) {
			t.Errorf("%s: got %v, want %v: %s", rule, got, want, refused.Body)
		}
		if answer := publishing("2.0.0-"+strings.ReplaceAll(rule, "_", "-"), c.right...); answer.Refusal(t) != nil {
			t.Errorf("%s: %s", rule, answer.Body)
		}
	}
}

// held saves every schema on both surfaces, the wrong one in vain.
func held(t *testing.T, database func(testing.TB) string, rules []broken) {
	t.Helper()
	w := worldtest.New(t, database(t))
	admin, d := w.Acme.Tokens[actor.Admin], definition(t, w, w.Acme, "image", plainSchema)
	for _, r := range rules {
		found := update.refused(t, w, admin, d.ID, `{"schema":`+r.wrong+`}`, fault.DefaultValueDefinitionRuleBroken)
		if want := (place{"/data/schema" + r.pointer, r.rule}); first(found) != want {
			t.Errorf("%.300s\ngot  %v\nwant %v", r.wrong, found["metadata"], want)
		}
		for surface, answer := range map[string]worldtest.Response{
			"REST":    update.rest(t, w, admin, d.ID, `{"schema":`+r.right+`}`),
			"GraphQL": update.graphQL(t, w, admin, d.ID, `{"schema":`+r.right+`}`),
		} {
			if answer.Refusal(t) != nil || answer.Status != 200 {
				t.Errorf("%s: %.300s: %s", surface, r.right, answer.Body)
			}
		}
	}
}

// otherPlaces are the rules whose messages name a second place, which they end with.
var otherPlaces = []string{"unique_id", "unique_value", "unique_field", "field_type", "min_max", "key_unique"}

func TestAMessageThatNamesAnotherPlaceGivesItsWholePointer(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	admin, d := w.Acme.Tokens[actor.Admin], definition(t, w, w.Acme, "image", plainSchema)
	named := map[string]bool{}
	for _, r := range everyRule {
		for root, answer := range map[string]worldtest.Response{
			"/data":  update.rest(t, w, admin, d.ID, `{"schema":`+r.wrong+`}`),
			"/input": update.graphQL(t, w, admin, d.ID, `{"schema":`+r.wrong+`}`),
		} {
			message := firstMessage(answer.Refusal(t))
			pointer := message[strings.LastIndex(message, " ")+1:]
			switch {
			case !slices.Contains(otherPlaces, r.rule):
				if regexp.MustCompile(` (again|twice|before)\b|/[a-z_]+/\d`).MatchString(message) {
					t.Errorf("%s names another place: %s", r.rule, message)
				}
			case !strings.HasPrefix(pointer, root+"/schema/") || valueAt(t, r.wrong, strings.TrimPrefix(pointer, root+"/schema")) == nil:
				t.Errorf("%s ends with no pointer from %s: %s", r.rule, root, message)
			default:
				named[r.rule] = true
			}
		}
	}
	if len(named) != len(otherPlaces) {
		t.Errorf("of %v only %v are broken", otherPlaces, named)
	}
}

// valueAt returns what a JSON Pointer without escapes leads to, nil if there is nothing.
func valueAt(t *testing.T, text, pointer string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	for _, key := range strings.Split(pointer, "/")[1:] {
		switch within := v.(type) {
		case map[string]any:
			v = within[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(within) {
				return nil
			}
			v = within[i]
		}
	}
	return v
}

// place is where a rule is broken.
type place struct{ pointer, rule string }

// first is the place of a refusal's first violation.
func first(refusal map[string]any) place {
	metadata, _ := refusal["metadata"].(map[string]any)
	violations, _ := metadata["violations"].([]any)
	if len(violations) == 0 {
		return place{}
	}
	v, _ := violations[0].(map[string]any)
	return place{fmt.Sprint(v["pointer"]), fmt.Sprint(v["rule"])}
}

// listed are the rules of inputs that the documentation has a row for.
func listed(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/inputs.md")
	if err != nil {
		t.Fatal(err)
	}
	_, chapter, _ := strings.Cut(string(page), "\n## Rules of inputs\n")
	chapter, _, _ = strings.Cut(chapter, "\nWarnings refuse nothing")
	var names []string
	for line := range strings.Lines(chapter) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			names = append(names, regexp.MustCompile("`[a-z_]+`").FindAllString(cells[1], -1)...)
		}
	}
	return names
}

func TestEveryRuleOfTheDocumentationIsHeld(t *testing.T) {
	t.Parallel()
	held := map[string]bool{}
	for _, r := range everyRule {
		held["`"+r.rule+"`"] = true
	}
	for rule := range versionRules {
		held["`"+rule+"`"] = true
	}
	names := listed(t)
	if len(names) < 28 {
		t.Errorf("the documentation lists only %v", names)
	}
	for _, name := range names {
		if !held[name] {
			t.Errorf("no schema breaks the rule %s", name)
		}
	}
}
