package inputvalidation_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// generator writes inputs of all variants that mostly keep the rules, and values of which many fit them.
type generator struct {
	*rand.Rand
	// instances are ids that a reference may be given.
	instances []string
}

func (g generator) pick(texts ...string) string { return texts[g.IntN(len(texts))] }

// may returns one of the texts, or none.
func (g generator) may(texts ...string) string {
	if g.IntN(2) == 0 {
		return ""
	}
	return g.pick(texts...)
}

var variants = []string{
	"string", "text", "object", "object_map", "object_array", "array", "string_array", "number", "boolean", "section",
	"compound", "$ref:web", "gitrepo", "keyvalue",
}

const (
	lower = `"patterns":[{"pattern":"^[a-z]+$","message":"lower case"}]`
	sizes = `"fields":["cpu","mem"],"values":[{"label":"S","fields":{"cpu":1,"mem":""}},{"label":"L","fields":{"cpu":4,"mem":"8G"}}]`
)

// list writes the inputs of a level; the kinds are those of their variants, by their ids.
func (g generator) list(depth int, kinds map[string]string) string {
	inputs := make([]string, 1+g.IntN(5))
	ids := []string{"a", "b", "password", "d", "value"}
	for i := range inputs {
		kind := g.pick(variants...)
		for depth == 0 && strings.HasPrefix(kind, "object_") {
			kind = g.pick(variants...)
		}
		kinds[ids[i]] = kind
		inputs[i] = input(ids[i], kind, strings.Join(g.members(ids[i], kind, depth, ids[:i]), ","))
	}
	return strings.Join(inputs, ",")
}

func (g generator) members(id, kind string, depth int, before []string) []string {
	var members []string
	add := func(text string) {
		if text != "" {
			members = append(members, text)
		}
	}
	if len(before) > 0 {
		add(g.may(fmt.Sprintf(`"show_when":{%q:%s}`, g.pick(before...), g.pick(`"x"`, `""`, `true`, `{"not":"x"}`, `{"exists":true}`, `{"exists":false}`, `{"contains":"x"}`))))
	}
	if kind == "section" {
		return members
	}
	if kind != "boolean" && g.IntN(4) == 0 {
		add(`"required":true`)
	}
	if kind == "boolean" {
		add(g.pick(`"default":true`, `"default":false`))
		return members
	}
	for _, text := range map[string][]string{
		"string":       {g.may(lower, `"values":["x","y"]`, `"values":["x",""]`), g.may(`"default":"x"`, `"default":""`, `"default":"${{ module.type }}"`)},
		"text":         {g.may(lower), g.may(`"default":"x"`, `"default":""`, `"default":"${{ project.slug }}/${{ organization.name }}"`)},
		"object":       {g.may(`"default":{"x":1.50,"y":[null,""]}`, `"default":{"e":"${{ environment.slug }}"}`)},
		"array":        {g.may(`"default":[]`, `"default":["${{ project.slug }}",0.1]`)},
		"string_array": {g.may(lower, `"values":["x","y"]`), g.may(`"default":["x"]`, `"default":[]`)},
		"number":       {g.may(`"min":1`), g.may(`"max":2147483646`), g.may(`"default":1`, `"default":5`), g.may(`"values":[1,5]`)},
		"compound":     {sizes, g.may(`"default":"$values:first"`, `"default":{"cpu":4,"mem":"8G"}`)},
		"gitrepo":      {g.may(`"default":"https://h/a/b"`, `"default":"https://h/${{ project.slug }}/b"`)},
		"keyvalue":     {g.may(`"default":{"x":"y"}`, `"default":{"project":"${{ project.slug }}"}`)},
		"$ref:web": {g.may(`"mapped_inputs":[` + input(id+"_image", "text", `"default":"of ${{ ref.input.image }}"`) + "," +
			input(id+"_replicas", "number", `"default":"${{ ref.input.replicas }}","max":9`) + "," + input(id+"_free", "text", "") + `]`)},
		"object_map":   {g.items(depth), g.may(`"key":{"from_fields":["a","b"]}`, `"key":{`+lower+`}`), g.may(`"default":{"x":{}}`)},
		"object_array": {g.items(depth), g.may(`"default":[{}]`, `"default":[]`)},
	}[kind] {
		add(text)
	}
	return members
}

func (g generator) items(depth int) string {
	if depth == 0 {
		return ""
	}
	return `"item_inputs":[` + g.list(depth-1, map[string]string{}) + `]`
}

// values writes an object of values; most are of their inputs' types.
func (g generator) values(kinds map[string]string, depth int) string {
	var members []string
	for _, id := range []string{"a", "b", "password", "d", "value"} {
		kind, ok := kinds[id]
		if !ok || kind == "section" || g.IntN(3) == 0 {
			continue
		}
		members = append(members, fmt.Sprintf("%q:%s", id, g.value(kind, depth)))
		if kind == "$ref:web" && g.IntN(4) == 0 {
			members = append(members, fmt.Sprintf("%q:%s", id+"_free", g.pick(`"x"`, `null`, `""`)))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

func (g generator) value(kind string, depth int) string {
	if g.IntN(8) == 0 {
		return g.pick(`""`, `null`, `[]`, `{}`, `"x"`, `1`, `true`, `"hunter2"`, `"PASSWORD=hunter2"`, `["--password","hunter2"]`,
			`{"name":"TOKEN","value":"hunter2"}`, `1e400`, `2147483648`, `"${{ project.slug }}"`)
	}
	number := g.pick(`1`, `1.0`, `5e0`, `2147483647`, `-0`, `2`)
	double := g.pick(`0.1`, `1e21`, `-0.0`, `9007199254740992`, `9007199254740993`, `0.30000000000000004`, `1.50`)
	item := func() string {
		kinds := map[string]string{"a": g.pick(variants...), "b": "string"}
		return g.values(kinds, max(depth-1, 0))
	}
	switch kind {
	case "string", "text":
		return g.pick(`"x"`, `"y"`, `""`, `"X"`, `null`)
	case "number":
		return number
	case "boolean":
		return g.pick(`true`, `false`)
	case "object":
		return g.pick(`{}`, `{"b":`+double+`,"a":["",null]}`, `{"y":{"x":1E2}}`)
	case "array":
		return g.pick(`[]`, `[`+double+`,"",{"b":1,"a":2}]`)
	case "string_array":
		return g.pick(`["x"]`, `["y","x"]`, `[""]`, `[]`)
	case "compound":
		return g.pick(`{"mem":"","cpu":1}`, `{"cpu":4.0,"mem":"8G"}`, `{"cpu":1}`)
	case "$ref:web":
		return fmt.Sprintf("%q", g.pick(g.instances...))
	case "gitrepo":
		return g.pick(`"git@h:a/b"`, `"https://h/a/b.git"`, `""`)
	case "keyvalue":
		return g.pick(`{"b":"","a":"x"}`, `{}`, `{"":"x"}`)
	case "object_map":
		return g.pick(`{}`, `{"x":`+item()+`}`, `{"y":`+item()+`,"x":`+item()+`}`)
	default:
		return g.pick(`[]`, `[`+item()+`]`, `[{},`+item()+`]`)
	}
}
