package paritytest_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/pure/gate"
	"slipway/internal/service/rule"
	"slipway/internal/test/worldtest"
)

// ids returns an id of each kind of record of an organization.
func (r records) ids(t testing.TB, w *worldtest.World, o *worldtest.Org) map[string]string {
	t.Helper()
	ctx := o.As(actor.Admin)
	event, err := w.Store.Client.AuditEvent.Query().First(ctx)
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := w.Accounts.AllTokens(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Deploy.Releases.Quarantine(ctx, *r.deployment.ReleaseID, "It was bad", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Deploy.Releases.UnquarantineRelease(ctx, *r.deployment.ReleaseID); err != nil {
		t.Fatal(err)
	}
	held, err := w.Store.Client.Quarantine.Query().First(ctx)
	if err != nil {
		t.Fatal(err)
	}
	ruled, _, err := w.Rules.Create(ctx, rule.New{Name: "R", EnvironmentID: &r.place.Environment.ID, Demand: gate.Demand{Kind: &gate.Approvals{Count: 2, Role: actor.Developer}}})
	if err != nil {
		t.Fatal(err)
	}
	waiting := r.place.Deploy(t, r.place.NewInstance(t, "waiting").ID, `{"image":"web:1"}`)
	if _, err := w.Deploy.Waiting.Approve(ctx, waiting.ID, nil, true); err != nil {
		t.Fatal(err)
	}
	voice, err := w.Store.Client.Approval.Query().First(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"rule": ruled.ID, "apr": voice.ID, "qua": held.ID, "org": o.ID, "prj": r.place.Project.ID, "env": r.place.Environment.ID, "mod": r.place.Definition.ID,
		"mver": r.place.Version.ID, "inst": r.place.Instance.ID, "rel": *r.deployment.ReleaseID,
		"dep": r.deployment.ID, "dvd": r.definition.ID, "tok": tokens[0].ID, "aud": event.ID,
	}
}

// same wants two answers to be one but for the ids that were asked for and the request ids.
func same(t *testing.T, what string, foreign, absent worldtest.Response, foreignID, absentID string) {
	t.Helper()
	plain := func(r worldtest.Response, id string) string {
		body := bytes.ReplaceAll(r.Body, []byte(id), []byte("ID"))
		body = bytes.ReplaceAll(body, []byte(r.Header.Get("X-Request-Id")), []byte("REQUEST"))
		return fmt.Sprint(r.Status, string(body))
	}
	if f, a := plain(foreign, foreignID), plain(absent, absentID); f != a {
		t.Errorf("%s: another organization's %s and an absent one differ:\n%s\n%s", what, foreignID, f, a)
	}
}

func TestAnotherOrganizationsRecordsAreAsIfAbsent(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		own, foreign := recordsOf(t, w, w.Acme), recordsOf(t, w, w.Globex)
		mine, theirs := own.ids(t, w, w.Acme), foreign.ids(t, w, w.Globex)
		admin, runner := w.Acme.Tokens[actor.Admin], w.Acme.Tokens[actor.Runner]
		before := state(t, w)
		for _, o := range byID {
			f, a := o.rest(t, w, admin, foreign.id(o), change), o.rest(t, w, admin, absent(foreign.id(o)), change)
			if same(t, "REST "+o.name, f, a, foreign.id(o), absent(foreign.id(o))); f.Status != 404 {
				t.Errorf("%s: status %d", o.name, f.Status)
			}
		}
		for _, c := range onForeign(mine) {
			token := admin
			if c.runner {
				token = runner
			}
			id := theirs[c.kind]
			f, a := w.GraphQL(t, token, c.document, map[string]any{"id": id}), w.GraphQL(t, token, c.document, map[string]any{"id": absent(id)})
			same(t, c.document, f, a, id, absent(id))
			if code := fault.Code(f.Code(t)); c.empty == (code != "") || !c.empty && code.Status() != 404 {
				t.Errorf("%s: %s", c.document, f.Body)
			}
		}
		if after := state(t, w); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("something changed:\n%v\n%v", before, after)
		}
	})
}

// question is a GraphQL operation that takes the $id of another organization's record of a kind.
type question struct {
	kind, document string
	// runner operations are asked by a runner.
	runner bool
	// empty operations answer as if nothing met their conditions; the others are refused.
	empty bool
}

// onForeign are all operations that take an id; mine are ids of the caller's own.
func onForeign(mine map[string]string) []question {
	var all []question
	for _, kind := range []string{"org", "prj", "env", "mod", "mver", "inst", "rel", "dep", "dvd", "tok", "aud", "qua", "rule", "apr"} {
		all = append(all,
			question{kind: kind, document: `query($id: ID!) { node(id: $id) { __typename id } }`},
			question{kind: kind, document: `query($id: ID!) { nodes(ids: [$id]) { id } }`})
	}
	for kind, field := range map[string]string{
		"prj": "project", "env": "environment", "mod": "moduleDefinition", "mver": "moduleVersion",
		"inst": "moduleInstance", "rel": "release", "dep": "deployment", "dvd": "defaultValueDefinition",
	} {
		all = append(all, question{kind: kind, document: `query($id: ID!) { ` + field + `(id: $id) { id } }`})
	}
	for kind, list := range map[string][]string{
		"prj":  {`deployments(filter: {projectId: $id})`, `moduleInstances(filter: {projectId: $id})`, `environments(filter: {projectId: $id})`, `environments(filter: {projectId: $id, archived: true})`},
		"env":  {`deployments(filter: {environmentId: $id})`, `moduleInstances(filter: {environmentId: $id})`},
		"inst": {`deployments(filter: {moduleInstanceId: $id})`},
		"mod":  {`moduleInstances(filter: {moduleDefinitionId: $id})`},
	} {
		for _, field := range list {
			all = append(all, question{kind: kind, empty: true, document: `query($id: ID!) { ` + field + ` { nodes { id } totalCount } }`})
		}
	}
	for _, pair := range []string{`fromId: $id, toId: "` + mine["dep"] + `"`, `fromId: "` + mine["dep"] + `", toId: $id`} {
		all = append(all, question{kind: "dep", document: `query($id: ID!) { compareDeployments(` + pair + `) { __typename } }`})
	}
	mutation := func(kind string, runner bool, call string) {
		all = append(all, question{kind: kind, runner: runner, document: `mutation($id: ID!) { ` + call + ` { __typename } }`})
	}
	mutation("dvd", false, `updateDefaultValueDefinition(input: {id: $id, name: "x"})`)
	mutation("dvd", false, `deleteDefaultValueDefinition(input: {id: $id})`)
	mutation("mod", false, `updateModuleDefinition(input: {id: $id, name: "x"})`)
	mutation("mod", false, `publishModuleVersion(input: {moduleDefinitionId: $id, version: "9.0.0", deploymentType: "aws:ecs", inputs: []})`)
	mutation("mver", false, `deprecateModuleVersion(input: {id: $id, reason: "x"})`)
	mutation("mver", false, `deprecateModuleVersion(input: {id: "`+mine["mver"]+`", reason: "x", successorId: $id})`)
	mutation("mver", false, `undeprecateModuleVersion(input: {id: $id})`)
	mutation("prj", false, `createEnvironment(input: {projectId: $id, name: "x", slug: "x"})`)
	for kind, entity := range map[string]string{"prj": "Project", "env": "Environment", "inst": "ModuleInstance"} {
		mutation(kind, false, `update`+entity+`(input: {id: $id, name: "x"})`)
		for _, verb := range []string{"delete", "archive", "unarchive"} {
			mutation(kind, false, verb+entity+`(input: {id: $id})`)
		}
	}
	mutation("env", false, `createModuleInstance(input: {environmentId: $id, moduleDefinitionId: "`+mine["mod"]+`", name: "x"})`)
	mutation("mod", false, `createModuleInstance(input: {environmentId: "`+mine["env"]+`", moduleDefinitionId: $id, name: "x"})`)
	mutation("inst", false, `createDeployment(input: {moduleInstanceId: $id, moduleVersionId: "`+mine["mver"]+`", inputs: {}})`)
	mutation("mver", false, `createDeployment(input: {moduleInstanceId: "`+mine["inst"]+`", moduleVersionId: $id, inputs: {}})`)
	mutation("dep", false, `createDeployment(input: {moduleInstanceId: "`+mine["inst"]+`", moduleVersionId: "`+mine["mver"]+`", inputsFromDeploymentId: $id})`)
	for _, field := range []string{"rollbackDeployment", "redeployDeployment", "cancelDeployment"} {
		mutation("dep", false, field+`(input: {id: $id})`)
	}
	for _, field := range []string{"renewLease", "reportDeployment", "completeDeployment"} {
		mutation("dep", true, field+`(input: {id: $id, leaseId: "x"})`)
	}
	mutation("rel", false, `quarantineRelease(input: {id: $id, reason: "x"})`)
	mutation("rel", false, `unquarantineRelease(input: {id: $id})`)
	mutation("inst", false, `destroyModuleInstance(input: {id: $id})`)
	mutation("inst", false, `moveService(input: {serviceArn: "arn:aws:ecs:eu-west-1:123456789012:service/main/web", moduleInstanceId: $id})`)
	for _, field := range []string{"approveDeployment", "rejectDeployment", "startDeployment"} {
		mutation("dep", false, field+`(input: {id: $id})`)
	}
	mutation("dep", false, `promoteDeployment(input: {id: $id, moduleInstanceId: "`+mine["inst"]+`"})`)
	mutation("inst", false, `promoteDeployment(input: {id: "`+mine["dep"]+`", moduleInstanceId: $id})`)
	mutation("prj", false, `createRule(input: {projectId: $id, name: "x", demand: {approvals: {count: 1}}})`)
	mutation("env", false, `createRule(input: {environmentId: $id, name: "x", demand: {approvals: {count: 1}}})`)
	mutation("rule", false, `updateRule(input: {id: $id, name: "x"})`)
	mutation("rule", false, `endRule(input: {id: $id})`)
	mutation("tok", false, `revokeToken(input: {id: $id})`)
	return all
}

// notForeign are the inputs' members that name no record, or nothing that is read: leases, and what is compared with the
// live deployment. The places of a token's scope are tried by TestNobodyMakesMoreThanHeHas.
var notForeign = []string{
	"claimDeployment.leaseId", "renewLease.leaseId", "reportDeployment.leaseId", "completeDeployment.leaseId",
	"rollbackDeployment.expectedLiveDeploymentId", "redeployDeployment.expectedLiveDeploymentId", "createDeployment.expectedLiveDeploymentId", "destroyModuleInstance.expectedLiveDeploymentId",
	"promoteDeployment.expectedLiveDeploymentId",
	"createToken.projects", "createToken.environments",
}

func TestEveryIDThatAMutationTakesIsTriedWithAnotherOrganizations(t *testing.T) {
	t.Parallel()
	schema, asked := schemaOf(t), ""
	for _, q := range onForeign(nil) {
		asked += q.document
	}
	for _, field := range schema.Mutation.Fields {
		for _, member := range schema.Types[field.Arguments[0].Type.Name()].Fields {
			name := field.Name + "." + member.Name
			tried := regexp.MustCompile(`\b` + field.Name + `\(input: \{[^{}]*\b` + member.Name + `: \$id\b`)
			if member.Type.Name() == "ID" && !slices.Contains(notForeign, name) && !tried.MatchString(asked) {
				t.Errorf("no question is about another organization's record as %s", name)
			}
		}
	}
}
