package inputprop_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
)

func TestTypedInputIsTheSameAsJSONForEveryVariant(t *testing.T) {
	t.Parallel()
	for _, raw := range generic(t, fixture(t)).([]any) {
		p := raw.(map[string]any)
		want := fromTyped(t, map[string]any{"json": p})
		if diff := cmp.Diff(want, fromTyped(t, asTyped(p))); diff != "" {
			t.Errorf("%v: %s", p["type"], diff)
		}
	}
}

// asTyped writes a property as GraphQL's one-of input has it.
func asTyped(property map[string]any) map[string]any {
	fields := map[string]any{}
	for name, value := range property {
		switch name {
		case "type":
			continue
		case "item_inputs", "mapped_inputs":
			var list []map[string]any
			for _, item := range value.([]any) {
				list = append(list, asTyped(item.(map[string]any)))
			}
			value = list
		case "key":
			key := map[string]any{}
			for k, v := range value.(map[string]any) {
				key[camel(k)] = v
			}
			value = key
		}
		fields[camel(name)] = value
	}
	kind := property["type"].(string)
	if moduleType, ok := strings.CutPrefix(kind, "$ref:"); ok {
		fields["moduleType"] = &moduleType
		return map[string]any{"reference": fields}
	}
	member := map[string]string{"gitrepo": "gitRepo", "keyvalue": "keyValue"}[kind]
	if member == "" {
		member = camel(kind)
	}
	return map[string]any{member: fields}
}

func camel(name string) string {
	words := strings.Split(name, "_")
	for i := range words[1:] {
		words[i+1] = strings.ToUpper(words[i+1][:1]) + words[i+1][1:]
	}
	return strings.Join(words, "")
}

func fromTyped(t *testing.T, v map[string]any) inputprop.Property {
	t.Helper()
	p, violations := rawTyped(t, v).Decode("")
	if len(violations) > 0 {
		t.Fatal(violations)
	}
	return p
}

// rawTyped is a typed input as a surface received it.
func rawTyped(t *testing.T, v any) *inputprop.RawProperty {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strictjson.ParseWithin(text, strictjson.Limits{Depth: 1000, Bytes: len(text)})
	if err != nil {
		t.Fatal(err)
	}
	p := inputprop.NewTypedProperty(n)
	return &p
}

func TestExactlyOneMemberIsTaken(t *testing.T) {
	t.Parallel()
	var none map[string]any
	var null *string
	text := map[string]any{"id": "a", "label": "A"}
	all := "must have exactly one of string, text, object, objectMap, objectArray, array, stringArray, number, boolean, section, compound, reference, gitRepo, keyValue, json, found "
	for _, c := range []struct {
		input map[string]any
		want  string
	}{
		{map[string]any{}, "/s one_of: " + all + "none"},
		{map[string]any{"text": text, "string": text}, "/s one_of: " + all + "string and text"},
		{map[string]any{"text": text, "string": nil}, "/s one_of: " + all + "string and text"},
		{map[string]any{"txt": text}, "/s one_of: " + all + "txt"},
		{map[string]any{"text": nil}, `/s one_of: must not be null in its one member, found null for "text"`},
		{map[string]any{"text": none}, `/s one_of: must not be null in its one member, found null for "text"`},
		{map[string]any{"json": null}, `/s one_of: must not be null in its one member, found null for "json"`},
		{map[string]any{"objectMap": map[string]any{"itemInputs": []any{map[string]any{"text": text}, map[string]any{}}}}, "/s/item_inputs/1 one_of: " + all + "none"},
	} {
		_, violations := rawTyped(t, c.input).Decode("/s")
		if len(violations) != 1 {
			t.Errorf("%v: %v", c.input, violations)
			continue
		}
		v := violations[0]
		if got := v.Pointer + " " + v.Rule + ": " + v.Message; got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestViolationsOfTypedInputArePlacedInTheJSON(t *testing.T) {
	t.Parallel()
	empty, nested := "", map[string]any{"json": map[string]any{"id": "", "label": "A", "type": "text", "showWhen": nil}}
	_, violations := rawTyped(t, map[string]any{"objectArray": map[string]any{
		"id": &empty, "label": "A", "showWhen": map[string]any{"keptAsIs": 1}, "default": []any{map[string]any{"keptAsIs": 1}}, "itemTitle": map[string]any{"fallback": "a"},
		"itemInputs": []any{nested, map[string]any{"reference": map[string]any{"id": "r", "label": "R"}}},
	}}).Decode("/schema")
	got := places(violations)
	slices.Sort(got)
	want := []string{"/schema/id min_length", "/schema/item_inputs/0/id min_length", "/schema/item_inputs/0/showWhen unknown_field",
		"/schema/item_inputs/1/type format", "/schema/item_title/template required"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFreeFormJSONOfTypedInputKeepsItsNames(t *testing.T) {
	t.Parallel()
	p := fromTyped(t, map[string]any{"object": map[string]any{"id": "a", "label": "A",
		"showWhen": map[string]any{"someId": 1}, "default": map[string]any{"camelCase": json.Number("1.50")}}})
	sameJSON(t, string(inputprop.Encode(p)), `{"id":"a","label":"A","type":"object","show_when":{"someId":1},"default":{"camelCase":1.50}}`)
}

func TestListsOfTypedInput(t *testing.T) {
	t.Parallel()
	section := map[string]any{"section": map[string]any{"id": "a", "label": "A"}}
	many := make([]*inputprop.RawProperty, 100)
	for i := range many {
		many[i] = rawTyped(t, map[string]any{"objectMap": map[string]any{"id": "a", "label": "A", "itemInputs": []any{section}}})
	}
	if _, violations := inputprop.FromTypedList(many, ""); len(violations) > 0 {
		t.Error(violations)
	}
	n, violations := inputprop.FromTypedList([]*inputprop.RawProperty{rawTyped(t, section), rawTyped(t, section)}, "/inputs")
	if len(violations) > 0 {
		t.Fatal(violations)
	}
	list, violations := inputprop.DecodeList(n, "/inputs")
	if len(violations) > 0 || len(list) != 2 {
		t.Errorf("got %v %v", list, violations)
	}
	if _, violations := inputprop.FromTypedList([]*inputprop.RawProperty{rawTyped(t, section), rawTyped(t, struct{}{})}, "/inputs"); !slices.Equal(places(violations), []string{"/inputs/1 one_of"}) {
		t.Error(violations)
	}
}

func TestTypedInputIsBoundedInDepth(t *testing.T) {
	t.Parallel()
	nest := func(levels int) map[string]any {
		input := map[string]any{"section": map[string]any{"id": "a", "label": "A"}}
		for range levels {
			input = map[string]any{"objectMap": map[string]any{"id": "a", "label": "A", "itemInputs": []any{input}}}
		}
		return input
	}
	fromTyped(t, nest(31))
	for _, levels := range []int{32, 40, 300} {
		_, violations := rawTyped(t, nest(levels)).Decode("")
		if len(violations) != 1 || !strings.Contains(violations[0].Message, "64 levels") {
			t.Errorf("%d levels: %v", levels, violations)
		}
	}
}

// typedFrom is a typed input as JSON.
func typedFrom(t *testing.T, text string) map[string]any {
	t.Helper()
	v, _ := generic(t, text).(map[string]any)
	return v
}

func TestTypedInputIsTakenAsItIsRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ typed, json string }{
		{`{"string":{"id":"a","label":"A","type":"string","description":null,"showWhen":null,"default":null,"patterns":null,"values":null}}`,
			`{"id":"a","label":"A","type":"string"}`},
		{`{"reference":{"id":"a","label":"A","type":"$ref:aws/vpc","moduleType":"aws/vpc","mappedInputs":null}}`,
			`{"id":"a","label":"A","type":"$ref:aws/vpc"}`},
		{`{"string":{"id":"a","label":"A","type":null,"patterns":{"pattern":"a","message":"m"}}}`,
			`{"id":"a","label":"A","type":"string","patterns":[{"pattern":"a","message":"m"}]}`},
		{`{"string":{"id":"a","label":"A","values":{"__typename":"StaticValues","options":[
			{"__typename":"InputOption","value":"x","label":null,"description":null},{"value":"y","label":"Y","description":null},{"value":"z","description":"Z"},"w"]}}}`,
			`{"id":"a","label":"A","type":"string","values":["x",{"value":"y","label":"Y"},{"value":"z","description":"Z"},"w"]}`},
		{`{"string":{"id":"a","label":"A","values":["x",{"value":"y"},{"value":"z","label":null,"description":null}]}}`,
			`{"id":"a","label":"A","type":"string","values":["x",{"value":"y"},{"value":"z"}]}`},
		{`{"number":{"id":"a","label":"A","values":{"options":[{"value":1.0,"label":null},{"value":2,"label":"Two"}]}}}`,
			`{"id":"a","label":"A","type":"number","values":[1,{"value":2,"label":"Two"}]}`},
		{`{"string":{"id":"a","label":"A","values":{"__typename":"DynamicValuesRef","source":"s","params":null}}}`,
			`{"id":"a","label":"A","type":"string","values":{"source":"s"}}`},
		{`{"string":{"id":"a","label":"A","values":{"options":null,"source":"s","params":{"x":{"input":"b"}}}}}`,
			`{"id":"a","label":"A","type":"string","values":{"source":"s","params":{"x":{"input":"b"}}}}`},
		{`{"string":{"id":"a","label":"A","values":{"options":[],"source":null,"params":null}}}`, `{"id":"a","label":"A","type":"string","values":[]}`},
		{`{"compound":{"id":"a","label":"A","fields":"cpu","values":{"options":[{"__typename":"InputOption","value":{"cpu":1},"label":"One","description":null}]}}}`,
			`{"id":"a","label":"A","type":"compound","fields":["cpu"],"values":[{"label":"One","fields":{"cpu":1}}]}`},
		{`{"compound":{"id":"a","label":"A","fields":["cpu"],"values":[{"value":{"cpu":1},"label":"One"},{"fields":{"cpu":2},"label":"Two","description":null}]}}`,
			`{"id":"a","label":"A","type":"compound","fields":["cpu"],"values":[{"label":"One","fields":{"cpu":1}},{"label":"Two","fields":{"cpu":2}}]}`},
		{`{"objectMap":{"id":"a","label":"A","itemInputs":{"section":{"id":"b","label":"B","description":null}},
			"itemTitle":{"template":"t","fallback":null},
			"key":{"description":null,"fromFields":["b",null],"patterns":null,"separator":"-"}}}`,
			`{"id":"a","label":"A","type":"object_map","item_inputs":[{"id":"b","label":"B","type":"section"}],"item_title":{"template":"t"},
			"key":{"from_fields":["b",null],"separator":"-"}}`},
		{`{"object":{"id":"a","label":"A","default":{"__typename":"X","none":null,"label":null}}}`,
			`{"id":"a","label":"A","type":"object","default":{"__typename":"X","none":null,"label":null}}`},
	} {
		sameJSON(t, string(inputprop.Encode(fromTyped(t, typedFrom(t, c.typed)))), c.json)
	}
}

func TestTypedInputThatIsNotWhatWasReadIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ typed, want string }{
		{`{"string":{"id":"a","label":"A","type":"text"}}`, `/s/type other_type: must be "string" here, or be left out, found the string "text"`},
		{`{"reference":{"id":"a","label":"A","moduleType":"x","type":"$ref:y"}}`, `/s/type other_type: must be "$ref:x" here, or be left out, found the string "$ref:y"`},
		{`{"string":{"id":"a","label":"A","values":{"__typename":"DynamicValuesRef","options":[]}}}`,
			`/s/values/__typename other_type: must be "StaticValues" here, or be left out, found the string "DynamicValuesRef"`},
		{`{"string":{"id":"a","label":"A","values":{"__typename":"StaticValues","source":"s"}}}`,
			`/s/values/source unknown_field: is not a field beside options`},
		{`{"string":{"id":"a","label":"A","values":{"__typename":"StaticValues"}}}`, `/s/values type: must have an array of options, found none`},
		{`{"string":{"id":"a","label":"A","values":{"options":{"source":"s"}}}}`, `/s/values type: must have an array of options, found an object`},
		{`{"string":{"id":"a","label":"A","values":{"options":[],"more":1}}}`, `/s/values/more unknown_field: is not a field beside options`},
		{`{"string":{"id":"a","label":"A","values":{"options":["x",{"__typename":"X","value":"y"}]}}}`,
			`/s/values/1/__typename other_type: must be "InputOption" here, or be left out, found the string "X"`},
	} {
		_, violations := rawTyped(t, json.RawMessage(c.typed)).Decode("/s")
		if len(violations) == 0 {
			t.Errorf("%s is taken", c.typed)
			continue
		}
		v := violations[0]
		if got := v.Pointer + " " + v.Rule + ": " + v.Message; got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// What is wrong inside what was read is told at its place in the JSON.
func TestViolationsInsideWhatWasReadArePlacedInTheJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ typed, want string }{
		{`{"string":{"id":"a","label":"A","values":{"options":[{"value":"x"},{"value":1,"label":null}]}}}`, "/s/values/1 type"},
		{`{"string":{"id":"a","label":"A","values":{"options":[{"value":{"x":1}}]}}}`, "/s/values/0/value type"},
		{`{"string":{"id":"a","label":"A","values":{"options":[{"label":"x"}]}}}`, "/s/values/0/value required"},
		{`{"string":{"id":"a","label":"A","values":{"options":[{"value":null}]}}}`, "/s/values/0 type"},
		{`{"string":{"id":"a","label":"A","values":{"options":[{"value":"x","more":1}]}}}`, "/s/values/0/more unknown_field"},
		{`{"string":{"id":"a","label":"A","values":{"source":null}}}`, "/s/values/source null"},
		{`{"string":{"id":"a","label":"A","values":{"source":"s","params":{"x":null}}}}`, "/s/values/params/x null"},
		{`{"string":{"id":"a","label":"A","moduleType":"x"}}`, "/s/module_type unknown_field"},
		{`{"compound":{"id":"a","label":"A","fields":["c"],"values":{"options":[{"value":{"c":[]},"label":"A"}]}}}`, "/s/values/0/fields/c type"},
		{`{"compound":{"id":"a","label":"A","fields":["c"],"values":{"options":[{"value":{"c":1},"fields":{"c":1},"label":"A"}]}}}`, "/s/values/0/value unknown_field"},
		{`{"compound":{"id":"a","label":"A","fields":["c"],"values":{"options":[{"value":{"c":1},"label":null}]}}}`, "/s/values/0/label required"},
		{`{"json":{"__typename":"StringProperty","id":"a","label":"A","type":"string"}}`, "/s/__typename unknown_field"},
		{`{"json":{"id":"a","label":"A","type":"string","description":null}}`, "/s/description null"},
		{`{"json":{"id":"a","label":"A","type":"string","values":{"options":[]}}}`, "/s/values/options unknown_field|/s/values/source required"},
	} {
		_, violations := rawTyped(t, json.RawMessage(c.typed)).Decode("/s")
		if got := strings.Join(places(violations), "|"); got != c.want {
			t.Errorf("%s: got %s, want %s", c.typed, got, c.want)
		}
	}
}
