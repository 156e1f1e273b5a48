package strictjson_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
)

// body is a request body as another package would declare it.
type body struct {
	Data struct {
		Name    *string                    `json:"name" rules:"nonempty,max=5"`
		Color   *string                    `json:"color" rules:"enum=red|green"`
		Note    *string                    `json:"note" rules:"nullable"`
		Count   *int32                     `json:"count"`
		Enabled bool                       `json:"enabled"`
		Tags    []string                   `json:"tags" rules:"nonempty,max=2,each.nonempty,each.max=3"`
		Labels  strictjson.Ordered[string] `json:"labels" rules:"each.max=3"`
		Free    *strictjson.Node           `json:"free"`
		Shaped  *strictjson.Node           `json:"shaped" rules:"shape=object"`
		Schema  inputprop.Property         `json:"schema"`
		Draft   *inputprop.RawProperty     `json:"draft"`
	} `json:"data" rules:"required"`
	Hidden string `json:"-"`
}

func TestBodiesAreFilled(t *testing.T) {
	t.Parallel()
	var b body
	violations := strictjson.Decode(parse(t, `{"data":{"name":"né😀bc","color":"green","note":null,"count":1e3,"enabled":true,"tags":["abc"],
		"labels":{"k":"v"},"free":[1.50, null],"shaped":{"a":1},"schema":{"id":"a","label":"A","type":"section"},"draft":17}}`), &b, "")
	if len(violations) > 0 {
		t.Fatal(violations)
	}
	d := b.Data
	if *d.Name != "né😀bc" || *d.Color != "green" || d.Note != nil || *d.Count != 1000 || !d.Enabled || d.Tags[0] != "abc" ||
		d.Labels.Values[0] != "v" || string(d.Free.JSON()) != "[1.50,null]" || string(d.Shaped.JSON()) != `{"a":1}` || d.Schema.Head().ID != "a" {
		t.Errorf("got %+v", d)
	}
	if _, violations := d.Draft.Decode("/data/draft"); !slices.Equal(places(violations), []string{"/data/draft type"}) {
		t.Error(violations)
	}
}

func TestWhatIsAbsentStaysNil(t *testing.T) {
	t.Parallel()
	var b, empty body
	if violations := strictjson.Decode(parse(t, `{"data":{}}`), &b, ""); len(violations) > 0 {
		t.Fatal(violations)
	}
	if diff := cmp.Diff(empty, b); diff != "" {
		t.Error(diff)
	}
}

func TestEachRuleOfABodyIsReported(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[]`:                              ` type: must be an object, found an array`,
		`null`:                            ` null: must not be null; leave it out instead`,
		`{}`:                              `/data required: is required`,
		`{"data":null}`:                   `/data null: is required and must not be null`,
		`{"data":{"nam":1}}`:              `/data/nam unknown_field: is not a field here, did you mean "name"; allowed are name, color, note, count, enabled, tags, labels, free, shaped, schema, draft`,
		`{"data":{"-":1}}`:                `/data/- unknown_field: is not a field here; allowed are name, color, note, count, enabled, tags, labels, free, shaped, schema, draft`,
		`{"data":{"x/y~z":1}}`:            `/data/x~1y~0z unknown_field: is not a field here; allowed are name, color, note, count, enabled, tags, labels, free, shaped, schema, draft`,
		`{"data":{"name":null}}`:          `/data/name null: must not be null; leave it out instead`,
		`{"data":{"name":5}}`:             `/data/name type: must be a string, found the number 5`,
		`{"data":{"name":""}}`:            `/data/name min_length: must have at least 1 character, found none`,
		`{"data":{"name":"éééééé"}}`:      `/data/name max_length: must have at most 5 characters, found 6`,
		`{"data":{"color":"Red"}}`:        `/data/color enum: must be one of red, green, found "Red", did you mean "red"`,
		`{"data":{"count":"5"}}`:          `/data/count type: must be a whole number, found the string "5"`,
		`{"data":{"count":1.5}}`:          `/data/count int32: must be a whole number, found 1.5`,
		`{"data":{"enabled":"y"}}`:        `/data/enabled type: must be a boolean, found the string "y"`,
		`{"data":{"enabled":{}}}`:         `/data/enabled type: must be a boolean, found an object`,
		`{"data":{"tags":"a"}}`:           `/data/tags type: must be an array, found the string "a"`,
		`{"data":{"tags":[]}}`:            `/data/tags min_items: must have at least 1 item, found none`,
		`{"data":{"tags":["a","b","c"]}}`: `/data/tags max_items: must have at most 2 items, found 3`,
		`{"data":{"tags":["a",null]}}`:    `/data/tags/1 null: must not be null; leave it out instead`,
		`{"data":{"tags":["abcd"]}}`:      `/data/tags/0 max_length: must have at most 3 characters, found 4`,
		`{"data":{"labels":[]}}`:          `/data/labels type: must be an object, found an array`,
		`{"data":{"labels":{"k":true}}}`:  `/data/labels/k type: must be a string, found true`,
		`{"data":{"free":null}}`:          `/data/free null: must not be null; leave it out instead`,
		`{"data":{"shaped":[]}}`:          `/data/shaped type: must be an object, found an array`,
		`{"data":{"schema":[]}}`:          `/data/schema type: must be an object, found an array`,
		`{"data":{"draft":null}}`:         `/data/draft null: must not be null; leave it out instead`,
	} {
		violations := strictjson.Decode(parse(t, text), new(body), "")
		if len(violations) != 1 {
			t.Errorf("%s: got %v", text, violations)
			continue
		}
		v := violations[0]
		if got := v.Pointer + " " + v.Rule + ": " + v.Message; got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", text, got, want)
		}
	}
}

func TestEveryViolationIsInOneAnswer(t *testing.T) {
	t.Parallel()
	violations := strictjson.Decode(parse(t, `{"data":{"name":"","count":1.5,"x":0,"schema":{"type":"object_map","label":"","item_inputs":[
		{"id":"a","label":"A","type":"number","min":"1","max":null},{"type":"strng","label":3},7]}},"more":1}`), new(body), "/body")
	want := []string{
		"/body/data/name min_length",
		"/body/data/count int32",
		"/body/data/x unknown_field",
		"/body/data/schema/label min_length",
		"/body/data/schema/item_inputs/0/min type",
		"/body/data/schema/item_inputs/0/max null",
		"/body/data/schema/item_inputs/1/type unknown_type",
		"/body/data/schema/item_inputs/1/label type",
		"/body/data/schema/item_inputs/1/id required",
		"/body/data/schema/item_inputs/2 type",
		"/body/data/schema/id required",
		"/body/more unknown_field",
	}
	if diff := cmp.Diff(want, places(violations)); diff != "" {
		t.Error(diff)
	}
}

func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 250 {
		fmt.Fprintf(&b, `"x%d":0,`, i)
	}
	violations := strictjson.Decode(parse(t, "{"+b.String()+`"data":{}}`), new(body), "/body")
	if len(violations) != 101 {
		t.Fatalf("%d violations", len(violations))
	}
	last := violations[100]
	if last.Pointer != "/body" || last.Rule != "more_violations" || last.Message != "has 150 more violations than the 100 listed" {
		t.Errorf("got %+v", last)
	}
	long := strings.Repeat("k", 100_000)
	violations = strictjson.Decode(parse(t, `{"data":{"labels":{"`+long+`":"`+long+`"},"`+long+`":0,"schema":"`+long+`"}}`), new(body), "")
	for _, v := range violations {
		if len(v.Pointer) > 300 || len(v.Message) > 300 {
			t.Errorf("a violation of %d + %d bytes", len(v.Pointer), len(v.Message))
		}
	}
}

func TestInt32IsDecidedOnTheDigits(t *testing.T) {
	t.Parallel()
	zeros := strings.Repeat("0", 5000)
	for literal, want := range map[string]int32{
		"0": 0, "-0": 0, "0.0": 0, "0e5": 0, "0e99999999999999999999": 0, "1": 1, "1.0": 1, "1e3": 1000, "1E+3": 1000, "-1e0": -1,
		"1500e-2": 15, "0.5e1": 5, "2.50e1": 25, "2147483647": 2147483647, "-2147483648": -2147483648, "2147483647.000": 2147483647,
		"2.147483647e9": 2147483647, "21474836470e-1": 2147483647, "1" + zeros + "e-5000": 1, "0." + zeros + "1e5001": 1,
	} {
		var v struct {
			N int32 `json:"n"`
		}
		if violations := strictjson.Decode(parse(t, `{"n":`+literal+`}`), &v, ""); len(violations) > 0 || v.N != want {
			t.Errorf("%.40s: got %d %v", literal, v.N, violations)
		}
	}
	for literal, want := range map[string]string{
		"1.5": "whole", "0.1": "whole", "-0.5": "whole", "1e-1": "whole", "1.0000000000000000000000001": "whole", "1e-99999999999999999999": "whole",
		"2147483648": "between", "-2147483649": "between", "1e10": "between", "1e400": "between", "-1e99999999999999999999": "between",
		"4294967296": "between", "9999999999": "between", "12345678901": "between", "21474836480e-1": "between", "1" + zeros: "between",
	} {
		violations := strictjson.Decode(parse(t, `{"n":`+literal+`}`), &struct {
			N int32 `json:"n"`
		}{}, "")
		if len(violations) != 1 || violations[0].Rule != "int32" || !strings.Contains(violations[0].Message, want) {
			t.Errorf("%.40s: got %v", literal, violations)
		}
	}
}
