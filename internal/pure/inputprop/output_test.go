package inputprop_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/pure/inputprop"
)

func TestOutputHasTheDefaultsOfWhatIsAbsent(t *testing.T) {
	t.Parallel()
	p := mustDecode(t, `{"id":"a","label":"A","type":"string"}`).(*inputprop.StringProperty)
	if p.DefaultJSON() != nil || p.ShowWhenJSON() != nil || p.IsRequired() || p.IsCollapsible() || p.IsImmutable() || p.KeepsMinCurrent() || p.ValueSource() != nil {
		t.Errorf("got %+v", p)
	}
	p = mustDecode(t, `{"id":"a","label":"A","type":"string","required":true,"collapsible":true,"immutable":true,"min_current_value":true,
		"show_when":{"b": 1.0},"default":"<x>"}`).(*inputprop.StringProperty)
	if string(p.DefaultJSON()) != `"<x>"` || string(p.ShowWhenJSON()) != `{"b":1.0}` || !p.IsRequired() || !p.IsCollapsible() || !p.IsImmutable() || !p.KeepsMinCurrent() {
		t.Errorf("got %+v", p)
	}
	if sep := (&inputprop.MapKeyConfig{}).SeparatorOrDefault(); sep != "-" {
		t.Errorf("separator %q", sep)
	}
	given := "."
	if sep := (&inputprop.MapKeyConfig{Separator: &given}).SeparatorOrDefault(); sep != "." {
		t.Errorf("separator %q", sep)
	}
}

func TestDefaultsOfEveryVariantAreShownAsJSON(t *testing.T) {
	t.Parallel()
	list, _ := inputprop.DecodeList(parse(t, fixture(t)), "")
	shown := map[string]string{}
	for _, p := range list {
		if with, ok := p.(interface{ DefaultJSON() json.RawMessage }); ok {
			shown[p.Head().Type] = string(with.DefaultJSON())
		}
	}
	want := map[string]string{
		"string": `"$values:first"`, "text": `"line one\nline two\t\u0001 😀"`,
		"object":     `{"ratio":0.10,"big":12345678901234567890,"exp":1E+2,"none":null,"list":[[],{}]}`,
		"object_map": `{"web":{"name":"web","ports":[{"port":80}]}}`, "object_array": `[{"cidr":"10.0.0.0/8"},{}]`,
		"array": `[1,1.0,"a",null,true,{"b":[]}]`, "string_array": `["a","b"]`, "number": `3`, "boolean": `false`,
		"compound": `{"cpu":1,"memory":"2Gi","burst":false}`, "gitrepo": `"https://git.example.com/team/app.git"`,
		"keyvalue": `{"team":"core","a/b~c":"${{ project.slug }}"}`,
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Error(diff)
	}
}

func TestOptionsAreShownWithTheirValues(t *testing.T) {
	t.Parallel()
	list, _ := inputprop.DecodeList(parse(t, fixture(t)), "")
	shown := map[string][]string{}
	for _, p := range list {
		choice, ok := p.(interface{ ValueSource() inputprop.Values })
		if !ok {
			continue
		}
		switch values := choice.ValueSource().(type) {
		case *inputprop.StaticValues:
			for _, o := range values.Options {
				shown[p.Head().Type] = append(shown[p.Head().Type], string(o.ValueJSON()))
			}
		case *inputprop.DynamicValuesRef:
			shown[p.Head().Type] = []string{values.Source, string(values.ParamsJSON())}
		}
	}
	want := map[string][]string{
		"string": {`"eu-1"`, `"us-1"`}, "number": {"1", "3", "5"},
		"string_array": {"module_instances", `{"environmentId":{"input":"region"},"type":"network"}`},
		"compound":     {`{"cpu":1,"memory":"2Gi","burst":false}`, `{"cpu":8,"memory":"16Gi","burst":true}`},
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Error(diff)
	}
}
