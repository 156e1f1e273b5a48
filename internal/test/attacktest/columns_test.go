package attacktest_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"entgo.io/ent/dialect"
	"entgo.io/ent/schema/field"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"slipway"
	"slipway/ent/auditevent"
	"slipway/ent/cloudevent"
	"slipway/ent/defaultvaluedefinition"
	"slipway/ent/deployment"
	"slipway/ent/deploymentoutput"
	"slipway/ent/deploymentreference"
	"slipway/ent/giveninput"
	"slipway/ent/inputbaseline"
	"slipway/ent/migrate"
	"slipway/ent/moduleinstance"
	"slipway/ent/moduleversion"
	"slipway/ent/release"
	"slipway/ent/rule"
	enttoken "slipway/ent/token"
	"slipway/internal/base/actor"
)

// columnReads are the operations that read a column of JSON.
type columnReads struct {
	// typeName is the type whose fields are the column, empty if none is.
	typeName string
	attacks  []attack
	// why says why nothing of the interface reads the column.
	why string
}

// readings are those of every column of JSON, by table and column; columns of text that hold JSON are among them.
func readings() map[string]columnReads {
	const instances = "deployments(first: 95, filter: {statuses: FAILED}) { nodes "
	definition := func(s stock) object { return object{"d": s.tiny.definition} }
	module := func(s stock) object { return object{"m": s.tiny.module} }
	version := func(s stock) object { return object{"v": s.tiny.version} }
	at := func(s stock) object { return object{"v": s.tiny.light, "i": s.tiny.instance} }
	const ofModule = "query($m: ID!) { moduleDefinition(id: $m) { "
	const ofVersion, ofDefinition, ofBoth = "query($v: ID!) ", "query($d: ID!) ", "query($v: ID!, $i: ID!) "
	probe := func(name string, who actor.Role, query string, variables func(stock) object) attack {
		return probe(name, within, who, query, variables)
	}
	// What is answered without a look at the column is answered whole.
	unread := func(name, query string) attack {
		a := probe(name, actor.Developer, query, nothing)
		a.want = "200"
		return a
	}
	return map[string]columnReads{
		auditevent.Table + ".changes": {typeName: "AuditEvent", attacks: []attack{
			probe("the changes of 95 audit events", actor.Admin, "{ auditEvents(first: 95) { nodes { changes } } }", nothing),
		}},
		cloudevent.Table + ".event": {why: "only what takes the next event of the service reads it"},
		cloudevent.Table + ".scope": {why: "as the event"},
		defaultvaluedefinition.Table + ".schema": {typeName: "DefaultValueDefinition", attacks: []attack{
			probe("what 95 schemas are called", actor.Viewer, "{ defaultValueDefinitions(first: 95) { nodes { schema { __typename } } } }", nothing),
			probe("the defaults of 95 schemas", actor.Viewer, "{ defaultValueDefinitions(first: 95) { nodes { schema { ... on ObjectProperty { default } } } } }", nothing),
			probe("10 schemas as JSON", actor.Viewer, "{ defaultValueDefinitions(first: 10) { nodes { schemaJson } } }", nothing),
			probe("a schema decoded 29 times", actor.Viewer, ofDefinition+aliased(29, "defaultValueDefinition(id: $d) { schema { __typename } }"), definition),
			probe("a schema judged by 29 times", actor.Viewer, ofDefinition+aliased(29, "validateInputs(input: {defaultValueDefinitionId: $d, values: {}}) { valid }"), definition),
			probe("options of a schema 29 times", actor.Viewer, aliased(29, `dynamicValues(source: "default_value_definition", params: {givenId: "options"}) { totalCount }`), nothing),
			probe("a schema compared with another", actor.Admin, "mutation($d: ID!) "+
				aliased(1, `updateDefaultValueDefinition(input: {id: $d, dryRun: true, schema: {string: {id: "a", label: "A"}}}) { changes { field } }`), definition),
		}},
		deployment.Table + ".data": {typeName: "Deployment", attacks: []attack{
			probe("what 95 deployments' data is called", actor.Viewer, "{ "+instances+"{ data { __typename } } } }", nothing),
			probe("95 deployments' listeners", actor.Viewer, "{ "+instances+"{ data { ... on EcsDeploymentData { elbListenerState { capturedAt } } } } } }", nothing),
			probe("95 deployments' events within their data", actor.Viewer, "{ "+instances+"{ events { message } } } }", nothing),
			unread("whether 95 deployments could be approved of, whatever their data are", "{ "+instances+"{ approveEligibility { allowed } approvals(first: 10) { nodes { id } } requirements { met } } } }"),
			probe("10 deployments' data as JSON", actor.Viewer, "{ deployments(first: 10, filter: {statuses: FAILED}) { nodes { dataJson } } }", nothing),
		}},
		deployment.Table + ".setbacks": {why: "only what ends the deployment, or takes the next event of its service, reads it; it has two statuses with short reasons"},
		deployment.Table + ".error": {typeName: "Deployment", attacks: []attack{
			probe("the codes of 95 errors", actor.Viewer, "{ deployments(first: 95, filter: {statuses: CANCELED}) { nodes { error { code } } } }", nothing),
		}},
		deployment.Table + ".events": {typeName: "Deployment", attacks: []attack{
			probe("what 95 deployments' events are called", actor.Viewer, "{ deployments(first: 95, filter: {statuses: CANCELED}) { nodes { events { __typename } } } }", nothing),
		}},
		deployment.Table + ".override":       {why: "it is small: a reason of 500 characters, and a sentence for each rule that binds there"},
		moduleinstance.Table + ".own_inputs": {why: "1,000 names at most, counted as they come with their instance"},
		rule.Table + ".operations":           {why: "five words at most"},
		rule.Table + ".demand":               {why: "it is small: 20 holders or 14 spans at most, of 200 rules that are in force"},
		deploymentreference.Table + ".paths": {why: "only what is outdated is found by it, and they are no more than the inputs that name them"},
		giveninput.Table + ".content": {attacks: []attack{
			probe("what was given to 95 deployments", actor.Viewer, "{ "+instances+"{ givenInputs } } }", nothing),
			probe("what was given to 20 deployments 29 times", actor.Viewer, aliased(29, "deployments(first: 20, filter: {statuses: FAILED}) { nodes { givenInputs } }"), nothing),
		}},
		moduleversion.Table + ".inputs": {typeName: "ModuleVersion", attacks: []attack{
			probe("what the inputs of 95 versions are called", actor.Viewer, ofModule+"versions(first: 95) { nodes { inputs { __typename } } } } }", module),
			probe("the inputs of 10 versions as JSON", actor.Viewer, ofModule+"versions(first: 10) { nodes { inputsJson } } } }", module),
			probe("the inputs of a version decoded 29 times", actor.Viewer, ofVersion+aliased(29, "moduleVersion(id: $v) { inputs { __typename } }"), version),
			probe("values judged by a version 29 times", actor.Viewer, ofVersion+aliased(29, "validateInputs(input: {moduleVersionId: $v, values: {}}) { valid }"), version),
		}},
		moduleversion.Table + ".outputs": {typeName: "ModuleVersion", attacks: []attack{
			probe("what the outputs of 95 versions are called", actor.Viewer, ofModule+"versions(first: 95) { nodes { outputs { __typename } } } } }", module),
			probe("the outputs of a version decoded 29 times", actor.Viewer, ofVersion+aliased(29, "moduleVersion(id: $v) { outputs { name } }"), version),
		}},
		deploymentoutput.Table + ".content": {typeName: "Deployment", attacks: []attack{
			probe("the outputs of 95 deployments", actor.Viewer, "{ "+instances+"{ outputs } } }", nothing),
			probe("the outputs of 10 deployments 29 times", actor.Viewer, "{ "+each(29, " a%d: deployments(first: 10, filter: {statuses: FAILED}) { nodes { outputs } }")+" }", nothing),
		}},
		release.Table + ".content": {typeName: "Release", attacks: []attack{
			probe("the inputs of 95 deployments' releases", actor.Viewer, "{ "+instances+"{ release { inputs } } } }", nothing),
			probe("the artifacts of 95 deployments' releases", actor.Viewer, "{ "+instances+"{ release { artifact } } } }", nothing),
		}},
		inputbaseline.Table + ".content": {attacks: []attack{
			probe("values judged by what is remembered 29 times", actor.Viewer, ofBoth+
				aliased(29, "validateInputs(input: {moduleVersionId: $v, moduleInstanceId: $i, values: {}}) { valid }"), at),
		}},
		enttoken.Table + ".scope": {typeName: "Token", attacks: []attack{
			probe("the scopes of 95 tokens", actor.Admin, "{ tokens(first: 95) { nodes { scope { projectIds environmentIds } } } }", nothing),
		}},
	}
}

// columns are attacks by every column of JSON that is as large as it may be, of values as small as they may be.
func columns() (all []attack) {
	read := readings()
	for _, column := range slices.Sorted(maps.Keys(read)) {
		all = append(all, read[column].attacks...)
	}
	return all
}

func TestEveryColumnOfJSONIsAttacked(t *testing.T) {
	t.Parallel()
	read := readings()
	found := 0
	for _, table := range migrate.Tables {
		for _, c := range table.Columns {
			if c.Type != field.TypeJSON && c.SchemaType[dialect.Postgres] != "json" {
				continue
			}
			found++
			if r := read[table.Name+"."+c.Name]; (len(r.attacks) == 0) == (r.why == "") {
				t.Errorf("%s.%s has %d attacks and the reason %q", table.Name, c.Name, len(r.attacks), r.why)
			}
		}
	}
	if found < 9 {
		t.Errorf("found only %d columns of JSON", found)
	}
}

func TestEveryFieldOfAColumnOfJSONIsAttacked(t *testing.T) {
	t.Parallel()
	schema := gqlparser.MustLoadSchema(&ast.Source{Input: string(slipway.Schema)})
	for column, r := range readings() {
		if r.typeName == "" {
			continue
		}
		_, name, _ := strings.Cut(column, ".")
		asked := ""
		for _, a := range r.attacks {
			asked += a.query
			if _, err := parser.ParseQuery(&ast.Source{Input: a.query}); err != nil {
				t.Errorf("%s: %v", a.name, err)
			}
		}
		for _, f := range schema.Types[r.typeName].Fields {
			if f.Name != name && f.Name != name+"Json" {
				continue
			}
			if !strings.Contains(asked, " "+f.Name+" ") {
				t.Errorf("%s.%s reads %s, and no attack asks for it", r.typeName, f.Name, column)
			}
		}
	}
}
