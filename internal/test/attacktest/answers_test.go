package attacktest_test

import (
	"context"
	"net/http"
	"strings"

	"slipway/internal/base/actor"
)

// answers are attacks by answers that are much longer than what asks for them.
func answers() []attack {
	return concat(resolved(), named(), compared(), previews(), stored())
}

// resolved are attacks by values that come back with what belongs to them.
func resolved() []attack {
	const x1k, x9k = 1000, 9_900
	big := `{"o":{` + members(18, `"%d":"`+strings.Repeat("x", x9k)+`"`) + `}}`
	byDefault := func(size int) string {
		return "[" + array(`[{"id":"x","label":"L","type":"text","default":"`+strings.Repeat("d", size)+`"}]`, "") + "]"
	}
	inner := strings.Replace(array(`[{"id":"x","label":"L","type":"text","default":"`+strings.Repeat("d", x9k)+`"}]`, ""), `"id":"a"`, `"id":"b"`, 1)
	outer := "[" + array("["+strings.TrimSuffix(inner, "}")+`,"default":[`+strings.Repeat("{},", 40)+"{}]}]", "") + "]"
	return []attack{
		probe("30 times 180 KB resolved from one variable", bounded, actor.Admin, onInputs(30, resolve), inputsOf(anObject, big)),
		probe("10 times 180 KB resolved for a viewer", within, actor.Viewer, onInputs(10, resolve), inputsOf(anObject, big)),
		probe("180 KB resolved once", within, actor.Viewer, onInputs(1, resolve), inputsOf(anObject, big)),
		probe("a default of 10 KB in 12,000 items", within, actor.Viewer, onInputs(1, resolve), inputsOf(byDefault(x9k), items(12_000, "{}"))),
		probe("a default of 10 KB in 12,000 items under 10 aliases", bounded, actor.Viewer, onInputs(10, resolve), inputsOf(byDefault(x9k), items(12_000, "{}"))),
		probe("a default of 1 KB in 40,000 items", within, actor.Viewer, onInputs(1, resolve), inputsOf(byDefault(x1k), items(40_000, "{}"))),
		probe("a default of 10 KB in items under 29 aliases", bounded, actor.Viewer, onInputs(29, resolve), inputsOf(byDefault(x9k), items(400, "{}"))),
		probe("defaults of items in defaults of items", within, actor.Viewer, onInputs(1, resolve), inputsOf(outer, items(4000, "{}"))),
		probe("defaults of items in defaults of items under 29 aliases", bounded, actor.Viewer, onInputs(29, resolve), inputsOf(outer, items(50, "{}"))),
		probe("an id of 60 KB in 10,000 items", within+"|200 Request:INVALID", actor.Viewer, onInputs(1, resolve),
			inputsOf("["+array(`[{"id":"`+strings.Repeat("i", 60_000)+`","label":"L","type":"text","default":"d"}]`)+"]", items(10_000, "{}"))),
		probe("2,250 templates of a long name under 29 aliases", bounded, actor.Viewer, "query($m: ID!, $e: ID!) "+
			aliased(29, "resolveInputs(input: {moduleVersionId: $m, values: {}, environmentId: $e}) { values }"),
			func(s stock) object { return object{"m": s.templated, "e": s.environment} }),
		probe("500 inputs of a stored version under 30 aliases", within, actor.Viewer, "query($m: ID!) "+
			aliased(30, "resolveInputs(input: {moduleVersionId: $m, values: {}}) { values levels { pointer visible groups } }"),
			func(s stock) object { return object{"m": s.wide} }),
	}
}

// named are attacks by the titles, descriptions and keys of items.
func named() []attack {
	title := func(n int) string {
		return "[" + array(aText, `,"item_title":{"template":"`+strings.Repeat("{x}", n)+`"}`) + "]"
	}
	described := "[" + array(aText, `,"item_description":"`+strings.Repeat("{x}", 3000)+`"`) + "]"
	item := func(size int) string { return `{"x":"` + strings.Repeat("x", size) + `"}` }
	const fields = 40
	froms := `"` + strings.Join(strings.Fields(each(fields, "f%d ")), `","`) + `"`
	keyed := `[{"id":"a","label":"L","type":"object_map","item_inputs":` + list(fields, `{"id":"f%d","label":"L","type":"string"}`) +
		`,"key":{"from_fields":[` + froms + `]}}]`
	entry := `{` + members(fields, `"f%d":"`+strings.Repeat("y", 120)+`"`) + `}`
	return []attack{
		probe("3,000 placeholders in 1,000 titles", bounded, actor.Viewer, onInputs(1, titles), inputsOf(title(3000), items(1000, item(100)))),
		probe("3,000 placeholders in 20 titles of long texts", bounded, actor.Viewer, onInputs(1, titles), inputsOf(title(3000), items(20, item(9000)))),
		probe("titles under 29 aliases", bounded, actor.Viewer, onInputs(29, titles), inputsOf(title(300), items(200, item(100)))),
		probe("3,000 placeholders in 1,000 descriptions", bounded, actor.Viewer, onInputs(1, titles), inputsOf(described, items(1000, item(100)))),
		probe("keys of 5 KB from 40 fields under 29 aliases", within, actor.Viewer, onInputs(29, titles),
			inputsOf(keyed, `{"a":{`+members(30, `"%d":`+entry)+`}}`)),
		probe("a key of 200 KB above 500 values", within+"|200 Request:INVALID", actor.Viewer, onInputs(1, resolve),
			inputsOf(`[{"id":"a","label":"L","type":"object_map","item_inputs":`+list(400, `{"id":"f%d","label":"L","type":"object_array","item_inputs":`+aText+`,"default":[{}]}`)+`}]`,
				`{"a":{"`+strings.Repeat("k", 150_000)+`":{}}}`)),
	}
}

// compared are attacks by comparisons of releases that differ in everything.
func compared() []attack {
	const compare = "compareDeployments(fromId: $f, toId: $t) { sameRelease inputs { pointer kind before after } artifact { pointer } }"
	leaved := func(s stock) object { return object{"f": s.left, "t": s.right} }
	blobs := func(s stock) object { return object{"f": s.blob, "t": s.clob} }
	const named = "query($f: ID!, $t: ID!) "
	return []attack{
		probe("12,000 leaves compared", within, actor.Viewer, named+aliased(1, compare), leaved),
		probe("12,000 leaves compared 29 times", bounded, actor.Viewer, named+aliased(29, compare), leaved),
		probe("12,000 leaves compared 29 times and not told", within, actor.Viewer, named+aliased(29, "compareDeployments(fromId: $f, toId: $t) { sameRelease }"), leaved),
		probe("two releases of 200 KB compared 29 times", within, actor.Viewer, named+aliased(29, compare), blobs),
		probe("a release compared with its like 29 times", within, actor.Viewer, named+aliased(29, compare), func(s stock) object { return object{"f": s.left, "t": s.left} }),
	}
}

// stored are attacks by what is stored of one record.
func stored() []attack {
	repeated := func(s stock) object {
		ids := make([]string, 100)
		for i := range ids {
			ids[i] = s.blob
		}
		return object{"ids": ids}
	}
	const release = "nodes(ids: $ids) { ... on Deployment { release { inputs } } }"
	return []attack{
		probe("200 KB of one deployment 100 times", bounded, actor.Viewer, "query($ids: [ID!]!) "+aliased(1, release), repeated),
		probe("200 KB of one deployment 2,500 times", bounded, actor.Viewer, "query($ids: [ID!]!) "+aliased(25, release), repeated),
		probe("the inputs of a version of 200 KB under 30 aliases", within, actor.Viewer, "query($m: ID!) "+
			aliased(30, "moduleVersion(id: $m) { inputsJson }"), func(s stock) object { return object{"m": s.wide} }),
		probe("the schema of a definition of 200 KB under 30 aliases", within, actor.Viewer, "query($d: ID!) "+
			aliased(30, "defaultValueDefinition(id: $d) { schemaJson description }"), func(s stock) object { return object{"d": s.definition} }),
		allowed(probe("300 long events under 30 aliases", within, actor.Viewer, "query($d: ID!) "+
			aliased(30, "deployment(id: $d) { events { message lifecycleStage startedAt } }"), func(s stock) object { return object{"d": s.eventful} })),
		probe("500 options with long descriptions under 30 aliases", within, actor.Viewer,
			aliased(30, `dynamicValues(source: "definition", params: {givenId: "large-0"}, first: 100) { nodes { value label description } }`), nothing),
		{name: "REST's list of long descriptions", want: "200", cpu: recordsCPU, why: ofRecords, run: func(ctx context.Context, c *caller) (string, error) {
			return c.send(ctx, request{method: http.MethodGet, path: "/module-definitions?limit=100", header: asJSON})
		}},
	}
}
