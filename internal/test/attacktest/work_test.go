package attacktest_test

import (
	"fmt"
	"strings"

	"slipway/internal/base/actor"
)

// work are attacks by queries that take much for a short answer.
func work() []attack { return concat(values(), patterns(), looked()) }

// values are attacks by values that have to be judged.
func values() []attack {
	words := `{"a":[` + strings.Repeat(`"word",`, 28_000) + `"word"]}`
	keys := "{" + members(18_000, `"%d":1`) + "}"
	chained := shown(499, -1)
	chain := "{" + members(499, `"i%d":"x"`) + "}"
	level := `[{"id":"x","label":"L","type":"text","default":"d","required":true}]`
	for range 12 {
		level = "[" + array(level, `,"default":[{},{}]`) + "]"
	}
	stored := func(s stock) object { return object{"m": s.wide} }
	return []attack{
		probe("200 KB of words judged once", within, actor.Viewer, onInputs(1, validate), inputsOf(texts, words)),
		probe("200 KB of words judged 30 times", bounded, actor.Viewer, onInputs(30, validate), inputsOf(texts, words)),
		probe("200 KB of words judged 30 times for a stranger", "200 Request:UNAUTHENTICATED|"+bounded, anonymous, onInputs(30, validate), inputsOf(texts, words)),
		probe("18,000 keys judged 30 times", bounded, actor.Viewer, onInputs(30, validate), inputsOf(anObject, `{"o":`+keys+"}")),
		probe("200 KB of inputs with no values 30 times", bounded, actor.Viewer, onInputs(30, validate),
			inputsOf(list(500, `{"id":"i%d","label":"L","type":"string","placeholder":"`+strings.Repeat("p", 350)+`"}`), "{}")),
		probe("a stored version of 200 KB judged 30 times", within, actor.Viewer, "query($m: ID!) "+
			aliased(30, `validateInputs(input: {moduleVersionId: $m, values: {i0: "x"}}) { valid violations { rule } }`), stored),
		probe("a stored definition of 200 KB judged 30 times", within, actor.Viewer, "query($d: ID!) "+
			aliased(30, `validateInputs(input: {defaultValueDefinitionId: $d, values: {a: "v499"}}) { valid }`), func(s stock) object { return object{"d": s.definition} }),
		probe("items that double in 12 levels of defaults", within, actor.Viewer, onInputs(1, validate), inputsOf(level, "{}")),
		probe("items that double in 12 levels of defaults 29 times", bounded, actor.Viewer, onInputs(29, validate), inputsOf(level, "{}")),
		probe("items that double in 12 levels of defaults in 1,000 items", within, actor.Viewer, onInputs(1, validate), inputsOf(level, items(1000, "{}"))),
		probe("499 inputs shown in a chain 29 times", within, actor.Viewer, onInputs(29, validate), inputsOf(chained, chain)),
		probe("a condition that 100 items of a list meet", within, actor.Viewer, onInputs(29, validate),
			inputsOf(`[{"id":"a","label":"L","type":"string_array"},`+strings.TrimPrefix(list(300, `{"id":"i%d","label":"L","type":"text","show_when":{"a":{"contains_all":["x","y%[1]d"]}}}`), "["),
				`{"a":[`+members(2000, `"y%d"`)+`]}`)),
	}
}

// patterns are attacks by patterns in many fields of one operation.
func patterns() []attack {
	hanging := func(n int, tail string) string {
		return list(n, `{"id":"i%d","label":"L","type":"string","patterns":[{"pattern":"^(a+)+%[1]d`+tail+`$","message":"m"}]}`)
	}
	text := `"` + strings.Repeat("a", 60) + `"`
	each30 := func(n int) object {
		variables := object{}
		for i := range n {
			variables[fmt.Sprint("x", i)] = object{"inputs": wrapped(hanging(1, strings.Repeat("b", i))), "values": raw(`{"i0":` + text + `}`)}
		}
		return variables
	}
	declared := "query(" + each(30, " $x%d: InputValuesInput!") + ") "
	many := list(30, `{"pattern":"`+strings.Repeat("(a|b)", 190)+`%d","message":"m"}`)
	return []attack{
		probe("a pattern that hangs in 30 fields", within, actor.Viewer, onInputs(30, validate), inputsOf(hanging(1, ""), `{"i0":`+text+`}`)),
		probe("30 patterns that hang in a field each", within, actor.Viewer,
			declared+"{"+each(30, " a%d: validateInputs(input: $x%[1]d) { ...v }")+" }"+judged, fixed(each30(30))),
		probe("a pattern that hangs in 30 fields that resolve", within, actor.Viewer, onInputs(30, resolve), inputsOf(hanging(1, ""), `{"i0":`+text+`}`)),
		probe("a pattern of look-aheads that hangs in 30 fields", within, actor.Viewer, onInputs(30, validate),
			inputsOf(`[{"id":"i0","label":"L","type":"string","patterns":[{"pattern":"^(?=(a+)+$)(?!(a|aa)+$)b","message":"m"}]}]`, `{"i0":`+text+`}`)),
		probe("30 patterns of 950 characters in 30 fields", within, actor.Viewer, onInputs(30, validate),
			inputsOf(`[{"id":"a","label":"L","type":"string","patterns":`+many+`}]`, `{"a":"abab"}`)),
		probe("400 patterns on 50 texts in 29 fields", within, actor.Viewer, onInputs(29, validate),
			inputsOf(`[{"id":"a","label":"L","type":"string_array","patterns":`+list(400, `{"pattern":"^a%d?$","message":"m"}`)+`}]`, `{"a":[`+strings.Repeat(`"a",`, 49)+`"a"]}`)),
	}
}

// looked are attacks by looking up much.
func looked() []attack {
	unknown := fixed(object{"p": raw("{" + members(18_000, `"p%d":"x"`) + "}")})
	const options = `dynamicValues(source: "projects", params: $p) { totalCount }`
	ids := make([]string, 100)
	for i := range ids {
		ids[i] = fmt.Sprintf("dep_%026d", i)
	}
	searched := probe("a search through long descriptions 29 times", within, actor.Viewer, "query($s: String!) "+
		aliased(29, "moduleDefinitions(filter: {search: $s}) { totalCount nodes { id } }"), fixed(object{"s": long[:4*90]}))
	searched.cpu, searched.why = recordsCPU, ofRecords
	const narrow = "{ __schema { types { name fields { name args { name type { name } } type { name } } } } }"
	return []attack{
		probe("18,000 parameters that a source does not have", within+"|200 Request:INVALID", actor.Viewer, "query($p: JSON!) "+aliased(1, options), unknown),
		probe("18,000 parameters that a source does not have 29 times", bounded, actor.Viewer, "query($p: JSON!) "+aliased(29, options), unknown),
		probe("every source 30 times", within, actor.Viewer, aliased(30, "dynamicSources { name description params { name description required } }"), nothing),
		probe("every error code 30 times", within, anonymous, aliased(30, "errorCodes { code status meaning remedy }"), nothing),
		probe("a stranger's introspection of everything", within, anonymous, "{ __schema { types { "+wide+" } directives { name args { name } } } }"+ref, nothing),
		probe("a stranger's introspection under aliases", overLimit+"introspection|"+within, anonymous, strings.Replace(narrow, "fields", "a: fields { name args { name } } b: fields { name args { name } } c: fields", 1), nothing),
		probe("2,900 ids of nothing", bounded+"|200 Node:NOT_FOUND", actor.Viewer, "query($ids: [ID!]!) "+aliased(29, "nodes(ids: $ids) { id }"), fixed(object{"ids": ids})),
		searched,
	}
}
