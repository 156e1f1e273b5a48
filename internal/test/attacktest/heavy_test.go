package attacktest_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"slipway/internal/base/actor"
)

// What work ends with that is within the limits of a document and over what an operation may take: refused
// before it runs, or ended in the course of it, if other fields may have been answered or refused.
const (
	costly   = `(.+ and )?Document:LIMIT_EXCEEDED cost( and .+)?`
	lengthy  = `(.+ and )?Request:ANSWER_TOO_LARGE answer( and .+)?`
	overCost = `(400|200) ` + costly
	tooLarge = `\d+ ` + lengthy
	bounded  = overCost + "|" + tooLarge
	// within is for what may be answered, too, as long as it takes no more than others.
	within = "200|" + bounded
)

// What lists of records may take for now, and why.
const (
	recordsCPU = 300 * time.Millisecond
	ofRecords  = "a list of records"
)

// probe is an attack by an operation of one role, with variables that may name what is in stock.
func probe(name, want string, who actor.Role, query string, variables func(stock) object) attack {
	return attack{name: name, want: want, query: query, run: func(ctx context.Context, c *caller) (string, error) {
		return c.as(who).post(ctx, fmt.Sprintf("%s #%d", query, c.round), variables(c.stock))
	}}
}

// lists is a probe of lists of records.
func lists(name, want string, who actor.Role, query string) attack {
	return allowed(probe(name, want, who, query, nothing))
}

// allowed is an attack with what lists of records may take.
func allowed(a attack) attack {
	a.cpu, a.why = recordsCPU, ofRecords
	return a
}

// asJSON is for REST, which has no media type of its own.
var asJSON = map[string]string{"Accept": "application/json"}

func nothing(stock) object { return nil }

func fixed(o object) func(stock) object { return func(stock) object { return o } }

// aliased is a field under n aliases.
func aliased(n int, field string) string {
	return "{" + each(n, " a%d: "+strings.ReplaceAll(field, "%", "%%")) + " }"
}

// Operations on inputs, whose fields share the one variable that has the inputs and the values for them.
const (
	resolve  = "resolveInputs(input: $x) { ...r }"
	titles   = "resolveInputs(input: $x) { ...t }"
	validate = "validateInputs(input: $x) { ...v }"
	told     = " fragment r on ResolvedInputs { values levels { pointer visible } items { key } violations { message } }"
	entitled = " fragment t on ResolvedInputs { items { pointer key title description } }"
	judged   = " fragment v on InputsValidation { valid violations { pointer rule message } }"
)

// onInputs is an operation with a field under n aliases, and with the fragment that the field spreads.
func onInputs(n int, field string) string {
	fragment := map[string]string{resolve: told, titles: entitled, validate: judged}[field]
	return "query($x: InputValuesInput!) " + aliased(n, field) + fragment
}

// inputsOf are the variables with inputs and values for them.
func inputsOf(inputs, values string) func(stock) object {
	return fixed(object{"x": object{"inputs": wrapped(inputs), "values": raw(values)}})
}

// items are n objects in a list under the id a.
func items(n int, one string) string {
	return `{"a":[` + strings.Repeat(one+",", n-1) + one + `]}`
}

// array is an input a that is a list of objects.
func array(itemInputs string, more ...string) string {
	return `{"id":"a","label":"L","type":"object_array","item_inputs":` + itemInputs + strings.Join(more, "") + `}`
}

const (
	anObject = `[{"id":"o","label":"L","type":"object"}]`
	aText    = `[{"id":"x","label":"L","type":"text"}]`
	texts    = `[{"id":"a","label":"L","type":"string_array"}]`
)
