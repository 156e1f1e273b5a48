package journal_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/gate"
	"slipway/internal/pure/module"
	"slipway/internal/service/account"
	"slipway/internal/service/archive"
	"slipway/internal/service/catalog"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/rule"
	"slipway/internal/service/workspace"
	"slipway/internal/test/worldtest"
)

// mutation is how a test calls one of the schema's mutations: who does, with which input, and what is to
// be done before.
type mutation struct {
	by    actor.Role
	input func(*testing.T, *worldtest.World, *worldtest.Fixture) map[string]any
}

type in = map[string]any

// claimed makes a RUNNING deployment, and returns the input of a runner who has it.
func claimed(t *testing.T, p *worldtest.Fixture) in {
	t.Helper()
	d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
	return in{"id": d.ID, "leaseId": p.Claim(t, d)}
}

func given(t *testing.T, w *worldtest.World, givenID string) string {
	t.Helper()
	r := w.GraphQL(t, w.Acme.Tokens[actor.Admin], `mutation($input: CreateDefaultValueDefinitionInput!) {
		createDefaultValueDefinition(input: $input) { defaultValueDefinition { id } } }`, in{"input": definition(givenID)})
	return r.Text(t, "data", "createDefaultValueDefinition", "defaultValueDefinition", "id")
}

func definition(givenID string) in {
	return in{"givenId": givenID, "name": "N", "schema": in{"json": in{"id": "region", "type": "string", "label": "Region"}}}
}

func emptyProject(t *testing.T, w *worldtest.World) *ent.Project {
	t.Helper()
	p, err := w.Workspace.CreateProject(w.Acme.As(actor.Admin), workspace.NewProject{Name: "Empty", Slug: fmt.Sprintf("empty-%d", len(noted(t, w)))})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ofLive makes something live, and returns the input of a mutation that archives it, or what it is in.
func ofLive(place func(*worldtest.Fixture) string) func(*testing.T, *worldtest.World, *worldtest.Fixture) in {
	return func(t *testing.T, _ *worldtest.World, p *worldtest.Fixture) in {
		t.Helper()
		p.Succeeded(t)
		return in{"id": place(p), "acknowledgeLive": true}
	}
}

func unarchived(t *testing.T, id string, err error) in {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return in{"id": id}
}

// demanding makes a rule that demands an approval where a fixture is, and returns its id.
func demanding(t *testing.T, w *worldtest.World, p *worldtest.Fixture) string {
	t.Helper()
	made, _, err := w.Rules.Create(w.Acme.As(actor.Admin), rule.New{
		Name: "Four eyes", EnvironmentID: &p.Environment.ID, Demand: gate.Demand{Kind: &gate.Approvals{Count: 1, Role: actor.Developer}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return made.ID
}

// waiting makes a deployment that waits for an approval by another than an admin, and returns its id.
func waiting(t *testing.T, w *worldtest.World, p *worldtest.Fixture) (deploymentID, ruleID string) {
	t.Helper()
	ruleID = demanding(t, w, p)
	d, _, err := w.Deploy.Propose.Create(w.Acme.As(actor.Admin), propose.New{
		InstanceID: p.Instance.ID, VersionID: p.Version.ID, Inputs: strictjson.MustParse(`{"image":"web:1"}`), Artifact: strictjson.MustParse(worldtest.Artifact),
	})
	if err != nil {
		t.Fatal(err)
	}
	return d.ID, ruleID
}

// mutations are those of the schema.
var mutations = map[string]mutation{
	"createDefaultValueDefinition": {actor.Admin, func(*testing.T, *worldtest.World, *worldtest.Fixture) in { return definition("region") }},
	"updateDefaultValueDefinition": {actor.Admin, func(t *testing.T, w *worldtest.World, _ *worldtest.Fixture) in {
		other := in{"json": in{"id": "region", "type": "string", "label": "Other"}}
		return in{"id": given(t, w, "updated"), "name": "Other", "description": "D", "schema": other}
	}},
	"deleteDefaultValueDefinition": {actor.Admin, func(t *testing.T, w *worldtest.World, _ *worldtest.Fixture) in {
		return in{"id": given(t, w, "deleted")}
	}},
	"createModuleDefinition": {actor.Admin, func(*testing.T, *worldtest.World, *worldtest.Fixture) in {
		return in{"name": "N", "type": "n", "description": "D", "status": "DRAFT"}
	}},
	"updateModuleDefinition": {actor.Admin, func(_ *testing.T, _ *worldtest.World, p *worldtest.Fixture) in {
		return in{"id": p.Definition.ID, "name": "Other", "description": "D", "status": "ACTIVE"}
	}},
	"publishModuleVersion": {actor.Admin, func(_ *testing.T, _ *worldtest.World, p *worldtest.Fixture) in {
		return in{"moduleDefinitionId": p.Definition.ID, "version": "9.0.0", "deploymentType": module.DeploymentTypeTerraform, "inputs": []any{}}
	}},
	"deprecateModuleVersion": {actor.Admin, func(_ *testing.T, _ *worldtest.World, p *worldtest.Fixture) in {
		return in{"id": p.Version.ID, "reason": "It leaks"}
	}},
	"undeprecateModuleVersion": {actor.Admin, func(t *testing.T, w *worldtest.World, p *worldtest.Fixture) in {
		_, err := w.Catalog.DeprecateVersion(w.Acme.As(actor.Admin), catalog.Deprecate{VersionID: p.Version.ID, Reason: "It leaks"})
		return unarchived(t, p.Version.ID, err)
	}},
	"createToken": {actor.Admin, func(_ *testing.T, _ *worldtest.World, p *worldtest.Fixture) in {
		return in{"name": "N", "role": "VIEWER", "scope": in{"projectIds": []any{p.Project.ID}, "environmentIds": []any{p.Environment.ID}}}
	}},
	"revokeToken": {actor.Admin, func(t *testing.T, w *worldtest.World, _ *worldtest.Fixture) in {
		w.Token(t, w.Acme, account.NewToken{Name: "revoked", Role: actor.Viewer})
		r := w.GraphQL(t, w.Acme.Tokens[actor.Admin], `{ tokens(first: 1) { nodes { id } } }`, nil)
		return in{"id": r.Text(t, "data", "tokens", "nodes", 0, "id")}
	}},
	"createOrganization": {actor.Superadmin, func(*testing.T, *worldtest.World, *worldtest.Fixture) in { return in{"name": "N", "slug": "n"} }},
	"createProject":      {actor.Admin, func(*testing.T, *worldtest.World, *worldtest.Fixture) in { return in{"name": "N", "slug": "n"} }},
	"createEnvironment": {actor.Admin, func(_ *testing.T, _ *worldtest.World, p *worldtest.Fixture) in {
		return in{"projectId": p.Project.ID, "name": "N", "slug": "n"}
	}},
	"createModuleInstance": {actor.Developer, func(_ *testing.T, _ *worldtest.World, p *worldtest.Fixture) in {
		return in{"environmentId": p.Environment.ID, "moduleDefinitionId": p.Definition.ID, "name": "n"}
	}},
	"updateProject": {actor.Admin, func(_ *testing.T, _ *worldtest.World, p *worldtest.Fixture) in {
		return in{"id": p.Project.ID, "name": "Other", "slug": p.Project.Slug + "-other"}
	}},
	"updateEnvironment": {actor.Admin, func(_ *testing.T, _ *worldtest.World, p *worldtest.Fixture) in {
		return in{"id": p.Environment.ID, "name": "Other", "slug": "other"}
	}},
	"updateModuleInstance": {actor.Admin, func(_ *testing.T, _ *worldtest.World, p *worldtest.Fixture) in {
		return in{"id": p.Instance.ID, "name": "other"}
	}},
	"deleteProject": {actor.Admin, func(t *testing.T, w *worldtest.World, _ *worldtest.Fixture) in {
		return in{"id": emptyProject(t, w).ID}
	}},
	"deleteEnvironment": {actor.Admin, func(t *testing.T, w *worldtest.World, _ *worldtest.Fixture) in {
		e, err := w.Workspace.CreateEnvironment(w.Acme.As(actor.Admin), workspace.NewEnvironment{ProjectID: emptyProject(t, w).ID, Name: "E", Slug: "e"})
		if err != nil {
			t.Fatal(err)
		}
		return in{"id": e.ID}
	}},
	"deleteModuleInstance": {actor.Admin, func(t *testing.T, _ *worldtest.World, p *worldtest.Fixture) in {
		return in{"id": p.NewInstance(t, "deleted").ID}
	}},
	"archiveProject":        {actor.Admin, ofLive(func(p *worldtest.Fixture) string { return p.Project.ID })},
	"archiveEnvironment":    {actor.Admin, ofLive(func(p *worldtest.Fixture) string { return p.Environment.ID })},
	"archiveModuleInstance": {actor.Admin, ofLive(func(p *worldtest.Fixture) string { return p.Instance.ID })},
	"unarchiveProject": {actor.Admin, func(t *testing.T, w *worldtest.World, p *worldtest.Fixture) in {
		_, err := w.Archive.ArchiveProject(w.Acme.As(actor.Admin), archive.Request{ID: p.Project.ID})
		return unarchived(t, p.Project.ID, err)
	}},
	"unarchiveEnvironment": {actor.Admin, func(t *testing.T, w *worldtest.World, p *worldtest.Fixture) in {
		_, err := w.Archive.ArchiveEnvironment(w.Acme.As(actor.Admin), archive.Request{ID: p.Environment.ID})
		return unarchived(t, p.Environment.ID, err)
	}},
	"unarchiveModuleInstance": {actor.Admin, func(t *testing.T, w *worldtest.World, p *worldtest.Fixture) in {
		_, err := w.Archive.ArchiveInstance(w.Acme.As(actor.Admin), archive.Request{ID: p.Instance.ID})
		return unarchived(t, p.Instance.ID, err)
	}},
	"createDeployment": {actor.Developer, func(_ *testing.T, _ *worldtest.World, p *worldtest.Fixture) in {
		return in{"moduleInstanceId": p.Instance.ID, "moduleVersionId": p.Version.ID, "inputs": in{"image": "web:1"}, "artifact": in{}, "idempotencyKey": "k"}
	}},
	"rollbackDeployment": {actor.Developer, func(t *testing.T, _ *worldtest.World, p *worldtest.Fixture) in { return in{"id": p.Succeeded(t).ID} }},
	"redeployDeployment": {actor.Developer, func(t *testing.T, _ *worldtest.World, p *worldtest.Fixture) in { return in{"id": p.Failed(t).ID} }},
	"cancelDeployment": {actor.Developer, func(t *testing.T, _ *worldtest.World, p *worldtest.Fixture) in {
		return in{"id": p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`).ID}
	}},
	"destroyModuleInstance": {actor.Admin, func(t *testing.T, _ *worldtest.World, p *worldtest.Fixture) in {
		return in{"id": p.Instance.ID, "expectedLiveDeploymentId": p.Succeeded(t).ID, "reason": "not needed", "acknowledgeDependents": true}
	}},
	"quarantineRelease": {actor.Admin, func(t *testing.T, _ *worldtest.World, p *worldtest.Fixture) in {
		return in{"id": *p.Succeeded(t).ReleaseID, "reason": "bad"}
	}},
	"moveService": {actor.Admin, func(t *testing.T, _ *worldtest.World, p *worldtest.Fixture) in {
		to := p.NewInstance(t, "moved")
		data, err := p.Succeeded(t).Data.Data()
		if err != nil {
			t.Fatal(err)
		}
		return in{"serviceArn": *data.ServiceARN, "moduleInstanceId": to.ID}
	}},
	"unquarantineRelease": {actor.Admin, func(t *testing.T, w *worldtest.World, p *worldtest.Fixture) in {
		release := *p.Succeeded(t).ReleaseID
		if _, err := w.Deploy.Releases.Quarantine(w.Acme.As(actor.Admin), release, "bad", nil); err != nil {
			t.Fatal(err)
		}
		return in{"id": release}
	}},
	"promoteDeployment": {actor.Developer, func(t *testing.T, _ *worldtest.World, p *worldtest.Fixture) in {
		return in{"id": p.Succeeded(t).ID, "moduleInstanceId": p.NewInstance(t, "promoted").ID}
	}},
	"approveDeployment": {actor.Developer, func(t *testing.T, w *worldtest.World, p *worldtest.Fixture) in {
		id, _ := waiting(t, w, p)
		return in{"id": id, "reason": "Fine", "start": false}
	}},
	"rejectDeployment": {actor.Developer, func(t *testing.T, w *worldtest.World, p *worldtest.Fixture) in {
		id, _ := waiting(t, w, p)
		return in{"id": id, "reason": "Not now"}
	}},
	"startDeployment": {actor.Developer, func(t *testing.T, w *worldtest.World, p *worldtest.Fixture) in {
		id, ruleID := waiting(t, w, p)
		if _, err := w.Rules.End(w.Acme.As(actor.Admin), ruleID, nil); err != nil {
			t.Fatal(err)
		}
		return in{"id": id}
	}},
	"createRule": {actor.Admin, func(_ *testing.T, _ *worldtest.World, p *worldtest.Fixture) in {
		return in{"name": "N", "environmentId": p.Environment.ID, "demand": in{"approvals": in{"count": 1}}}
	}},
	"updateRule": {actor.Admin, func(t *testing.T, w *worldtest.World, p *worldtest.Fixture) in {
		return in{"id": demanding(t, w, p), "name": "Other", "overridable": false}
	}},
	"endRule": {actor.Admin, func(t *testing.T, w *worldtest.World, p *worldtest.Fixture) in { return in{"id": demanding(t, w, p)} }},
	"claimDeployment": {actor.Runner, func(t *testing.T, _ *worldtest.World, p *worldtest.Fixture) in {
		p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		return in{"deploymentTypes": module.DeploymentTypes}
	}},
	"renewLease": {actor.Runner, func(t *testing.T, _ *worldtest.World, p *worldtest.Fixture) in { return claimed(t, p) }},
	"reportDeployment": {actor.Runner, func(t *testing.T, _ *worldtest.World, p *worldtest.Fixture) in {
		i := claimed(t, p)
		i["events"] = []any{in{"message": "started"}}
		return i
	}},
	"completeDeployment": {actor.Runner, func(t *testing.T, _ *worldtest.World, p *worldtest.Fixture) in { return claimed(t, p) }},
}

func schemaOf(t *testing.T) *ast.Schema {
	t.Helper()
	text, err := os.ReadFile("../../../schema.graphql")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := gqlparser.LoadSchema(&ast.Source{Input: string(text)})
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func TestEveryMutationLeavesOneEvent(t *testing.T) {
	t.Parallel()
	schema := schemaOf(t)
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		for _, field := range schema.Mutation.Fields {
			m, ok := mutations[field.Name]
			if !ok {
				t.Errorf("%s: no case", field.Name)
				continue
			}
			input := m.input(t, w, w.Fixture(t, w.Acme, field.Name))
			seen := noted(t, w)
			m.send(t, w, field, input)
			want := []string{fmt.Sprintf("%s by %s over graphql, on something, in a request", field.Name, m.by)}
			if field.Name == "renewLease" {
				want = nil
			}
			var got []string
			for id, e := range noted(t, w) {
				if seen[id] != nil {
					continue
				}
				line := fmt.Sprintf("%s by %s over %s", e.Action, e.ActorName, e.Channel)
				if e.ObjectID != "" && e.RequestID != "" && e.ActorRole == string(m.by) {
					line += ", on something, in a request"
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", field.Name, diff)
			}
			cancelAll(t, w)
		}
		if len(mutations) != len(schema.Mutation.Fields) {
			t.Errorf("%d cases for %d mutations", len(mutations), len(schema.Mutation.Fields))
		}
	})
}

// cancelAll ends what is active, or requests its end.
func cancelAll(t *testing.T, w *worldtest.World) {
	t.Helper()
	for _, d := range w.Store.Client.Deployment.Query().AllX(w.Acme.As(actor.Developer)) {
		if d.CompletedAt == nil {
			if _, err := w.Deploy.Execution.Cancel(w.Acme.As(actor.Developer), d.ID, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// send carries a mutation out as one who may.
func (m mutation) send(t *testing.T, w *worldtest.World, field *ast.FieldDefinition, input in) {
	t.Helper()
	query := fmt.Sprintf(`mutation($input: %s) { m: %s(input: $input) { __typename } }`, field.Arguments[0].Type, field.Name)
	token := w.Acme.Tokens[m.by]
	if m.by == actor.Superadmin {
		w, token = w.In(actor.Global), w.Superadmin
	}
	if r := w.GraphQL(t, token, query, in{"input": input}); r.Code(t) != "" {
		t.Fatalf("%s: %s", field.Name, r.Body)
	}
}

// noted are all events, by their ids.
func noted(t *testing.T, w *worldtest.World) map[string]*ent.AuditEvent {
	t.Helper()
	events := map[string]*ent.AuditEvent{}
	system := &actor.Actor{Name: "test", Role: actor.System}
	for _, o := range w.Store.Client.Organization.Query().AllX(actor.With(t.Context(), system)) {
		for _, e := range w.Store.Client.AuditEvent.Query().AllX(actor.With(t.Context(), system.In(o.ID))) {
			events[e.ID] = e
		}
	}
	return events
}
