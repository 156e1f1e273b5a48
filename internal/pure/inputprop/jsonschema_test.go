package inputprop_test

import (
	"testing"

	"slipway/internal/pure/inputprop"
)

func generated(t *testing.T) structure {
	t.Helper()
	return structure{generic(t, string(inputprop.JSONSchema())).(map[string]any)}
}

func TestTheCommittedSchemaIsFresh(t *testing.T) {
	t.Parallel()
	if document(t, "input-property.schema.json") != string(inputprop.JSONSchema()) {
		t.Error("docs/input-property.schema.json is stale: run make generate")
	}
}

func TestWhatIsDecodedFitsTheSchema(t *testing.T) {
	t.Parallel()
	s := generated(t)
	lists := []string{fixture(t)}
	for seed := range uint64(200) {
		lists = append(lists, "["+newGenerator(seed).Inputs(2)+"]")
	}
	for _, text := range lists {
		mustDecodeList(t, text)
		for _, p := range generic(t, text).([]any) {
			if why := s.refuses(s.root, p); why != "" {
				t.Errorf("%v: %s", p, why)
			}
		}
	}
}

func TestWhatDoesNotFitTheSchemaIsNotDecodedEither(t *testing.T) {
	t.Parallel()
	s := generated(t)
	for _, text := range []string{
		`{}`, `[]`, `null`, in("", "text"), in("a", "texts"), in("a", "text", `"values":[]`), in("a", "section", `"collapsible":true`),
		in("a", "boolean"), in("a", "boolean", `"default":null`), in("a", "boolean", `"default":"${{ ref.input.x }}"`), in("a", "compound", `"fields":[],"values":[]`), in("a", "compound", `"fields":["a"]`),
		in("a", "number", `"min":1.5`), in("a", "number", `"max":2147483648`), in("a", "number", `"default":"1"`), in("a", "number", `"values":["1"]`),
		in("a", "string", `"values":[{"label":"x"}]`), in("a", "string", `"values":{}`), in("a", "string", `"values":{"source":"x","params":{"a":1}}`),
		in("a", "string", `"patterns":[{"pattern":"x"}]`), in("a", "text", `"show_when":[]`), in("a", "keyvalue", `"default":{"a":1}`),
		in("a", "object_map"), in("a", "object_map", `"item_inputs":[]`), mapOf("a", in("b", "texts")), mapOf("a", in("b", "text"), `"key":{"from_fields":[1]}`),
		in("a", "$ref:"), reference("a", in("b", "$ref:x")), reference("a", mapOf("b", in("c", "$ref:x"))), reference("a", in("b", "number", `"default":"${{ project.slug }}"`)),
	} {
		if s.refuses(s.root, generic(t, text)) == "" {
			t.Errorf("%s fits", text)
		}
		if _, violations := decode(t, text); len(violations) == 0 {
			t.Errorf("%s is decoded", text)
		}
	}
}

func TestEveryMemberOfTheSchemaIsDescribed(t *testing.T) {
	t.Parallel()
	var look func(at string, v any)
	look = func(at string, v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				look(at, item)
			}
		case map[string]any:
			properties, _ := v["properties"].(map[string]any)
			for name, p := range properties {
				if text, _ := p.(map[string]any)["description"].(string); text == "" {
					t.Errorf("%s/%s is not described", at, name)
				}
			}
			for name, item := range v {
				if name != "properties" || properties == nil {
					look(at+"/"+name, item)
				}
			}
			for name, p := range properties {
				look(at+"/"+name, p)
			}
		}
	}
	s := generated(t)
	look("", s.root)
	for name, def := range s.root["$defs"].(map[string]any) {
		if text, _ := def.(map[string]any)["description"].(string); text == "" {
			t.Errorf("%s is not described", name)
		}
	}
}
