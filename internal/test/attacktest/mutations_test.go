package attacktest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"slipway/internal/base/actor"
)

// mutations are attacks by writes, most of which are refused.
func mutations() []attack {
	broken := raw(`{"id":"a","label":"L","type":"string","default":"` + strings.Repeat("y", 200) + `","values":` +
		list(500, `{"value":"v%d","description":"`+strings.Repeat("d", 350)+`"}`) + `}`)
	sound := raw(`{"id":"a","label":"L","type":"string","values":` + list(500, `{"value":"w%d","description":"`+strings.Repeat("d", 350)+`"}`) + `}`)
	wide := wrapped(list(500, `{"id":"i%d","label":"L","type":"string","placeholder":"`+strings.Repeat("p", 350)+`"}`))
	values := raw(`{"o":{` + members(18_000, `"k%d":1`) + `},"u":1}`)
	create := func(n int) string {
		return "mutation($s: JSON!) {" + each(n, ` a%d: createDefaultValueDefinition(input: {givenId: "refused", name: "n", schema: {json: $s}}) { warnings { rule } }`) + " }"
	}
	const dryRun = "mutation($u: UpdateDefaultValueDefinitionInput!) "
	trial := func(s stock) object {
		return object{"u": object{"id": s.definition, "schema": object{"json": sound}, "dryRun": true}}
	}
	const refused = "200 DefaultValueDefinition:RULE_BROKEN"
	return []attack{
		probe("a creation of 200 KB that is refused", refused+"|"+bounded, actor.Admin, create(1), fixed(object{"s": broken})),
		probe("29 creations of 200 KB that are refused", bounded, actor.Admin, create(29), fixed(object{"s": broken})),
		probe("29 creations of 200 KB by a viewer", "200 DefaultValueDefinition:FORBIDDEN|"+bounded, actor.Viewer, create(29), fixed(object{"s": broken})),
		probe("29 creations of 200 KB by a stranger", "200 Request:UNAUTHENTICATED|"+bounded, anonymous, create(29), fixed(object{"s": broken})),
		probe("29 dry runs of a schema of 200 KB", bounded, actor.Admin, dryRun+
			aliased(29, "updateDefaultValueDefinition(input: $u) { changes { before after } affectedVersions { inputsJson } affectedInstances { id } }"), trial),
		probe("29 dry runs of a schema of 200 KB that tell little", bounded, actor.Admin, dryRun+
			aliased(29, "updateDefaultValueDefinition(input: $u) { affectedInstances { id } }"), trial),
		probe("29 dry runs of a name that answer the schema", within, actor.Admin, "mutation($d: ID!) "+
			aliased(29, `updateDefaultValueDefinition(input: {id: $d, name: "n", dryRun: true}) { defaultValueDefinition { schemaJson description } }`),
			func(s stock) object { return object{"d": s.definition} }),
		probe("a version of 200 KB published 29 times", bounded, actor.Admin, "mutation($m: ID!, $i: [InputPropertyInput!]!) "+
			aliased(29, `publishModuleVersion(input: {moduleDefinitionId: $m, version: "2.0.0", deploymentType: "terraform", inputs: $i}) { warnings { rule } }`),
			func(s stock) object { return object{"m": s.module, "i": wide} }),
		probe("29 deployments of 200 KB that are refused", bounded, actor.Developer, "mutation($n: ID!, $v: ID!, $j: JSON!) "+
			aliased(29, `createDeployment(input: {moduleInstanceId: $n, moduleVersionId: $v, inputs: $j}) { deployment { id } }`),
			func(s stock) object { return object{"n": s.idle, "v": s.plain, "j": values} }),
		probe("29 reports of 200 KB without a lease", bounded+"|200 Deployment:LEASE_LOST|400 Document:VARIABLES_INVALID", actor.Runner, "mutation($d: ID!, $j: JSON!) "+
			aliased(29, `reportDeployment(input: {id: $d, leaseId: "no-such-lease", data: $j}) { deployment { id } }`),
			func(s stock) object {
				return object{"d": s.blob, "j": raw(`{"previousTaskDefinition":{"arn":"a","revision":1,"definition":{` + members(18_000, `"k%d":1`) + `}}}`)}
			}),
		probe("29 completions with 64 KiB of outputs without a lease", bounded+"|200 Deployment:LEASE_LOST|400 Document:VARIABLES_INVALID", actor.Runner, "mutation($d: ID!, $j: JSON!) "+
			aliased(29, `completeDeployment(input: {id: $d, leaseId: "no-such-lease", outputs: $j}) { deployment { id } }`),
			func(s stock) object { return object{"d": s.blob, "j": raw(`{` + members(5_000, `"k%d":1`) + `}`)} }),
		probe("29 claims of 5,000 kinds", bounded+"|200 Request:INVALID", actor.Runner, "mutation($k: [String!]!) "+
			aliased(29, "claimDeployment(input: {deploymentTypes: $k}) { deployment { id } }"),
			fixed(object{"k": strings.Fields(each(5000, "kind%d "))})),
		probe("29 projects with names of 200 KB that are refused", bounded+"|200 Project:SLUG_TAKEN|200 Request:INVALID", actor.Admin, "mutation($n: String!) "+
			aliased(29, `createProject(input: {name: $n, slug: "attack"}) { project { name } }`), fixed(object{"n": strings.Repeat("n", 200_000)})),
		probe("29 destroys where nothing is live, for a reason of 200 KB", bounded+"|200 ModuleInstance:NOTHING_LIVE|200 Request:INVALID", actor.Admin, "mutation($n: ID!, $r: String!) "+
			aliased(29, `destroyModuleInstance(input: {id: $n, reason: $r}) { deployment { id } }`),
			func(s stock) object { return object{"n": s.idle, "r": strings.Repeat("r", 200_000)} }),
		probe("29 destroys by a developer", bounded+"|200 ModuleInstance:FORBIDDEN", actor.Developer, "mutation($n: ID!) "+
			aliased(29, `destroyModuleInstance(input: {id: $n, acknowledgeDependents: true}) { deployment { id } }`),
			func(s stock) object { return object{"n": s.idle} }),
		probe("29 instances renamed to 200 KB", bounded+"|200 Request:INVALID|400 Document:VARIABLES_INVALID", actor.Admin, "mutation($n: ID!, $t: GivenId!) "+
			aliased(29, `updateModuleInstance(input: {id: $n, name: $t}) { moduleInstance { name } }`),
			func(s stock) object { return object{"n": s.idle, "t": strings.Repeat("t", 200_000)} }),
		probe("29 versions deprecated for a reason of 200 KB", bounded+"|200 Request:INVALID", actor.Admin, "mutation($v: ID!, $r: String!) "+
			aliased(29, `deprecateModuleVersion(input: {id: $v, reason: $r}) { moduleVersion { id } }`),
			func(s stock) object { return object{"v": s.plain, "r": strings.Repeat("r", 200_000)} }),
		probe("29 environments with active deployments archived", bounded+"|200 Deployment:IN_PROGRESS", actor.Admin, "mutation($e: ID!) "+
			aliased(29, `archiveEnvironment(input: {id: $e, acknowledgeLive: true, acknowledgeDependents: true}) { environment { id } }`),
			func(s stock) object { return object{"e": s.environment} }),
		probe("29 changes of a type that is used", bounded+"|200 ModuleDefinition:IN_USE", actor.Admin, "mutation($m: ID!, $t: String!) "+
			aliased(29, `updateModuleDefinition(input: {id: $m, type: $t}) { moduleDefinition { id } }`),
			func(s stock) object { return object{"m": s.module, "t": strings.Repeat("t", 195)} }),
		patch("a PATCH of 200 KB", "200|422 DefaultValueDefinition:RULE_BROKEN", fmt.Sprintf(`{"data":{"schema":%s}}`, sound), 0),
		patch("a PATCH of 200 KB that is refused", "422 DefaultValueDefinition:RULE_BROKEN", fmt.Sprintf(`{"data":{"schema":%s}}`, broken), 64<<10),
	}
}

// patch is an attack by the body of a PATCH, whose answer has at most some bytes if that is not 0.
func patch(name, want, body string, answer int64) attack {
	return attack{name: name, want: want, answer: answer, run: func(ctx context.Context, c *caller) (string, error) {
		return c.send(ctx, request{
			method: http.MethodPatch, path: "/default-value-definitions/" + c.stock.definition, header: asJSON, body: strings.NewReader(body),
		})
	}}
}
