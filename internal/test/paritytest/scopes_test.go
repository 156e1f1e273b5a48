package paritytest_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/ent"
	entdeployment "slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/pure/gate"
	"slipway/internal/pure/module"
	"slipway/internal/service/account"
	"slipway/internal/service/rule"
	"slipway/internal/service/workspace"
	"slipway/internal/test/worldtest"
)

// ground is a place of acme's, in which each write finds something of its own to be on.
type ground struct {
	*worldtest.Fixture
	w    *worldtest.World
	made int
}

func (g *ground) instance(t *testing.T) string {
	t.Helper()
	g.made++
	return g.NewInstance(t, fmt.Sprint("instance-", g.made)).ID
}

// pending makes a deployment of a release that nothing else ships.
func (g *ground) pending(t *testing.T) *ent.Deployment {
	t.Helper()
	i := g.instance(t)
	return g.Deploy(t, i, fmt.Sprintf(`{"image":%q}`, i))
}

func (g *ground) succeeded(t *testing.T) *ent.Deployment {
	t.Helper()
	return g.Finish(t, g.pending(t), nil)
}

// rule makes a rule for the environment, and returns its id.
// rulesNamed counts the names of rules.
var rulesNamed atomic.Int64

// ruleName returns another name for each rule: in one place no two that are in force have the same.
func (g *ground) ruleName() string { return fmt.Sprint("R", rulesNamed.Add(1)) }

func (g *ground) rule(t *testing.T, demand gate.Demand) string {
	t.Helper()
	made, _, err := g.w.Rules.Create(g.w.Acme.As(actor.Admin), rule.New{
		Name: g.ruleName(), EnvironmentID: &g.Environment.ID, Demand: demand,
	})
	if err != nil {
		t.Fatal(err)
	}
	return made.ID
}

// awaiting makes a deployment that waits for approvals, and ends the rule that demands them; it returns its id.
func (g *ground) awaiting(t *testing.T) string {
	t.Helper()
	ruleID := g.rule(t, gate.Demand{Kind: &gate.Approvals{Count: 1, Role: actor.Developer}})
	d := g.pending(t)
	if _, err := g.w.Rules.End(g.w.Acme.As(actor.Admin), ruleID, nil); err != nil {
		t.Fatal(err)
	}
	return d.ID
}

// settle ends what is active, so that no claim takes it for something else.
func (g *ground) settle(t *testing.T) {
	t.Helper()
	for _, d := range g.w.Store.Client.Deployment.Query().Where(entdeployment.CompletedAtIsNil()).AllX(g.w.Acme.As(actor.Viewer)) {
		g.w.Cancel(t, g.w.Acme, d.ID)
	}
}

// grounds makes three places: two environments of one project, and one of another.
func grounds(t *testing.T, w *worldtest.World) map[string]*ground {
	t.Helper()
	one, other := w.Fixture(t, w.Acme, "one"), w.Fixture(t, w.Acme, "other")
	beside := *one
	var err error
	if beside.Environment, err = w.Workspace.CreateEnvironment(w.Acme.As(actor.Admin), workspace.NewEnvironment{
		ProjectID: one.Project.ID, Name: "Staging", Slug: "staging",
	}); err != nil {
		t.Fatal(err)
	}
	return map[string]*ground{"one": {Fixture: one, w: w}, "beside": {Fixture: &beside, w: w}, "other": {Fixture: other, w: w}}
}

// scoping is a scope and the grounds within it.
type scoping struct {
	scope  *actor.Scope
	within []string
}

func scopings(all map[string]*ground) map[string]scoping {
	one, other := all["one"], all["other"]
	return map[string]scoping{
		"none":        {nil, []string{"one", "beside", "other"}},
		"project":     {&actor.Scope{Projects: []string{one.Project.ID}}, []string{"one", "beside"}},
		"environment": {&actor.Scope{Environments: []string{one.Environment.ID}}, []string{"one"}},
		"both": {&actor.Scope{
			Projects: []string{other.Project.ID}, Environments: []string{one.Environment.ID},
		}, []string{"one", "other"}},
	}
}

// placedWrite is a mutation on what is in one place.
type placedWrite struct {
	role actor.Role
	code fault.Code
	// on makes what the mutation is on, and gives its input.
	on func(*testing.T, *ground) map[string]any
}

func onSucceeded(t *testing.T, g *ground) map[string]any {
	return map[string]any{"id": g.succeeded(t).ID}
}

func onHeld(t *testing.T, g *ground) map[string]any {
	d := g.pending(t)
	return map[string]any{"id": d.ID, "leaseId": g.Claim(t, d)}
}

func onInstance(t *testing.T, g *ground) map[string]any {
	return map[string]any{"id": g.instance(t)}
}

var placedWrites = map[string]placedWrite{
	"createModuleInstance": {actor.Developer, fault.ModuleInstanceForbidden, func(_ *testing.T, g *ground) map[string]any {
		g.made++
		return map[string]any{"environmentId": g.Environment.ID, "moduleDefinitionId": g.Definition.ID, "name": fmt.Sprint("made-", g.made)}
	}},
	"updateEnvironment": {actor.Admin, fault.EnvironmentForbidden, func(_ *testing.T, g *ground) map[string]any {
		g.made++
		return map[string]any{"id": g.Environment.ID, "name": fmt.Sprint("Environment ", g.made)}
	}},
	"unarchiveEnvironment": {actor.Admin, fault.EnvironmentForbidden, func(_ *testing.T, g *ground) map[string]any {
		return map[string]any{"id": g.Environment.ID}
	}},
	"updateModuleInstance": {actor.Admin, fault.ModuleInstanceForbidden, func(t *testing.T, g *ground) map[string]any {
		i := g.instance(t)
		return map[string]any{"id": i, "name": fmt.Sprint("renamed-", g.made)}
	}},
	"deleteModuleInstance":    {actor.Admin, fault.ModuleInstanceForbidden, onInstance},
	"archiveModuleInstance":   {actor.Admin, fault.ModuleInstanceForbidden, onInstance},
	"unarchiveModuleInstance": {actor.Admin, fault.ModuleInstanceForbidden, onInstance},
	"createDeployment": {actor.Developer, fault.DeploymentForbidden, func(t *testing.T, g *ground) map[string]any {
		return map[string]any{
			"moduleInstanceId": g.instance(t), "moduleVersionId": g.Version.ID, "inputs": map[string]any{"image": "web:1"},
			"artifact": map[string]any{"arn": "arn:aws:ecs:eu-west-1:123456789012:task-definition/web:7", "revision": 7, "definition": map[string]any{"family": "web"}},
		}
	}},
	"rollbackDeployment": {actor.Developer, fault.DeploymentForbidden, onSucceeded},
	"redeployDeployment": {actor.Developer, fault.DeploymentForbidden, onSucceeded},
	"cancelDeployment": {actor.Admin, fault.DeploymentForbidden, func(t *testing.T, g *ground) map[string]any {
		return map[string]any{"id": g.pending(t).ID, "force": g.made%2 == 0}
	}},
	"destroyModuleInstance": {actor.Admin, fault.ModuleInstanceForbidden, func(t *testing.T, g *ground) map[string]any {
		return map[string]any{"id": g.succeeded(t).ModuleInstanceID}
	}},
	"promoteDeployment": {actor.Developer, fault.DeploymentForbidden, func(t *testing.T, g *ground) map[string]any {
		return map[string]any{"id": g.succeeded(t).ID, "moduleInstanceId": g.instance(t)}
	}},
	"approveDeployment": {actor.Developer, fault.DeploymentForbidden, func(t *testing.T, g *ground) map[string]any {
		return map[string]any{"id": g.awaiting(t), "start": false}
	}},
	"rejectDeployment": {actor.Developer, fault.DeploymentForbidden, func(t *testing.T, g *ground) map[string]any {
		return map[string]any{"id": g.awaiting(t)}
	}},
	"startDeployment": {actor.Developer, fault.DeploymentForbidden, func(t *testing.T, g *ground) map[string]any {
		return map[string]any{"id": g.awaiting(t)}
	}},
	"createRule": {actor.Admin, fault.RuleForbidden, func(_ *testing.T, g *ground) map[string]any {
		return map[string]any{"name": g.ruleName(), "environmentId": g.Environment.ID, "demand": map[string]any{"freeze": map[string]any{"from": "2200-01-01T00:00:00Z"}}}
	}},
	"updateRule": {actor.Admin, fault.RuleForbidden, func(t *testing.T, g *ground) map[string]any {
		return map[string]any{"id": g.rule(t, gate.Demand{Kind: &gate.Freeze{From: time.Now().AddDate(100, 0, 0)}}), "name": g.ruleName()}
	}},
	"endRule": {actor.Admin, fault.RuleForbidden, func(t *testing.T, g *ground) map[string]any {
		return map[string]any{"id": g.rule(t, gate.Demand{Kind: &gate.Freeze{From: time.Now().AddDate(100, 0, 0)}})}
	}},
	"quarantineRelease": {actor.Admin, fault.ReleaseForbidden, func(t *testing.T, g *ground) map[string]any {
		return map[string]any{"id": *g.succeeded(t).ReleaseID, "reason": "bad"}
	}},
	"moveService": {actor.Admin, fault.ModuleInstanceForbidden, func(t *testing.T, g *ground) map[string]any {
		data, err := g.succeeded(t).Data.Data()
		if err != nil {
			t.Fatal(err)
		}
		return map[string]any{"serviceArn": *data.ServiceARN, "moduleInstanceId": g.instance(t)}
	}},
	"unquarantineRelease": {actor.Admin, fault.ReleaseForbidden, func(t *testing.T, g *ground) map[string]any {
		release := *g.succeeded(t).ReleaseID
		if _, err := g.w.Deploy.Releases.Quarantine(g.w.Acme.As(actor.Admin), release, "bad", nil); err != nil {
			t.Fatal(err)
		}
		return map[string]any{"id": release}
	}},
	"renewLease":         {actor.Runner, fault.DeploymentForbidden, onHeld},
	"reportDeployment":   {actor.Runner, fault.DeploymentForbidden, onHeld},
	"completeDeployment": {actor.Runner, fault.DeploymentForbidden, onHeld},
}

// wholeWrites are the mutations on what all of an organization shares.
var wholeWrites = map[string]func(own records) map[string]any{
	"createProject": func(records) map[string]any { return map[string]any{"name": "P", "slug": "p"} },
	"createModuleDefinition": func(records) map[string]any {
		return map[string]any{"name": "M", "type": "m", "status": "ACTIVE"}
	},
	"updateModuleDefinition": func(own records) map[string]any {
		return map[string]any{"id": own.place.Definition.ID, "name": "M"}
	},
	"publishModuleVersion": func(own records) map[string]any {
		return map[string]any{"moduleDefinitionId": own.place.Definition.ID, "version": "9.0.0", "deploymentType": "terraform", "inputs": []any{}}
	},
	"deprecateModuleVersion":   func(own records) map[string]any { return map[string]any{"id": own.place.Version.ID, "reason": "R"} },
	"undeprecateModuleVersion": func(own records) map[string]any { return map[string]any{"id": own.place.Version.ID} },
	"createDefaultValueDefinition": func(records) map[string]any {
		return map[string]any{"givenId": "d", "name": "D", "schema": map[string]any{"boolean": map[string]any{"id": "d", "label": "D", "default": true}}}
	},
	"updateDefaultValueDefinition": func(own records) map[string]any { return map[string]any{"id": own.definition.ID, "name": "D"} },
	"deleteDefaultValueDefinition": func(own records) map[string]any { return map[string]any{"id": own.definition.ID} },
}

// otherWrites are those that other tests look at: TestARunnerClaimsWithinItsScope,
// TestAnEnvironmentIsMadeWithinTheScope, TestPlacesAreArchivedAndDeletedWithinTheScope and those of tokens.
var otherWrites = []string{
	"claimDeployment", "createEnvironment", "createToken", "revokeToken", "createOrganization",
	"updateProject", "deleteProject", "archiveProject", "unarchiveProject", "deleteEnvironment", "archiveEnvironment",
}

func call(field string) string {
	return fmt.Sprintf("mutation($input: %s%sInput!) { %s(input: $input) { __typename } }", string(field[0]-'a'+'A'), field[1:], field)
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

func TestEveryWriteIsLookedAtForItsScope(t *testing.T) {
	t.Parallel()
	var writes []string
	for _, field := range schemaOf(t).Mutation.Fields {
		writes = append(writes, field.Name)
	}
	known := slices.Concat(slices.Collect(maps.Keys(placedWrites)), slices.Collect(maps.Keys(wholeWrites)), otherWrites)
	slices.Sort(writes)
	slices.Sort(known)
	if diff := cmp.Diff(writes, known); diff != "" {
		t.Errorf("the schema's (-) and those that are tried (+): %s", diff)
	}
}

func TestATokenWritesOnlyWithinItsScope(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		all := grounds(t, w)
		for name, s := range scopings(all) {
			for field, write := range placedWrites {
				token := w.Token(t, w.Acme, account.NewToken{Name: name, Role: write.role, Scope: s.scope})
				for where, g := range all {
					input := write.on(t, g)
					what := fmt.Sprintf("%s with the scope %s in %s", field, name, where)
					ask := func() worldtest.Response {
						return w.GraphQL(t, token, call(field), map[string]any{"input": input})
					}

					if slices.Contains(s.within, where) {
						if r := ask(); r.At(t, "errors") != nil {
							t.Errorf("%s: %s", what, r.Body)
						}
					} else {
						before := state(t, w)
						refusedByScope(t, what, ask(), write.code, s.scope)
						if diff := cmp.Diff(before, state(t, w)); diff != "" {
							t.Errorf("%s changed something: %s", what, diff)
						}
					}
					g.settle(t)
				}
			}
		}
	})
}

// refusedByScope wants a refusal of the code that names the scope.
func refusedByScope(t *testing.T, what string, r worldtest.Response, code fault.Code, scope *actor.Scope) {
	t.Helper()
	refusal := r.Refusal(t)
	want := append(slices.Clone(scope.Projects), scope.Environments...)
	details, _ := refusal["details"].([]any)
	if refusal["code"] != string(code) || len(details) != 1 || fmt.Sprint(details[0].(map[string]any)["items"]) != fmt.Sprint(want) {
		t.Errorf("%s: want %s with %v: %d %s", what, code, want, r.Status, r.Body)
	}
}

func TestBothSurfacesRefuseAlikeWhatIsOutOfScope(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		own, elsewhere := recordsOf(t, w, w.Acme), w.Fixture(t, w.Acme, "elsewhere")
		scope := &actor.Scope{Environments: []string{elsewhere.Environment.ID}}
		for _, role := range []actor.Role{actor.Developer, actor.Admin} {
			token := w.Token(t, w.Acme, account.NewToken{Name: "scoped", Role: role, Scope: scope})
			for _, o := range byID {
				switch o.name {
				case read.name:
					overREST, overGraphQL := o.rest(t, w, token, own.id(o), change), o.graphQL(t, w, token, own.id(o), change)
					if overREST.Status != 200 || overGraphQL.At(t, "errors") != nil {
						t.Errorf("%s: reading is bounded: %s %s", role, overREST.Body, overGraphQL.Body)
					}
				case update.name:
					o.refused(t, w, token, own.id(o), change, fault.DefaultValueDefinitionForbidden)
				default:
					o.refused(t, w, token, own.id(o), change, fault.DeploymentForbidden)
				}
			}
		}
	})
}

func TestEligibilitySaysBeforehandWhatIsOutOfScope(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		all := grounds(t, w)
		sources := map[string]*ent.Deployment{}
		for where, g := range all {
			sources[where] = g.succeeded(t)
		}
		const query = `query($id: ID!) { deployment(id: $id) { rollback: rollbackEligibility { allowed refusal { code message } } redeploy: redeployEligibility { allowed refusal { code message } } } }`
		for name, s := range scopings(all) {
			token := w.Token(t, w.Acme, account.NewToken{Name: name, Role: actor.Developer, Scope: s.scope})
			for where, d := range sources {
				r := w.GraphQL(t, token, query, map[string]any{"id": d.ID})
				for field, mutation := range map[string]string{"rollback": "rollbackDeployment", "redeploy": "redeployDeployment"} {
					within := slices.Contains(s.within, where)
					if got := r.At(t, "data", "deployment", field, "allowed"); got != within {
						t.Errorf("%s with the scope %s in %s: allowed %v", field, name, where, got)
					}
					if within {
						continue
					}
					refused := w.GraphQL(t, token, call(mutation), map[string]any{"input": map[string]any{"id": d.ID}}).Refusal(t)
					for _, member := range []string{"code", "message"} {
						if said := r.At(t, "data", "deployment", field, "refusal", member); said != refused[member] {
							t.Errorf("%s with the scope %s in %s: %v beforehand, then %v", field, name, where, said, refused[member])
						}
					}
				}
			}
		}
	})
}

func TestAReleaseIsQuarantinedBySomebodyWhoHasAllItsPlacesInScope(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		all := grounds(t, w)
		one := all["one"].succeeded(t)
		shared := all["beside"].Deploy(t, all["beside"].instance(t), fmt.Sprintf(`{"image":%q}`, one.ModuleInstanceID))
		if *shared.ReleaseID != *one.ReleaseID {
			t.Fatal("the releases differ")
		}
		input := map[string]any{"input": map[string]any{"id": *one.ReleaseID, "reason": "bad"}}
		for name, s := range scopings(all) {
			token := w.Token(t, w.Acme, account.NewToken{Name: name, Role: actor.Admin, Scope: s.scope})
			r := w.GraphQL(t, token, call("quarantineRelease"), input)
			if within := slices.Contains(s.within, "one") && slices.Contains(s.within, "beside"); within != (r.At(t, "errors") == nil) {
				t.Errorf("%s: %s", name, r.Body)
			}
		}
	})
}

func TestARunnerClaimsWithinItsScope(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		all := grounds(t, w)
		for name, s := range scopings(all) {
			token := w.Token(t, w.Acme, account.NewToken{Name: name, Role: actor.Runner, Scope: s.scope})
			var want []string
			for _, where := range []string{"other", "one", "beside"} {
				d := all[where].pending(t)
				if slices.Contains(s.within, where) {
					want = append(want, d.ID)
				}
			}
			var claimed []string
			for {
				r := w.GraphQL(t, token, `mutation($kinds: [String!]!) { claimDeployment(input: {deploymentTypes: $kinds}) { deployment { id } } }`, map[string]any{"kinds": module.DeploymentTypes})
				id, _ := r.At(t, "data", "claimDeployment", "deployment", "id").(string)
				if r.At(t, "errors") != nil {
					t.Fatalf("%s", r.Body)
				}
				if id == "" {
					break
				}
				claimed = append(claimed, id)
			}
			if !slices.Equal(claimed, want) {
				t.Errorf("%s: claimed %v, want %v", name, claimed, want)
			}
			all["one"].settle(t)
		}
	})
}

func TestAClaimIsNotTakenUpOutOfScope(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		all := grounds(t, w)
		all["one"].pending(t)
		again := map[string]any{"input": map[string]any{"deploymentTypes": module.DeploymentTypes, "leaseId": "lease_of_one"}}
		if r := w.GraphQL(t, w.Acme.Tokens[actor.Runner], call("claimDeployment"), again); r.At(t, "errors") != nil {
			t.Fatalf("%s", r.Body)
		}
		scope := &actor.Scope{Projects: []string{all["other"].Project.ID}}
		token := w.Token(t, w.Acme, account.NewToken{Name: "other", Role: actor.Runner, Scope: scope})
		refusedByScope(t, "claim", w.GraphQL(t, token, call("claimDeployment"), again), fault.DeploymentForbidden, scope)
	})
}

func TestWhatAnOrganizationSharesIsInNoScope(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		own := recordsOf(t, w, w.Acme)
		scope := &actor.Scope{Projects: []string{own.place.Project.ID}}
		token := w.Token(t, w.Acme, account.NewToken{Name: "scoped", Role: actor.Admin, Scope: scope})
		writesNothing(t, w, func() {
			for field, input := range wholeWrites {
				r := w.GraphQL(t, token, call(field), map[string]any{"input": input(own)})
				if status := fault.Code(r.Code(t)).Status(); status != 403 || r.At(t, "errors", 0, "extensions", "metadata", "scope") == nil {
					t.Errorf("%s: %s", field, r.Body)
				}
			}
		})
	})
}

func TestAnEnvironmentIsMadeWithinTheScope(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		all := grounds(t, w)
		for name, s := range scopings(all) {
			token := w.Token(t, w.Acme, account.NewToken{Name: name, Role: actor.Admin, Scope: s.scope})
			for where, g := range all {
				r := w.GraphQL(t, token, call("createEnvironment"), map[string]any{"input": map[string]any{
					"projectId": g.Project.ID, "name": "E", "slug": name + "-" + where,
				}})
				if s.scope == nil || slices.Contains(s.scope.Projects, g.Project.ID) {
					if r.At(t, "errors") != nil {
						t.Errorf("%s in %s: %s", name, where, r.Body)
					}
					continue
				}
				refusedByScope(t, name+" in "+where, r, fault.EnvironmentForbidden, s.scope)
			}
		}
	})
}

func TestPlacesAreArchivedAndDeletedWithinTheScope(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		all := grounds(t, w)
		all["beside"].instance(t)
		for name, s := range scopings(all) {
			token := w.Token(t, w.Acme, account.NewToken{Name: name, Role: actor.Admin, Scope: s.scope})
			for where, g := range all {
				for _, c := range []struct {
					field, id string
					code      fault.Code
					// within is whether it is within the scope, and then the code of what is in the way, "" for nothing.
					within bool
					then   fault.Code
				}{
					{"updateProject", g.Project.ID, fault.ProjectForbidden, s.hasProject(g), ""},
					{"deleteProject", g.Project.ID, fault.ProjectForbidden, s.hasProject(g), fault.ProjectNotEmpty},
					{"archiveProject", g.Project.ID, fault.ProjectForbidden, s.hasProject(g), ""},
					{"unarchiveProject", g.Project.ID, fault.ProjectForbidden, s.hasProject(g), ""},
					{"deleteEnvironment", g.Environment.ID, fault.EnvironmentForbidden, slices.Contains(s.within, where), fault.EnvironmentNotEmpty},
					{"archiveEnvironment", g.Environment.ID, fault.EnvironmentForbidden, slices.Contains(s.within, where), ""},
					{"unarchiveEnvironment", g.Environment.ID, fault.EnvironmentForbidden, slices.Contains(s.within, where), ""},
				} {
					r := w.GraphQL(t, token, call(c.field), map[string]any{"input": map[string]any{"id": c.id}})
					what := fmt.Sprintf("%s with the scope %s in %s", c.field, name, where)
					switch {
					case !c.within:
						refusedByScope(t, what, r, c.code, s.scope)
					case r.Code(t) != string(c.then):
						t.Errorf("%s: %s", what, r.Body)
					}
				}
			}
		}
	})
}

func (s scoping) hasProject(g *ground) bool {
	return s.scope == nil || slices.Contains(s.scope.Projects, g.Project.ID)
}
