package inputprop_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
)

func TestEveryVariantSurvivesARoundTrip(t *testing.T) {
	t.Parallel()
	list, violations := inputprop.DecodeList(parse(t, fixture(t)), "")
	if len(violations) > 0 {
		t.Fatal(violations)
	}
	sameJSON(t, string(inputprop.EncodeList(list)), fixture(t))
	for _, p := range list {
		again := mustDecode(t, string(inputprop.Encode(p)))
		if diff := cmp.Diff(p, again); diff != "" {
			t.Errorf("%T: %s", p, diff)
		}
	}
}

func TestTheFixtureHasEveryMemberOfEveryVariant(t *testing.T) {
	t.Parallel()
	var raw []map[string]json.RawMessage
	if err := json.Unmarshal([]byte(fixture(t)), &raw); err != nil {
		t.Fatal(err)
	}
	list, _ := inputprop.DecodeList(parse(t, fixture(t)), "")
	names := map[string]bool{}
	for i, p := range list {
		names[reflect.TypeOf(p).Elem().Name()] = true
		for _, f := range reflect.VisibleFields(reflect.TypeOf(p).Elem()) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if _, ok := raw[i][name]; !ok && name != "" {
				t.Errorf("%T has no %s", p, name)
			}
		}
	}
	for _, n := range namesOfVariants() {
		if !names[n.goType] {
			t.Errorf("the fixture has no %s", n.goType)
		}
	}
}

func TestTheLeastOfEveryVariantIsWrittenBackAsItWas(t *testing.T) {
	t.Parallel()
	item := `[{"id":"x","label":"X","type":"text"}]`
	for kind, rest := range map[string]string{
		"string": "", "text": "", "object": "", "array": "", "string_array": "", "number": "", "section": "", "gitrepo": "", "keyvalue": "", "$ref:vpc": "",
		"boolean": `,"default":false`, "object_map": `,"item_inputs":` + item, "object_array": `,"item_inputs":` + item,
		"compound": `,"fields":["a"],"values":[]`,
	} {
		text := fmt.Sprintf(`{"id":"a","label":"A","type":%q%s}`, kind, rest)
		sameJSON(t, string(inputprop.Encode(mustDecode(t, text))), text)
	}
}

func TestEmptyAndFalseAreNotAbsent(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"id":"a","label":"A","type":"string","default":"","patterns":[],"placeholder":"","description":"","required":false,"values":[],"show_when":{}}`,
		`{"id":"a","label":"A","type":"number","default":0,"min":0,"max":0,"min_current_value":false}`,
		`{"id":"a","label":"A","type":"string_array","default":[]}`,
		`{"id":"a","label":"A","type":"keyvalue","default":{}}`,
		`{"id":"a","label":"A","type":"object","default":{}}`,
		`{"id":"a","label":"A","type":"$ref:a","mapped_inputs":[]}`,
		`{"id":"a","label":"A","type":"string","values":{"source":"s","params":{}}}`,
		`{"id":"a","label":"A","type":"object_map","item_inputs":[{"id":"a","label":"A","type":"section"}],"key":{"from_fields":[]}}`,
	} {
		sameJSON(t, string(inputprop.Encode(mustDecode(t, text))), text)
	}
}

func TestDifferentSpellingsOfAWholeNumberAreOneValue(t *testing.T) {
	t.Parallel()
	p := mustDecode(t, `{"id":"a","label":"A","type":"number","default":1e3,"min":-0,"max":1000.0}`).(*inputprop.NumberProperty)
	if p.Default.Literal != 1000 || *p.Min != 0 || *p.Max != 1000 {
		t.Errorf("got %+v", p)
	}
}

// refusals are members of a variant that break one rule each.
var refusals = []struct{ kind, members, want string }{
	{"string", `"default":5`, "/default type"},
	{"string", `"default":null`, "/default null"},
	{"string", `"default":"` + strings.Repeat("x", 10_001) + `"`, "/default max_length"},
	{"string", `"required":"yes"`, "/required type"},
	{"string", `"collapsible":0`, "/collapsible type"},
	{"string", `"patterns":{}`, "/patterns type"},
	{"string", `"patterns":[{"pattern":"a"}]`, "/patterns/0/message required"},
	{"string", `"patterns":[{"message":"a"}]`, "/patterns/0/pattern required"},
	{"string", `"patterns":[{"message":"a","pattern":"a","flags":"i"}]`, "/patterns/0/flags unknown_field"},
	{"string", `"patterns":[{"message":"a","pattern":"` + strings.Repeat("x", 1001) + `"}]`, "/patterns/0/pattern max_length"},
	{"string", `"values":"a"`, "/values type"},
	{"string", `"values":[1]`, "/values/0 type"},
	{"string", `"values":["a",null]`, "/values/1 type"},
	{"string", `"values":[{"label":"A"}]`, "/values/0/value required"},
	{"string", `"values":[{"value":"a","label":null}]`, "/values/0/label null"},
	{"string", `"values":["` + strings.Repeat("x", 10_001) + `"]`, "/values/0 max_length"},
	{"string", `"values":[{"value":"` + strings.Repeat("x", 10_001) + `"}]`, "/values/0/value max_length"},
	{"string", `"values":[` + strings.Repeat(`"a",`, 500) + `"a"]`, "/values max_items"},
	{"string", `"values":{}`, "/values/source required"},
	{"string", `"values":{"source":""}`, "/values/source min_length"},
	{"string", `"values":{"source":"s","params":{"p":1}}`, "/values/params/p type"},
	{"string", `"values":{"source":"s","params":{"p":{}}}`, "/values/params/p/input required"},
	{"string", `"values":{"source":"s","params":{"p":{"input":""}}}`, "/values/params/p/input min_length"},
	{"string", `"show_when":[]`, "/show_when type"},
	{"string", `"min":1`, "/min unknown_field"},
	{"text", `"default":true`, "/default type"},
	{"text", `"values":[]`, "/values unknown_field"},
	{"object", `"default":[]`, "/default type"},
	{"object", `"default":{"a":["` + strings.Repeat("x", 10_001) + `"]}`, "/default/a/0 max_length"},
	{"array", `"default":{}`, "/default type"},
	{"string_array", `"default":["a",1]`, "/default/1 type"},
	{"string_array", `"default":["` + strings.Repeat("x", 10_001) + `"]`, "/default/0 max_length"},
	{"string_array", `"default":"$values:first"`, "/default type"},
	{"string_array", `"values":[true]`, "/values/0 type"},
	{"number", `"default":"5"`, "/default type"},
	{"number", `"default":2147483648`, "/default int32"},
	{"number", `"min":1.5`, "/min int32"},
	{"number", `"max":-1e400`, "/max int32"},
	{"number", `"values":["a"]`, "/values/0 type"},
	{"number", `"values":[1.5]`, "/values/0 int32"},
	{"number", `"values":[{"value":1.5}]`, "/values/0/value int32"},
	{"number", `"patterns":[]`, "/patterns unknown_field"},
	{"boolean", `"default":"true"`, "/default type"},
	{"boolean", `"default":null`, "/default null"},
	{"boolean", `"description":""`, "/default required"},
	{"boolean", `"default":true,"required":true`, "/required unknown_field"},
	{"section", `"collapsible":true`, "/collapsible unknown_field"},
	{"section", `"immutable":true`, "/immutable unknown_field"},
	{"section", `"default":true`, "/default unknown_field"},
	{"section", `"required":true`, "/required unknown_field"},
	{"object_map", `"default":{}`, "/item_inputs required"},
	{"object_map", `"item_inputs":[]`, "/item_inputs min_items"},
	{"object_map", `"item_inputs":[{"id":"a","label":"A","type":"section"}],"key":{"from_fields":[1]}`, "/key/from_fields/0 type"},
	{"object_map", `"item_inputs":[{"id":"a","label":"A","type":"section"}],"item_title":{}`, "/item_title/template required"},
	{"object_map", `"item_inputs":[{"id":"a","label":"A","type":"section"}],"item_description":""`, "/item_description unknown_field"},
	{"object_array", `"item_inputs":[{"id":"a","label":"A","type":"section"}],"default":[{},1]`, "/default/1 type"},
	{"object_array", `"item_inputs":[{"id":"a","label":"A","type":"section"}],"key":{}`, "/key unknown_field"},
	{"object_array", `"item_inputs":[{"id":"","label":"A","type":"section"}]`, "/item_inputs/0/id min_length"},
	{"compound", `"values":[]`, "/fields required"},
	{"compound", `"fields":["a"]`, "/values required"},
	{"compound", `"fields":[],"values":[]`, "/fields min_items"},
	{"compound", `"fields":["a"],"values":[],"default":"x"`, "/default type"},
	{"compound", `"fields":["a"],"values":[],"default":{"a":[]}`, "/default/a type"},
	{"compound", `"fields":["a"],"values":[],"default":{"a":1.5}`, "/default/a int32"},
	{"compound", `"fields":["a"],"values":["x"]`, "/values/0 type"},
	{"compound", `"fields":["a"],"values":[{"label":"L"}]`, "/values/0/fields required"},
	{"compound", `"fields":["a"],"values":[{"label":"","fields":{}}]`, "/values/0/label min_length"},
	{"compound", `"fields":["a"],"values":[{"fields":{}}]`, "/values/0/label required"},
	{"compound", `"fields":["a"],"values":[{"label":"L","fields":{"a":null}}]`, "/values/0/fields/a type"},
	{"$ref:a", `"default":"x"`, "/default unknown_field"},
	{"$ref:a", `"mapped_inputs":[{"id":"b","label":"B","type":"$ref:b"}]`, "/mapped_inputs/0/type nested_reference"},
	{"$ref:a", `"mapped_inputs":[{"id":"b","label":"B","type":"object_map","item_inputs":[{"id":"b","label":"B","type":"$ref:b"}]}]`, "/mapped_inputs/0/item_inputs/0/type nested_reference"},
	{"$ref:a", `"mapped_inputs":[{"id":"b","label":"B","type":"number","default":"${{ project.id }}"}]`, "/mapped_inputs/0/default type"},
	{"$ref:a", `"mapped_inputs":[{"id":"b","label":"B","type":"number","default":"${{ ref.a }} ${{ ref.b }}"}]`, "/mapped_inputs/0/default type"},
	{"gitrepo", `"default":"http://host/a/b"`, "/default format"},
	{"gitrepo", `"values":[]`, "/values unknown_field"},
	{"keyvalue", `"default":{"a":1}`, "/default/a type"},
	{"keyvalue", `"placeholder":""`, "/placeholder unknown_field"},
	{"$ref:", `"required":true`, "/type format"},
	{"$ref:-a", `"required":true`, "/type format"},
	{"$ref:a//b", `"required":true`, "/type format"},
	{"$ref:a b", `"required":true`, "/type format"},
	{"$ref:a\n", `"required":true`, "/type format"},
	{"$ref:" + strings.Repeat("a", 196), `"required":true`, "/type format"},
	{"strin", `"required":true`, "/type unknown_type"},
}

func TestEachRuleOfAVariantIsReported(t *testing.T) {
	t.Parallel()
	for _, c := range refusals {
		kind, _ := json.Marshal(c.kind)
		_, violations := decode(t, fmt.Sprintf(`{"id":"a","label":"A","type":%s,%s}`, kind, c.members))
		if got := places(violations); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%.20s %.80s: got %v, want %s", c.kind, c.members, violations, c.want)
		}
	}
}

func TestMessagesSayWhatElseIsAllowed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"id":"a","label":"A","type":"number","default":"5"}`:                                                           `must be a whole number or "$values:first", found the string "5"`,
		`{"id":"a","label":"A","type":"strng"}`:                                                                          `must be one of string, text, object, object_map, object_array, array, string_array, number, boolean, section, compound, $ref:<module-type>, gitrepo, keyvalue, found "strng", did you mean "string"`,
		`{"id":"a","label":"A","type":"string","showWhen":{}}`:                                                           `is not a field here, did you mean "show_when"; allowed are id, label, type, description, show_when, collapsible, immutable, required, min_current_value, no_options_message, default, patterns, placeholder, values`,
		`{"id":"a","label":"A","type":"gitrepo","default":"a"}`:                                                          `must be a repository URL such as https://host/owner/repo, ssh://git@host/owner/repo or git@host:owner/repo, found "a": it has no host`,
		`{"id":"a","label":"A","type":"$ref:a","mapped_inputs":[{"id":"b","label":"B","type":"boolean","default":"x"}]}`: `must be a boolean or one reference such as ${{ ref.input.name }}, found the string "x"`,
	} {
		if _, violations := decode(t, text); len(violations) != 1 || violations[0].Message != want {
			t.Errorf("%s: got %v", text, violations)
		}
	}
}

func TestReferencesStandForAnyTypeWithinMappedInputsOnly(t *testing.T) {
	t.Parallel()
	item := `"item_inputs":[{"id":"x","label":"X","type":"boolean","default":"${{ ref.input.x }}"}],`
	for kind, rest := range map[string]string{
		"string": "", "text": "", "object": "", "array": "", "string_array": "", "number": "", "gitrepo": "", "keyvalue": "", "boolean": "",
		"object_map": item, "object_array": item, "compound": `"fields":["a"],"values":[],`,
	} {
		input := fmt.Sprintf(`{"id":"b","label":"B","type":%q,%s"default":"${{ ref.stack.output.b }}"}`, kind, rest)
		text := `{"id":"a","label":"A","type":"$ref:a","mapped_inputs":[` + input + `]}`
		sameJSON(t, string(inputprop.Encode(mustDecode(t, text))), text)
		_, violations := decode(t, input)
		if literal := kind == "string" || kind == "text" || kind == "gitrepo"; literal != (len(violations) == 0) {
			t.Errorf("%s outside: %v", kind, violations)
		}
	}
	p := mustDecode(t, `{"id":"a","label":"A","type":"$ref:a","mapped_inputs":[{"id":"b","label":"B","type":"boolean","default":"${{ ref.input.b }}"}]}`)
	b := p.(*inputprop.ReferenceProperty).MappedInputs[0].(*inputprop.BooleanProperty)
	if b.Default.Reference != "${{ ref.input.b }}" || string(b.DefaultJSON()) != `"${{ ref.input.b }}"` {
		t.Errorf("got %+v", b.Default)
	}
}

func TestAListAfterAReferenceIsOutsideItAgain(t *testing.T) {
	t.Parallel()
	_, violations := inputprop.DecodeList(parse(t, `[{"id":"a","label":"A","type":"$ref:a","mapped_inputs":[]},{"id":"b","label":"B","type":"$ref:b"},
		{"id":"c","label":"C","type":"boolean","default":"${{ ref.input.b }}"}]`), "/inputs")
	if got := places(violations); !slices.Equal(got, []string{"/inputs/2/default type"}) {
		t.Error(violations)
	}
}

func TestModuleTypesOfReferences(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"vpc", "aws/vpc", "acme.net:v2/core-1", "0", "a_b", strings.Repeat("a", 195)} {
		p := mustDecode(t, `{"id":"a","label":"A","type":"$ref:`+kind+`"}`).(*inputprop.ReferenceProperty)
		if p.ModuleType() != kind {
			t.Errorf("got %q, want %q", p.ModuleType(), kind)
		}
	}
}

func TestInputsAreCounted(t *testing.T) {
	t.Parallel()
	item := `{"id":"x","label":"X","type":"section"}`
	within := func(items int) string {
		return `{"id":"a","label":"A","type":"object_array","item_inputs":[` + strings.Repeat(item+",", items-1) + item + `]}`
	}
	mustDecode(t, within(499))
	_, violations := decode(t, within(600))
	if got := places(violations); !slices.Equal(got, []string{"/item_inputs/499 max_inputs"}) {
		t.Error(got)
	}
}

func TestLevelsAreCountedFromTheProperty(t *testing.T) {
	t.Parallel()
	nested := func(levels int) string {
		return `{"id":"a","label":"A","type":"array","default":` + strings.Repeat("[", levels) + strings.Repeat("]", levels) + `}`
	}
	for levels, want := range map[int][]string{63: {}, 64: {"/data/schema max_depth"}} {
		n, err := strictjson.ParseWithin([]byte(`{"data":{"schema":`+nested(levels)+`}}`), strictjson.Limits{Depth: 80})
		if err != nil {
			t.Fatal(err)
		}
		_, violations := inputprop.NewRawProperty(n.Get("data").Get("schema")).Decode("/data/schema")
		if got := places(violations); !slices.Equal(got, want) {
			t.Errorf("%d levels: %v", levels, got)
		}
	}
}

func TestNothingIsNoProperty(t *testing.T) {
	t.Parallel()
	for _, d := range []inputprop.RawProperty{{}, inputprop.NewRawProperty(nil)} {
		if _, violations := d.Decode("/schema"); !slices.Equal(places(violations), []string{"/schema required"}) {
			t.Error(violations)
		}
	}
	if _, violations := inputprop.DecodeList(nil, ""); !slices.Equal(places(violations), []string{" required"}) {
		t.Error(violations)
	}
	for text, want := range map[string][]string{
		`null`:                              {" null"},
		`"string"`:                          {" type"},
		`{}`:                                {"/id required", "/label required", "/type required"},
		`{"id":"a","label":"A","type":1}`:   {"/type type"},
		`{"id":"","label":"A","type":null}`: {"/id min_length", "/type null"},
	} {
		if _, violations := decode(t, text); !slices.Equal(places(violations), want) {
			t.Errorf("%s: %v", text, violations)
		}
	}
}
