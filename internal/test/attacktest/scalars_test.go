package attacktest_test

import (
	"strings"

	"slipway/internal/base/actor"
)

// scalars are attacks by literals that are objects where scalars and enums belong.
func scalars() []attack {
	refused := func(name, query string) attack { return probe(name, invalid, anonymous, query, nothing) }
	const lots = `{a:{b:[{c:1},{},[[]]]}}`
	return []attack{
		refused("an object as an id", "{ node(id: {}) { id } }"),
		refused("objects in a list of ids", "{ nodes(ids: [{}, {}]) { id } }"),
		refused("an object as a list of ids", "{ nodes(ids: {}) { id } }"),
		refused("an object as a text", "{ moduleDefinitions(filter: {search: {}}) { totalCount } }"),
		refused("an object of objects as a text", "{ moduleDefinitions(filter: {search: "+lots+"}) { totalCount } }"),
		refused("an object as an Int", "{ moduleDefinitions(first: {}) { totalCount } }"),
		refused("an object as an enum", "{ moduleDefinitions(filter: {status: {}}) { totalCount } }"),
		refused("an object as a GivenId", "{ defaultValueDefinitions(filter: {givenId: {}}) { totalCount } }"),
		refused("an object as a moment", "{ deployments(filter: {createdFrom: {}}) { totalCount } }"),
		refused("an object as a Boolean", `mutation { updateDefaultValueDefinition(input: {id: "a", dryRun: {}}) { warnings { rule } } }`),
		refused("an object as the default of a variable", "query($a: ID! = {}) { node(id: $a) { id } }"),
		refused("objects as the defaults of 45 variables", "query("+each(45, "$a%d: Boolean = {}, ")+") {"+each(45, " ... @include(if: $a%d) { __typename }")+" }"),
		refused("a list as an id", "{ node(id: []) { id } }"),
		refused("@skip(if: {}) on a field", "{ __typename @skip(if: {}) }"),
		refused("@skip(if: {}) in 48 places", "{"+strings.Repeat(" ... @skip(if: {}) { __typename }", 48)+" }"),
		refused("@skip(if: {}) in 300 places by fragments", "{"+each(30, " ...f%d")+" }"+
			each(30, " fragment f%d on Query { ...g }")+" fragment g on Query {"+strings.Repeat(" ... @skip(if: {}) { __typename }", 10)+" }"),
		refused("@include(if: []) and @skip(if: null)", "{ ... @include(if: []) { __typename } ... @skip(if: null) { __typename } }"),
		refused("an object as a deprecated flag", `{ __type(name: "Query") { fields(includeDeprecated: {}) { name } } }`),
		refused("an object as a type's name", "{ __type(name: {}) { name } }"),
		probe("an id of 200 digits as a literal", "200 Node:NOT_FOUND", actor.Viewer, "{ node(id: "+strings.Repeat("9", 200)+") { id } }", nothing),
	}
}
