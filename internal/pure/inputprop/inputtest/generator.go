package inputtest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Generator writes inputs, and values for them, that mostly keep the rules.
type Generator struct {
	*rand.Rand
	// holds decides which inputs are held to what they were.
	holds *rand.Rand
}

// NewGenerator returns the generator of a seed, which always writes the same.
func NewGenerator(seed uint64) Generator {
	return Generator{rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2))}
}

func (g Generator) pick(texts ...string) string { return texts[g.IntN(len(texts))] }

// Inputs writes a list without its brackets; the ids are a, b, c, ….
func (g Generator) Inputs(depth int) string {
	list := make([]string, 1+g.IntN(6))
	for i := range list {
		list[i] = g.input(string(rune('a'+i)), i, depth)
	}
	return strings.Join(list, ",")
}

func (g Generator) input(id string, index, depth int) string {
	var more []string
	may := func(texts ...string) {
		if text := g.pick(texts...); g.IntN(2) == 0 {
			more = append(more, text)
		}
	}

	if index > 0 {
		may(Shown(fmt.Sprintf("%q:%s", string(rune('a'+g.IntN(index))), g.Condition())))
	}
	kind := g.kind(depth)
	if kind != "section" {
		may(`"collapsible":true`)
	}
	if kind != "section" && kind != "boolean" {
		may(`"required":true`)
	}
	more = append(more, g.held(kind)...)

	switch kind {
	case "string":
		may(`"default":"x"`, `"default":"y"`)
		may(Listed, `"values":["x","y"]`)
		may(Lower)
	case "text":
		may(`"default":"x y"`, `"default":""`, `"default":"${{ project.slug }}"`)
	case "number":
		may(`"default":1`, `"default":5`)
		may(`"min":0`, `"min":2`)
		may(`"max":4`, `"max":9`)
	case "boolean":
		more = append(more, g.pick(`"default":true`, `"default":false`))
	case "string_array":
		may(`"default":["x"]`, `"default":["x","B"]`, `"default":[]`)
		may(Lower)
	case "keyvalue":
		may(`"default":{"x":"y"}`)
	case "array":
		may(`"default":["x",1]`, `"default":[]`, `"default":["${{ project.slug }}",[""]]`)
	case "object":
		may(`"default":{"x":1.50,"a":null}`, `"default":{"b":{},"a":"${{ project.slug }}"}`)
	case "gitrepo":
		may(`"default":"https://h/a/b"`, `"default":"https://h/${{ project.slug }}/b"`)
	case "compound":
		more = append(more, Sizes)
		may(`"default":"$values:first"`, `"default":{"cpu":4,"mem":"8G"}`)
	case "$ref:net":
		may(`"mapped_inputs":[` +
			In(id+"m", "text", `"default":"${{ ref.input.cidr }}"`) + "," + In(id+"n", "number", `"default":2`) + `]`)
	case "object_map":
		may(`"default":{"x":{},"y":{"a":"x"}}`, `"default":{"x":{"a":3}}`)
		may(`"key":{"from_fields":["a","b"]}`, `"key":{`+Lower+`}`)
		more = append(more, `"item_inputs":[`+g.Inputs(depth-1)+`]`)
	case "object_array":
		may(`"default":[{"a":"x"},{}]`, `"default":[{"a":3}]`)
		more = append(more, `"item_inputs":[`+g.Inputs(depth-1)+`]`)
	}

	return In(id, kind, more...)
}

// kind picks the type of an input, which may have inputs inside while there is depth left.
func (g Generator) kind(depth int) string {
	kinds := []string{
		"string", "number", "boolean", "string_array", "text", "keyvalue",
		"array", "object", "compound", "section", "gitrepo", "$ref:net",
	}
	if depth > 0 {
		kinds = append(kinds, "object_map", "object_array")
	}
	return g.pick(kinds...)
}

// held writes what holds an input of a type to what it was.
func (g Generator) held(kind string) (more []string) {
	if kind != "section" && g.holds.IntN(3) == 0 {
		more = append(more, `"immutable":true`)
	}
	if kind == "number" && g.holds.IntN(3) == 0 {
		more = append(more, `"min_current_value":true`)
	}
	return more
}

// Condition writes what a show_when may expect.
func (g Generator) Condition() string {
	return g.pick(`"x"`, `1`, `true`, `["x"]`, `{"not":"x"}`, `{"exists":true}`, `{"exists":false}`,
		`{"any_of":["x",1,true]}`, `{"contains":"x"}`)
}

// Values writes an object of values, of which some fit.
func (g Generator) Values(depth int) string {
	var members []string
	for _, id := range []string{"a", "b", "c", "d", "e", "am", "bm", "bn", "z"} {
		if g.IntN(2) == 0 {
			members = append(members, fmt.Sprintf("%q:%s", id, g.Value(depth)))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// Value writes a value of any kind.
func (g Generator) Value(depth int) string {
	if depth > 0 && g.IntN(3) == 0 {
		return g.pick(
			`{"x":`+g.Values(depth-1)+`,"y":`+g.Values(depth-1)+`}`,
			`[`+g.Values(depth-1)+`,`+g.Values(depth-1)+`]`)
	}
	return g.pick(`"x"`, `"y"`, `""`, `[""]`, `{"x":""}`, `"${{ project.slug }}"`, `{"y":1e2,"x":[-0,0.1]}`,
		`"git@h:a/b"`, `1`, `3.0`, `true`, `false`, `null`, `["x"]`, `[]`, `{}`, `{"x":"y"}`,
		`{"cpu":1,"mem":"2G"}`, `"`+Instance+`"`)
}
