package attacktest_test

import (
	"strings"

	"slipway/internal/base/actor"
)

// mostText is how long an answer may be that refuses: 64 KiB of violations, told as list and as metadata,
// and what JSON needs around them.
const mostText = 256 << 10

// refusals are attacks by what is wrong in many places, or at great length.
func refusals() []attack {
	unknown := "{" + members(20_000, `"u%d":1`) + "}"
	numbers := `{"a":[` + strings.Repeat("1,", 20_000) + `1]}`
	message := strings.Repeat("m", 2000)
	wordy := `[{"id":"a","label":"L","type":"string_array","patterns":[{"pattern":"^b$","message":"` + message + `"}]}]`
	deep := nested(30, `{"`+strings.Repeat("k", 5000)+`":`, list(3000, `{"u%d":1}`), "}")
	options := `[{"id":"a","label":"L","type":"string_array","values":` + list(500, `"`+strings.Repeat("o", 300)+`%d"`) + `}]`
	const deploy = "createDeployment(input: {moduleInstanceId: $n, moduleVersionId: $v, inputs: $j}) { deployment { id } }"
	deployment := func(values string) func(stock) object {
		return func(s stock) object { return object{"n": s.idle, "v": s.plain, "j": raw(values)} }
	}
	schema := func(text string) string { return `{"id":"a","label":"L","type":"string",` + text + `}` }
	const create = `mutation($s: JSON!) { createDefaultValueDefinition(input: {givenId: "refused", name: "n", schema: {json: $s}}) { warnings { rule } } }`
	const deploying = "mutation($n: ID!, $v: ID!, $j: JSON!) "
	wrong := "200 Deployment:INPUTS_INVALID"
	all := []attack{
		probe("20,000 keys that are unknown", "200", actor.Viewer, onInputs(1, validate), inputsOf(anObject, unknown)),
		probe("20,000 items that are no texts", "200", actor.Viewer, onInputs(1, validate), inputsOf(texts, numbers)),
		probe("20,000 unknown keys and items in 10 fields", within, actor.Viewer, onInputs(10, validate), inputsOf(texts, unknown)),
		probe("a key of 200 KB that is unknown", "200", actor.Viewer, onInputs(1, validate), inputsOf(anObject, `{"`+strings.Repeat("k", 200_000)+`":1}`)),
		probe("20 keys of 10 KB that are unknown", "200", actor.Viewer, onInputs(1, validate), inputsOf(anObject, "{"+members(20, `"`+strings.Repeat("k", 10_000)+`%d":1`)+"}")),
		probe("a message of 2 KB for 20,000 items", within, actor.Viewer, onInputs(1, validate), inputsOf(wordy, `{"a":[`+strings.Repeat(`"x",`, 20_000)+`"x"]}`)),
		probe("500 options told for 10,000 items", "200", actor.Viewer, onInputs(1, validate), inputsOf(options, `{"a":[`+members(10_000, `"%d"`)+`]}`)),
		probe("an item key of 60 KB above 5,000 wrong ones", within+"|200 Request:INVALID", actor.Viewer, onInputs(1, validate),
			inputsOf("["+array(`[{"id":"`+strings.Repeat("i", 60_000)+`","label":"L","type":"text","required":true}]`)+"]", items(5000, "{}"))),
		probe("20,000 unknown keys deployed", wrong, actor.Developer, deploying+aliased(1, deploy), deployment(unknown)),
		probe("a key of 200 KB deployed", wrong, actor.Developer, deploying+aliased(1, deploy), deployment(`{"`+strings.Repeat("k", 200_000)+`":1}`)),
		probe("18,000 unknown members of a schema", "200 Request:INVALID", actor.Admin, create, fixed(object{"s": raw(schema(members(18_000, `"u%d":1`)))})),
		probe("a member of 200 KB of a schema", "200 Request:INVALID", actor.Admin, create, fixed(object{"s": raw(schema(`"` + strings.Repeat("u", 200_000) + `":1`))})),
		probe("a type of 200 KB", "200 Request:INVALID", actor.Admin, create, fixed(object{"s": raw(`{"id":"a","label":"L","type":"` + strings.Repeat("t", 200_000) + `"}`)})),
		probe("500 inputs with 20 unknown members each", "200 (Request:INVALID|DefaultValueDefinition:RULE_BROKEN)", actor.Admin, create,
			fixed(object{"s": raw(array(list(500, `{"id":"i%d","label":"L","type":"string",`+members(20, `"u%d":1`)+"}"), ""))})),
		probe("18,000 unknown members of an input object", "400 Document:VARIABLES_INVALID", actor.Admin,
			"mutation($i: CreateProjectInput!) { createProject(input: $i) { project { id } } }", fixed(object{"i": raw("{" + members(18_000, `"u%d":1`) + "}")})),
		probe("a member of 200 KB of an input object", "400 Document:VARIABLES_INVALID", actor.Admin,
			"mutation($i: CreateProjectInput!) { createProject(input: $i) { project { id } } }", fixed(object{"i": raw(`{"` + strings.Repeat("u", 200_000) + `":1}`)})),
		probe("20,000 numbers in the place of texts", "400 Document:VARIABLES_INVALID", actor.Runner,
			"mutation($k: [String!]!) { claimDeployment(input: {deploymentTypes: $k}) { deployment { id } } }", fixed(object{"k": raw("[" + strings.Repeat("1,", 20_000) + "1]")})),
		probe("an enum value of 200 KB", "400 Document:VARIABLES_INVALID", actor.Viewer,
			"query($s: [DeploymentStatus!]) { deployments(filter: {statuses: $s}) { totalCount } }", fixed(object{"s": strings.Repeat("S", 200_000)})),
		probe("wrong items 30 levels below keys of 5 KB", "200", actor.Viewer, onInputs(1, validate), inputsOf(texts, `{"a":`+deep+`}`)),
		patch("20,000 unknown members of a PATCH", "400 Request:MALFORMED|400 Request:INVALID", `{"data":{`+members(20_000, `"u%d":1`)+`}}`, 0),
		patch("a member of 200 KB of a PATCH", "400 Request:MALFORMED|400 Request:INVALID", `{"data":{"`+strings.Repeat("u", 200_000)+`":1}}`, 0),
	}
	for i := range all {
		all[i].answer = mostText
	}
	return all
}
