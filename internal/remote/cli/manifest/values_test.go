package manifest_test

import (
	"errors"
	"strings"
	"testing"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/inputprop/inputtest"
	"slipway/internal/pure/inputvalues"
	"slipway/internal/remote/cli/manifest"
)

const queue = `[
	{"id":"visibility_timeout","label":"T","type":"number","max":43200,"default":30},
	{"id":"rules","label":"R","type":"object_array","item_inputs":[{"id":"cidr","label":"C","type":"string","required":true},{"id":"n","label":"N","type":"number"}]},
	{"id":"owner","label":"O","type":"string","required":true},
	{"id":"tags","label":"G","type":"keyvalue"}
]`

// judged returns what a server finds in values, one a line.
func judged(t *testing.T, inputs []inputprop.Property, v *manifest.Values) string {
	t.Helper()
	violations, err := inputvalues.NewEngine(inputtest.Patterns{}).Validate(t.Context(), inputs, v.Root(), "", inputvalues.Env{})
	if err != nil {
		t.Fatal(err)
	}
	return v.Findings(violations).Error()
}

func TestViolationsStandWhereValuesWereWritten(t *testing.T) {
	t.Parallel()
	inputs := inputtest.MustDecodeList(t, queue)
	var v manifest.Values
	for _, err := range []error{
		v.Read("base.yaml", []byte("visibility_timeout: 1\ntags: {a: b}\nrules:\n  - {cidr: x}\n  - n: 1\n")),
		v.Read("prod.yaml", []byte("# production\n\nvisibility_timeout: 90000\ntags:\n  a: 1\ngone: 1\n")),
		v.SetPointer("/rules/0/n", `"one"`),
		v.SetPointer("/rules/-", `{"cidr":""}`),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got, want := string(v.Root().JSON()), `{"visibility_timeout":90000,"tags":{"a":1},"rules":[{"cidr":"x","n":"one"},{"n":1},{"cidr":""}],"gone":1}`; got != want {
		t.Errorf("the values are %s", got)
	}
	want := `prod.yaml:6:1: /gone is not the id of an input that has a value (unknown_input)
prod.yaml:3:21: /visibility_timeout must be at most 43200, found 90000 (max)
--set-json /rules/0/n: /rules/0/n must be a whole number, found the string "one" (type)
base.yaml:5:5: /rules/1/cidr is required and must not be empty (required)
--set-json /rules/-: /rules/2/cidr is required and must not be empty (required)
base.yaml:1:1: /owner is required and must not be empty (required)
prod.yaml:5:6: /tags/a must be a string, found the number 1 (type)`
	if got := judged(t, inputs, &v); got != want {
		t.Errorf("got\n%s", got)
	}
	warnings := v.Warnings([]inputprop.Warning{{Pointer: "/tags/a", Rule: "r", Message: "is odd"}})
	if got := warnings.Error(); got != "prod.yaml:5:6: warning: /tags/a is odd (r)" {
		t.Errorf("a warning: %s", got)
	}
}

func TestPlacesThatAreOver(t *testing.T) {
	t.Parallel()
	var v manifest.Values
	odd := func(pointer string) string {
		return v.Findings([]fault.Violation{{Pointer: pointer, Message: "is odd", Rule: "r"}}).Error()
	}
	if err := errors.Join(v.Read("a.yaml", []byte("tags: {a: 1}\nlist:\n- a\n- b\n- c")), v.SetPointer("/tags/a", "2"), v.Read("b.yaml", []byte("tags: {a: 3}"))); err != nil {
		t.Fatal(err)
	}
	if got := odd("/tags/a"); got != "b.yaml:1:11: /tags/a is odd (r)" {
		t.Errorf("what a later file has: %s", got)
	}
	if err := v.Unset("/list/0"); err != nil {
		t.Fatal(err)
	}
	if got := odd("/list/1"); got != "--unset /list/0: /list/1 is odd (r)" {
		t.Errorf("an item that has moved: %s", got)
	}
}

func TestUnset(t *testing.T) {
	t.Parallel()
	inputs := inputtest.MustDecodeList(t, queue)
	var v manifest.Values
	v.Give("the live deployment", strictjson.MustParse(`{"owner":"me","rules":[{"cidr":"x"},{"n":1}],"tags":{"a":"b","c":"d"}}`))
	if err := errors.Join(v.Unset("/owner"), v.Unset("/rules/0"), v.Unset("/tags/a")); err != nil {
		t.Fatal(err)
	}
	if got := string(v.Root().JSON()); got != `{"rules":[{"n":1}],"tags":{"c":"d"}}` {
		t.Errorf("the values are %s", got)
	}
	want := "--unset /rules/0: /rules/0/cidr is required and must not be empty (required)\n--unset /owner: /owner is required and must not be empty (required)"
	if got := judged(t, inputs, &v); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestSharedValuesDoNotChange(t *testing.T) {
	t.Parallel()
	given := strictjson.MustParse(`{"a":{"b":[1,{"c":2}]}}`)
	var v manifest.Values
	v.Give("x", given)
	if err := errors.Join(v.SetPointer("/a/b/1/c", "3"), v.SetPointer("/a/b/-", "4"), v.Unset("/a/b/0"), v.SetPointer("/a/d", "5")); err != nil {
		t.Fatal(err)
	}
	if got := string(given.JSON()); got != `{"a":{"b":[1,{"c":2}]}}` {
		t.Errorf("they are %s", got)
	}
	if got := string(v.Root().JSON()); got != `{"a":{"b":[{"c":3},4],"d":5}}` {
		t.Errorf("the values are %s", got)
	}
}

func TestFlagsThatCannotBe(t *testing.T) {
	t.Parallel()
	var v manifest.Values
	v.Give("x", strictjson.MustParse(`{"a":{"b":[1]},"t":"x"}`))
	for _, c := range []struct {
		err  error
		want string
	}{
		{v.SetPointer("a", "1"), `--set-json a must be a JSON Pointer such as /rules/0/cidr, found "a"`},
		{v.SetPointer("", "1"), `--set-json  must be a JSON Pointer`},
		{v.SetPointer("/a", "x"), `--set-json /a must be followed by JSON, such as true, "text" or [1]: `},
		{v.SetPointer("/a", `{"b":1,"b":2}`), `--set-json /a must be followed by JSON`},
		{v.SetPointer("/a/b/2", "1"), `--set-json /a/b/2 must have an index from 0 to 1, or -, in the list before it, found "2"`},
		{v.SetPointer("/a/b/01", "1"), `--set-json /a/b/01 must have an index`},
		{v.SetPointer("/t/x", "1"), `--set-json /t/x must lead through objects and lists, found the string "x" before "x"`},
		{v.SetPointer(strings.Repeat("/a", 65), "1"), `--set-json /a/a`},
		{v.SetPointer(strings.Repeat("/z", 64), "[]"), `--set-json /z/z`},
		{v.Unset("/a/c"), `--unset /a/c must lead to a value that was given, found none at "c"`},
		{v.Unset("/a/b/1"), `--unset /a/b/1 must lead to a value that was given, found none at "1"`},
		{v.Unset("/t/x"), `--unset /t/x must lead`},
		{v.Unset("t"), `--unset t must be a JSON Pointer`},
		{v.Read("f.yaml", nil), `f.yaml: no values; write {} for none`},
		{v.Read("f.yaml", []byte(" \n\n")), `f.yaml: no values; write {} for none`},
		{v.Read("f.yaml", []byte("- a")), `f.yaml:1:1: must be an object of values by the ids of the inputs, found an array (type)`},
		{v.Read("f.yaml", []byte("a: 017")), `f.yaml:1:4: is a number to some readers`},
	} {
		if c.err == nil || !strings.HasPrefix(c.err.Error(), c.want) {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
	for _, none := range []string{"{}", "# nothing but comments\n"} {
		if err := v.Read("f.yaml", []byte(none)); err != nil {
			t.Errorf("%q: %v", none, err)
		}
	}
	if got := string(v.Root().JSON()); got != `{"a":{"b":[1]},"t":"x"}` {
		t.Errorf("the values are %s", got)
	}
}

func TestSetIsReadByTheVariant(t *testing.T) {
	t.Parallel()
	inputs := inputtest.MustDecodeList(t, `[
		{"id":"string","label":"L","type":"string"}, {"id":"text","label":"L","type":"text"}, {"id":"gitrepo","label":"L","type":"gitrepo"},
		{"id":"number","label":"L","type":"number"}, {"id":"boolean","label":"L","type":"boolean","default":true}, {"id":"section","label":"L","type":"section"},
		{"id":"strings","label":"L","type":"string_array"}, {"id":"object","label":"L","type":"object"}, {"id":"array","label":"L","type":"array"},
		{"id":"keyvalue","label":"L","type":"keyvalue"}, {"id":"map","label":"L","type":"object_map","item_inputs":[{"id":"a","label":"L","type":"text"}]},
		{"id":"items","label":"L","type":"object_array","item_inputs":[{"id":"a","label":"L","type":"text"}]},
		{"id":"compound","label":"L","type":"compound","fields":["a"],"values":[{"label":"x","fields":{"a":1}}]},
		{"id":"net","label":"L","type":"$ref:net","mapped_inputs":[{"id":"cidr","label":"L","type":"string"}]}
	]`)
	covered := map[string]bool{}
	for _, c := range [][3]string{
		{"string", "true", `"true"`}, {"string", "", `""`}, {"string", " 017 ", `" 017 "`}, {"text", "a\nb", `"a\nb"`}, {"gitrepo", "git@h:a/b", `"git@h:a/b"`},
		{"net", "./network", `"./network"`}, {"cidr", "10", `"10"`},
		{"number", "1.0", `1.0`}, {"number", "-1e2", `-1e2`}, {"number", "017", `must be a number as JSON has it, such as 30 or -1, found "017"`}, {"number", "", `must be a number`}, {"number", "'1'", `must be a number`},
		{"boolean", "false", `false`}, {"boolean", "yes", `must be true or false, found "yes"`}, {"boolean", "1", `must be true or false, found "1"`},
		{"section", "x", `"section" is a section, which has no value`},
		{"strings", "[a, b]", `["a","b"]`}, {"strings", `["1"]`, `["1"]`}, {"strings", "a", `must be a list of texts, such as [a, b], found the string "a"`},
		{"strings", "- a\n- b", `["a","b"]`},
		{"array", "[1, [a]]", `[1,["a"]]`}, {"array", "{}", `must be a list, such as [1, [a, b]], found an object`},
		{"object", "{a: [1.50]}", `{"a":[1.50]}`}, {"object", "{a: 017}", `must be an object, such as {key: value}, in JSON or YAML: at line 1, column 5, it is a number to some readers`}, {"object", "", "must be an object, such as {key: value}, found null"},
		{"keyvalue", "{a: b}", `{"a":"b"}`}, {"keyvalue", "[]", `must be an object of texts`},
		{"map", "{x: {a: b}}", `{"x":{"a":"b"}}`}, {"map", "x", `must be an object of items by their keys`},
		{"items", "[{a: b}]", `[{"a":"b"}]`}, {"items", "{}", `must be a list of items`},
		{"compound", "{a: 1}", `{"a":1}`}, {"compound", "Small", `must be an object of the fields of an option`},
		{"numbr", "1", `"numbr" is not the id of an input, did you mean "number"; there are string, text`},
	} {
		covered[c[0]] = true
		value, err := manifest.SetByVariant(inputs, c[0], c[1])
		if got := shown(value, err); !strings.HasPrefix(got, c[2]) || err == nil && got != c[2] {
			t.Errorf("%s=%s is %s, want %s", c[0], c[1], got, c[2])
		}
	}
	for _, p := range inputs {
		if !covered[p.Head().ID] {
			t.Errorf("%s is not tried", p.Head().ID)
		}
	}
	if variants := len(inputprop.Variants()); len(inputs) != variants {
		t.Errorf("there are %d variants", variants)
	}
	var v manifest.Values
	if err := v.Set(inputs, "number", "x"); err == nil || !strings.HasPrefix(err.Error(), "--set number: must be a number") {
		t.Errorf("a flag: %v", err)
	}
	if err := v.Set(inputs, "number", "5"); err != nil || v.Findings([]fault.Violation{{Pointer: "/number", Message: "is odd", Rule: "r"}}).Error() != "--set number: /number is odd (r)" {
		t.Errorf("a flag: %v, %s", err, v.Root().JSON())
	}
}

func shown(value *strictjson.Node, err error) string {
	if err != nil {
		return err.Error()
	}
	return string(value.JSON())
}
