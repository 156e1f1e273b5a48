package plantest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"slipway/ent"
	"slipway/ent/approval"
	"slipway/ent/moduledefinition"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/feed"
	"slipway/internal/data/journal"
	"slipway/internal/data/page"
	"slipway/internal/data/store"
	"slipway/internal/pure/gate"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/module"
	"slipway/internal/pure/runlog"
	"slipway/internal/service/account"
	"slipway/internal/service/archive"
	"slipway/internal/service/catalog"
	"slipway/internal/service/defaults"
	"slipway/internal/service/dependency"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/deployment/state"
	"slipway/internal/service/deployment/view"
	"slipway/internal/service/inputvalidation"
	"slipway/internal/service/retention"
	"slipway/internal/service/rule"
	"slipway/internal/service/workspace"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// tour carries out once what the program can do, at an instance that has had many deployments.
type tour struct {
	*testing.T
	w *worldtest.World
	p *worldtest.Fixture

	admin, developer context.Context
	// runner claims at the instance's project alone.
	runner context.Context
}

func newTour(t *testing.T, w *worldtest.World, p *worldtest.Fixture) *tour {
	t.Helper()
	runner := &actor.Actor{ID: "tok_runner", Name: "runner", Role: actor.Runner, OrganizationID: w.Acme.ID, Channel: actor.REST,
		Scope: &actor.Scope{Projects: []string{p.Project.ID}}}
	return &tour{t, w, p, w.Acme.As(actor.Admin), w.Acme.As(actor.Developer), actor.With(t.Context(), runner)}
}

// run carries all out. Each part takes what the earlier ones have made.
func (t *tour) run() {
	t.Helper()
	t.tokens()
	t.principals()
	t.places()
	first := t.deploys()
	t.replays(first)
	t.waits()
	t.control(first)
	t.follows()
	t.inputs()
	t.definitions()
	t.events()
	t.asks(first)
	t.moves()
	t.shadows()
	t.destroys()
	t.keepsHouse()
	t.ages()
}

func (t *tour) must(err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refused fails the test if a call was not refused with the code.
func (t *tour) refused(err error, code fault.Code) {
	t.Helper()
	if !fault.Is(err, code) {
		t.Errorf("%v, want %s", err, code)
	}
}

func (t *tour) tokens() {
	t.Helper()
	root := actor.With(t.Context(), &actor.Actor{Name: "root", Role: actor.System, Channel: actor.CLI})
	made, _, err := t.w.Accounts.CreateToken(t.admin, account.NewToken{Name: "scoped", Role: actor.Runner,
		Scope: account.ScopeOf([]string{t.p.Project.ID}, []string{t.p.Environment.ID}, []string{t.p.Definition.ID})})
	t.must(err)
	_, err = t.w.Accounts.Token(t.admin, made.ID)
	t.must(err)
	_, err = t.w.Accounts.RevokeToken(t.admin, made.ID)
	t.must(err)
	for _, token := range t.w.Acme.Tokens {
		request(t.T, t.w, token, "{ viewer { tokenId organization { id } organizations { id } } }")
	}
	request(t.T, t.w, t.w.Superadmin, "{ viewer { tokenId organizations { id } } }")
	for _, named := range []string{t.w.Acme.Slug, t.w.Acme.ID} {
		request(t.T, t.w.In(named), t.w.Superadmin, "{ viewer { tokenId } }")
	}
	t.w.Accounts.StoreUses(t.Context())
	_, err = t.w.Accounts.OrganizationBySlug(root, t.w.Acme.Slug)
	t.must(err)
}

// principals asks who made the tokens of the last in a line of makers, and who may do something at a place.
func (t *tour) principals() {
	t.Helper()
	ask := func(ctx context.Context, tx *ent.Tx) error {
		makers, err := t.w.Store.MakersOf(ctx, tx, []string{"holder:1-2", "tok_00000000000000000001000051", "holder:11-2"})
		if err == nil && len(makers["holder:1-2"]) != 2 {
			t.Errorf("%v are the makers of one after two", makers)
		}
		for _, holders := range [][]string{nil, {"alice", "bob"}} {
			if err == nil {
				_, err = t.w.Store.PrincipalsWith(ctx, tx, store.PrincipalQuery{At: time.Now(), Roles: []actor.Role{actor.Developer, actor.Viewer},
					Place: actor.Place{ProjectID: t.p.Project.ID, EnvironmentID: t.p.Environment.ID}, Holders: holders})
			}
		}
		return err
	}
	t.must(ask(t.admin, nil))
	never := func(context.Context, *ent.Client) (bool, error) { return false, nil }
	t.must(t.w.Store.Tx(t.admin, never, ask))
}

func (t *tour) places() {
	t.Helper()
	project, err := t.w.Workspace.CreateProject(t.admin, workspace.NewProject{Name: "More", Slug: "more"})
	t.must(err)
	_, err = t.w.Workspace.CreateEnvironment(t.admin, workspace.NewEnvironment{ProjectID: project.ID, Name: "More", Slug: "more"})
	t.must(err)
	t.p.NewInstance(t, "other")
	t.mends()
	global := actor.With(t.Context(), &actor.Actor{ID: "tok_root", Name: "root", Role: actor.Superadmin, Globally: true, Channel: actor.CLI})
	for _, ctx := range []context.Context{t.admin, global} {
		made, _, err := t.w.Catalog.CreateDefinition(ctx, catalog.NewDefinition{Name: "More", Type: "more", Status: moduledefinition.StatusACTIVE})
		t.must(err)
		_, _, err = t.w.Catalog.UpdateDefinition(ctx, made.ID, catalog.DefinitionPatch{Name: new("Yet more"), Type: new("yet-more")})
		t.must(err)
		version, _, err := t.w.Catalog.PublishVersion(ctx, module.NewVersion{DefinitionID: made.ID, Version: "1.0.0", Kind: module.DeploymentTypeTerraform})
		t.must(err)
		_, err = t.w.Catalog.DeprecateVersion(ctx, catalog.Deprecate{VersionID: version.ID, Reason: "It leaks"})
		t.must(err)
		_, err = t.w.Catalog.UndeprecateVersion(ctx, version.ID)
		t.must(err)
	}
}

// mends renames, archives, unarchives and deletes a project, what is in it, and an instance with a long history.
func (t *tour) mends() {
	t.Helper()
	project, err := t.w.Workspace.CreateProject(t.admin, workspace.NewProject{Name: "Mended", Slug: "mended"})
	t.must(err)
	environment, err := t.w.Workspace.CreateEnvironment(t.admin, workspace.NewEnvironment{ProjectID: project.ID, Name: "Mended", Slug: "mended"})
	t.must(err)
	instance, err := t.w.Catalog.CreateInstance(t.admin, catalog.NewInstance{EnvironmentID: environment.ID, DefinitionID: t.p.Definition.ID, Name: "mended"})
	t.must(err)
	_, err = t.w.Workspace.UpdateProject(t.admin, project.ID, workspace.ProjectPatch{Name: new("Other"), Slug: new("mended-too")})
	t.must(err)
	_, err = t.w.Workspace.UpdateEnvironment(t.admin, environment.ID, workspace.EnvironmentPatch{Name: new("Other"), Slug: new("mended-too")})
	t.must(err)
	_, err = t.w.Catalog.UpdateInstance(t.admin, instance.ID, catalog.InstancePatch{Name: new("mended-too")})
	t.must(err)
	for range 2 { // the environment and the instance are archived with the project, and then by themselves
		_, err = t.w.Archive.ArchiveProject(t.admin, archive.Request{ID: project.ID})
		t.must(err)
		_, err = t.w.Archive.ArchiveEnvironment(t.admin, archive.Request{ID: environment.ID})
		t.must(err)
		_, err = t.w.Archive.ArchiveInstance(t.admin, archive.Request{ID: instance.ID})
		t.must(err)
		_, err = t.w.Archive.UnarchiveProject(t.admin, project.ID)
		t.must(err)
		_, err = t.w.Archive.UnarchiveEnvironment(t.admin, environment.ID)
		t.must(err)
		_, err = t.w.Archive.UnarchiveInstance(t.admin, instance.ID)
		t.must(err)
	}
	_, err = t.w.Catalog.DeleteInstance(t.admin, instance.ID)
	t.must(err)
	_, _, err = t.w.Rules.Create(t.admin, rule.New{Name: "R", EnvironmentID: &environment.ID, Demand: gate.Demand{Kind: &gate.Approvals{Count: 1, Role: actor.Developer}}})
	t.must(err)
	_, err = t.w.Workspace.DeleteEnvironment(t.admin, environment.ID)
	t.must(err)
	_, err = t.w.Workspace.DeleteProject(t.admin, project.ID)
	t.must(err)
	_, err = t.w.Catalog.DeleteInstance(t.admin, t.p.Instance.ID)
	t.refused(err, fault.ModuleInstanceHasDeployments)
	for range 2 {
		_, err = t.w.Archive.ArchiveProject(t.admin, archive.Request{ID: t.p.Project.ID, AcknowledgeLive: true})
		t.must(err)
		_, err = t.w.Archive.UnarchiveProject(t.admin, t.p.Project.ID)
		t.must(err)
	}
}

// claim claims the deployment of the instance that waits, as a runner that carries out one kind.
func (t *tour) claim() (*ent.Deployment, string) {
	t.Helper()
	d, lease, err := t.w.Deploy.Execution.Claim(t.runner, execution.Claim{Kinds: []string{module.DeploymentTypeECS}, LeaseID: new(id.New(id.Lease))})
	if err != nil || d == nil {
		t.Fatal(d, err)
	}
	return d, lease.ID
}

// waits asks for the runners, and why a deployment waits that nobody has claimed and one that others are before.
func (t *tour) waits() {
	t.Helper()
	t.p.Deploy(t, t.p.Instance.ID, `{"image":"web:1"}`)
	t.w.Deploy.Runners.StoreAsks(t.Context())
	r, _, err := t.w.Rules.Create(t.admin, rule.New{Name: "Waits", EnvironmentID: &t.p.Environment.ID, Demand: gate.Demand{Kind: &gate.Approvals{Count: 1, Role: actor.Developer}}})
	t.must(err)
	awaiting := t.p.Deploy(t, t.p.Instance.ID, `{"image":"web:2"}`)
	request(t.T, t.w, t.w.Acme.Tokens[actor.Admin], fmt.Sprintf(`{ runners(first: 50, filter: {environmentId: %q}) { totalCount nodes { actor { name role token { id } } scope { projectIds } } }
		runnersOfAll: runners(first: 50) { totalCount }
		deployments(first: 50, filter: {statuses: PENDING}) { nodes { waitingFor { kind message } } } deployment(id: %q) { waitingFor { kind deployment { id status } } } }`,
		t.p.Environment.ID, awaiting.ID))
	_, err = t.w.Deploy.Execution.Cancel(t.developer, awaiting.ID, nil)
	t.must(err)
	_, err = t.w.Rules.End(t.admin, r.ID, nil)
	t.must(err)
	d, lease := t.claim()
	_, err = t.w.Deploy.Execution.End(t.runner, d.ID, lease, execution.Completion{})
	t.must(err)
}

// destroys destroys what is live, in vain and then not, and brings it back.
func (t *tour) destroys() {
	t.Helper()
	instance := t.p.NewInstance(t, "destroyed")
	t.p.Deploy(t, instance.ID, `{"image":"web:1"}`)
	live, lease := t.claim()
	_, err := t.w.Deploy.Execution.End(t.runner, live.ID, lease, execution.Completion{})
	t.must(err)
	for _, failure := range []*fault.Data{{Code: string(fault.DeploymentFailed), Message: "no"}, nil} {
		_, _, err := t.w.Deploy.Propose.Destroy(t.admin, propose.Destroy{InstanceID: instance.ID})
		t.must(err)
		d, lease, err := t.w.Deploy.Execution.Claim(t.runner, execution.Claim{
			Kinds: module.DeploymentTypes, Actions: []state.Action{state.DestroyAction},
		})
		t.must(err)
		_, err = t.w.Deploy.Execution.End(t.runner, d.ID, lease.ID, execution.Completion{Failure: failure})
		t.must(err)
	}
}

// deploys takes a deployment through all that becomes of one, and returns one that has succeeded.
func (t *tour) deploys() *ent.Deployment {
	t.Helper()
	t.p.Deploy(t, t.p.Instance.ID, `{"image":"web:1"}`)
	_, _, err := t.w.Deploy.Propose.Create(t.developer, propose.New{InstanceID: t.p.Instance.ID, VersionID: t.p.Version.ID,
		Inputs: strictjson.MustParse(`{"image":"web:1"}`), Artifact: strictjson.MustParse(worldtest.Artifact)})
	t.refused(err, fault.DeploymentInProgress)
	d, lease := t.claim()
	_, _, err = t.w.Deploy.Execution.Claim(t.runner, execution.Claim{Kinds: module.DeploymentTypes, LeaseID: &lease})
	t.must(err)
	_, _, err = t.w.Deploy.Execution.RenewLease(t.runner, d.ID, lease)
	t.must(err)
	line := runlog.Line{At: new(time.Now()), Stream: runlog.Stdout, Text: "x"}
	long := runlog.Line{At: new(time.Now()), Stream: runlog.Stdout, Text: strings.Repeat("x", 8000)}
	for i := range int32(30) { // more than is kept
		report := execution.Report{Sequence: new(i + 1), Logs: []runlog.Line{line}}
		for range 60 {
			report.Logs = append(report.Logs, long)
		}
		_, _, err = t.w.Deploy.Execution.Report(t.runner, d.ID, lease, report)
		t.must(err)
	}
	_, _, err = t.w.Deploy.Execution.Report(t.runner, d.ID, lease, execution.Report{ExternalDeploymentID: new("ecs-svc/tour"),
		Data: strictjson.MustParse(`{"detectedVia":"poll"}`), Logs: []runlog.Line{line}})
	t.must(err)
	d, err = t.w.Deploy.Execution.End(t.runner, d.ID, lease, execution.Completion{Outputs: strictjson.MustParse(`{"url":"https://tour"}`)})
	t.must(err)
	_, err = t.w.Deploy.Execution.End(t.runner, d.ID, lease, execution.Completion{})
	t.must(err)
	_, err = t.w.Deploy.View.OutputsOf(t.developer, []string{d.ID})
	t.must(err)
	return d
}

func (t *tour) replays(first *ent.Deployment) {
	t.Helper()
	for range 2 { // the second is known by its key
		_, _, err := t.w.Deploy.Propose.Rollback(t.developer, propose.Replay{SourceID: first.ID, Request: admission.Request{IdempotencyKey: new("key")}})
		t.must(err)
	}
	d, lease := t.claim()
	_, err := t.w.Deploy.Execution.Cancel(t.developer, d.ID, nil)
	t.must(err)
	_, err = t.w.Deploy.Execution.End(t.runner, d.ID, lease, execution.Completion{Canceled: true})
	t.must(err)
	_, err = t.w.Deploy.Releases.Quarantine(t.admin, *first.ReleaseID, "bad", nil)
	t.must(err)
	_, err = t.w.Deploy.Releases.UnquarantineRelease(t.admin, *first.ReleaseID)
	t.must(err)
	scoped := *actor.From(t.admin)
	scoped.Scope = actor.From(t.runner).Scope
	_, err = t.w.Deploy.Releases.Quarantine(actor.With(t.Context(), &scoped), *first.ReleaseID, "bad", nil)
	t.must(err)
	_, err = t.w.Deploy.Releases.UnquarantineRelease(t.admin, *first.ReleaseID)
	t.must(err)
	execute(t, t.w.Raw(t, t.w.Acme), `UPDATE idempotency_keys SET created_at = '2026-01-01 00:00:00+00:00' WHERE organization_id = '`+t.w.Acme.ID+`' AND "key" = 'key'`)
	d, _, err = t.w.Deploy.Propose.Rollback(t.developer, propose.Replay{SourceID: first.ID, Request: admission.Request{IdempotencyKey: new("key")}})
	t.must(err)
	_, err = t.w.Deploy.Execution.Cancel(t.developer, d.ID, nil)
	t.must(err)
	d, _, err = t.w.Deploy.Propose.Redeploy(t.developer, propose.Replay{SourceID: first.ID})
	t.must(err)
	_, err = t.w.Deploy.Execution.Cancel(t.developer, d.ID, nil)
	t.must(err)
	_, err = t.w.Deploy.Releases.Compare(t.developer, first.ID, d.ID)
	t.must(err)
	_, err = t.w.Deploy.View.LineagesOf(t.developer, []string{d.ID}, page.Args{})
	t.must(err)
}

// follows follows the organization and one deployment, from now on and after a cursor.
// control makes rules, and what waits for approvals.
func (t *tour) control(first *ent.Deployment) {
	t.Helper()
	var rules []*ent.Rule
	for _, in := range []rule.New{
		{EnvironmentID: &t.p.Environment.ID, Demand: gate.Demand{Kind: &gate.Approvals{Count: 1, Role: actor.Developer}}},
		{Demand: gate.Demand{Kind: &gate.LiveIn{EnvironmentIDs: []string{t.p.Environment.ID}}}},
	} {
		in.Name, in.Overridable, in.Operations = "R", true, []gate.Operation{gate.Promote, gate.Redeploy}
		r, _, err := t.w.Rules.Create(t.admin, in)
		t.must(err)
		rules = append(rules, r)
	}
	target := t.p.NewInstance(t, "promoted")
	in := propose.Promotion{SourceID: first.ID, InstanceID: target.ID}
	plan, err := t.w.Deploy.Propose.PlanPromote(t.developer, in)
	t.must(err)
	in.ExpectedPlan = plan.Token
	waits, _, err := t.w.Deploy.Propose.Promote(t.developer, in)
	t.must(err)
	_, err = t.w.Deploy.Propose.PlanRollback(t.developer, propose.Replay{SourceID: first.ID})
	t.must(err)
	_, err = t.w.Deploy.Propose.PlanDestroy(t.admin, propose.Destroy{InstanceID: t.p.Instance.ID})
	t.must(err)
	request(t.T, t.w, t.w.Acme.Tokens[actor.Admin], `query { deployments(filter: {awaitingMyApproval: true}) { nodes { id requirements { met rule { name } approvals { id } } approvals { nodes { counts createdBy { holder } deployment { status } } } createdBy { role } cancelEligibility(force: true) { allowed }
		approveEligibility { allowed } startEligibility { allowed } waitingFor { kind requirement { rule { id } } } promotedFrom { id } afterFailureOf { id } automaticRollback { id } } }
		moduleInstance(id: "`+target.ID+`") { promotable { nodes { id } } previousDeployment { id } } environment(id: "`+t.p.Environment.ID+`") { rules { nodes { id } } requirements { message } } rules { nodes { demand { __typename } } } }`)
	request(t.T, t.w, t.w.Acme.Tokens[actor.Viewer], `fragment s on DeploymentStatistics { total { created medianRestoreSeconds } }
		fragment l on Deployment { changesFromLive { from { id } fromVersion { version } toVersion { version } inputs { pointer } } }
		query($from: UtcDateTime! = "2026-01-01T02:00:00Z", $before: UtcDateTime = "2026-01-01T03:00:00Z") {
			deployment(id: "`+waits.ID+`") { ...l } deployments(first: 5) { nodes { ...l } } deploymentStatistics(from: $from, before: $before) { ...s }
			projects(first: 50) { nodes { instanceCounts { failed } deploymentStatistics(from: $from, before: $before) { ...s } } }
			environments(first: 50) { nodes { instanceCounts { failed } deploymentStatistics(from: $from, before: $before) { ...s } } }
			moduleInstances(first: 50) { nodes { deploymentStatistics(from: $from, before: $before) { ...s } } } }`)
	approved, err := t.w.Deploy.Waiting.Approve(t.admin, waits.ID, nil, true)
	t.must(err)
	if !approved.Started {
		t.Errorf("not started: %v", approved.Refusal)
	}
	_, err = t.w.Deploy.Execution.Cancel(t.developer, waits.ID, nil)
	t.must(err)
	other, _, err := t.w.Deploy.Propose.Promote(t.developer, propose.Promotion{SourceID: first.ID, InstanceID: target.ID})
	t.must(err)
	_, err = t.w.Deploy.Waiting.Approve(t.admin, other.ID, nil, false)
	t.must(err)
	request(t.T, t.w, t.w.Acme.Tokens[actor.Admin], `query { node(id: "`+t.w.Store.Client.Approval.Query().Where(approval.DeploymentID(other.ID)).OnlyX(t.admin).ID+`") { id } }`)
	_, err = t.w.Deploy.Waiting.Reject(t.admin, other.ID, nil)
	t.must(err)
	t.supersedes(first, target.ID)
	_, err = t.w.Deploy.Waiting.ExpireWaiting(t.Context())
	t.must(err)
	for _, r := range rules {
		_, _, err := t.w.Rules.Update(t.admin, r.ID, rule.Patch{Name: new("S")})
		t.must(err)
		_, err = t.w.Rules.End(t.admin, r.ID, nil)
		t.must(err)
		_, err = t.w.Rules.Rule(t.admin, r.ID)
		t.must(err)
	}
}

// supersedes has a deployment succeed while a promotion waits, and starts a replay of the success.
func (t *tour) supersedes(first *ent.Deployment, instanceID string) {
	t.Helper()
	_, _, err := t.w.Deploy.Propose.Promote(t.developer, propose.Promotion{SourceID: first.ID, InstanceID: instanceID})
	t.must(err)
	t.p.Deploy(t.T, instanceID, `{"image":"web:1"}`)
	created, lease := t.claim()
	_, err = t.w.Deploy.Execution.End(t.runner, created.ID, lease, execution.Completion{})
	t.must(err)
	_, err = t.w.Deploy.Propose.PlanPromote(t.developer, propose.Promotion{SourceID: first.ID, InstanceID: instanceID})
	t.must(err)
	again, _, err := t.w.Deploy.Propose.Redeploy(t.developer, propose.Replay{SourceID: created.ID})
	t.must(err)
	approved, err := t.w.Deploy.Waiting.Approve(t.admin, again.ID, nil, true)
	t.must(err)
	if !approved.Started {
		t.Errorf("not started: %v", approved.Refusal)
	}
	waits, _, err := t.w.Deploy.Propose.Promote(t.developer, propose.Promotion{SourceID: first.ID, InstanceID: instanceID})
	t.must(err)
	again, lease = t.claim()
	_, err = t.w.Deploy.Execution.End(t.runner, again.ID, lease, execution.Completion{}) // the release that is live already supersedes nothing
	t.must(err)
	_, err = t.w.Deploy.Waiting.Reject(t.admin, waits.ID, nil)
	t.must(err)
}

func (t *tour) follows() {
	t.Helper()
	d := t.p.Deploy(t, t.p.Instance.ID, `{"image":"web:2"}`)
	ctx, stop := context.WithCancel(t.developer)
	defer stop()
	all, err := t.w.Deploy.View.FollowAll(ctx, view.Filter{}, nil)
	t.must(err)
	one, err := t.w.Deploy.View.Follow(ctx, d.ID, nil)
	t.must(err)
	logs, err := t.w.Deploy.View.FollowLogs(ctx, d.ID, nil)
	t.must(err)
	cursor := next(t, one).Cursor
	_, lease := t.claim()
	_, _, err = t.w.Deploy.Execution.Report(t.runner, d.ID, lease, execution.Report{Logs: []runlog.Line{{At: new(time.Now()), Stream: runlog.Stdout, Text: "x"}}})
	t.must(err)
	receive(t, logs)
	next(t, all)
	for _, following := range []func() (<-chan *feed.Item, error){
		func() (<-chan *feed.Item, error) { return t.w.Deploy.View.FollowAll(ctx, view.Filter{}, &cursor) },
		func() (<-chan *feed.Item, error) { return t.w.Deploy.View.Follow(ctx, d.ID, &cursor) },
	} {
		again, err := following()
		t.must(err)
		next(t, again)
	}
	_, err = t.w.Deploy.Execution.End(t.runner, d.ID, lease, execution.Completion{Failure: &fault.Data{Code: string(fault.DeploymentFailed), Message: "no"}})
	t.must(err)
	system := actor.With(t.Context(), &actor.Actor{Name: "slipway", Role: actor.System})
	_, err = t.w.Store.LogLines(system, []string{d.ID}) // the feed asks every second
	t.must(err)
}

func next(t testing.TB, items <-chan *feed.Item) *feed.Item {
	t.Helper()
	item := receive(t, items)
	if item == nil || item.Err != nil {
		t.Fatal(item)
	}
	return item
}

func receive[T any](t testing.TB, from <-chan T) (item T) {
	t.Helper()
	select {
	case item = <-from:
	case <-time.After(testkit.Patience):
		t.Fatal("nothing comes")
	}
	return item
}

// many are the inputs of a version that takes options from everywhere and refers to another instance.
const many = `[
	{"id":"place","type":"string","label":"Place","values":{"source":"default_value_definition","params":{"givenId":"place"}}},
	{"id":"project","type":"string","label":"Project","values":{"source":"projects"}},
	{"id":"kind","type":"string","label":"Kind","values":{"source":"module_types"}},
	{"id":"host","type":"string","label":"Host","immutable":true},
	{"id":"of","type":"$ref:tour","label":"Of","mapped_inputs":[{"id":"image","type":"string","label":"Image"},{"id":"url","type":"string","label":"URL","default":"${{ ref.stack.output.url }}"}]}]`

// inputs publishes such a version, and deploys and checks values of it.
func (t *tour) inputs() {
	t.Helper()
	schema := inputprop.NewRawProperty(strictjson.MustParse(`{"id":"place","type":"string","label":"Place","values":[{"value":"a","label":"A"},{"value":"b","label":"B"}]}`))
	made, _, err := t.w.Defaults.Create(t.admin, defaults.New{GivenID: "place", Name: "Place", Schema: schema})
	t.must(err)
	version, _, err := t.w.Catalog.PublishVersion(t.admin, module.NewVersion{DefinitionID: t.p.Definition.ID, Version: "3.0.0",
		Kind: module.DeploymentTypeECS, Inputs: strictjson.MustParse(many)})
	t.must(err)
	other := t.p.NewInstance(t, "referring")
	values := strictjson.MustParse(fmt.Sprintf(`{"place":"a","host":"h","project":%q,"kind":"tour","of":%q}`, t.p.Project.ID, t.p.Instance.ID))
	_, _, err = t.w.Deploy.Propose.Create(t.developer, propose.New{InstanceID: other.ID, VersionID: version.ID, Inputs: values, Artifact: strictjson.MustParse(worldtest.Artifact)})
	t.must(err)
	d, lease := t.claim()
	_, err = t.w.Deploy.Execution.End(t.runner, d.ID, lease, execution.Completion{})
	t.must(err)
	t.refers(d)
	elsewhere := t.p.NewInstance(t, "elsewhere")
	_, err = t.w.Deploy.Propose.PlanPromote(t.developer, propose.Promotion{SourceID: d.ID, InstanceID: elsewhere.ID})
	t.must(err)
	r, _, err := t.w.Rules.Create(t.admin, rule.New{Name: "R", EnvironmentID: &t.p.Environment.ID, Demand: gate.Demand{Kind: &gate.Approvals{Count: 1, Role: actor.Developer}}})
	t.must(err)
	waits, _, err := t.w.Deploy.Propose.Create(t.developer, propose.New{InstanceID: elsewhere.ID, VersionID: version.ID, Inputs: values, Artifact: strictjson.MustParse(worldtest.Artifact)})
	t.must(err)
	_, err = t.w.Deploy.Waiting.Approve(t.admin, waits.ID, nil, true)
	t.must(err)
	_, err = t.w.Deploy.Execution.Cancel(t.developer, waits.ID, nil)
	t.must(err)
	_, err = t.w.Rules.End(t.admin, r.ID, nil)
	t.must(err)
	for _, in := range []inputvalidation.Request{
		{VersionID: &version.ID, InstanceID: &other.ID, Values: values},
		{VersionID: &version.ID, EnvironmentID: &t.p.Environment.ID, Values: values},
		{VersionID: &version.ID, Values: values},
		{DefinitionID: &made.ID, Values: strictjson.MustParse(`{"place":"a"}`)},
	} {
		_, err = t.w.Inputs.Validate(t.developer, in)
		t.must(err)
		_, _, err = t.w.Inputs.Resolve(t.developer, in)
		t.must(err)
	}
	narrow := inputprop.NewRawProperty(strictjson.MustParse(`{"id":"place","type":"string","label":"Place","values":[{"value":"b","label":"B"}]}`))
	outcome, err := t.w.Defaults.Update(t.admin, made.ID, defaults.Patch{Schema: &narrow, DryRun: true})
	t.must(err)
	if len(outcome.Impact.Instances) != 1 {
		t.Errorf("%d instances are concerned", len(outcome.Impact.Instances))
	}
	_, err = t.w.Defaults.Delete(t.admin, made.ID)
	t.refused(err, fault.DefaultValueDefinitionInUse)
	t.catchesUp()
}

// refers asks for what a deployment was given and refers to, and finds that its instance depends on another.
func (t *tour) refers(d *ent.Deployment) {
	t.Helper()
	request(t.T, t.w, t.w.Acme.Tokens[actor.Viewer], fmt.Sprintf(`{ deployment(id: %q) { givenInputs references { nodes { moduleInstance { name } readDeployment { status } } } } }`, d.ID))
	t.p.Deploy(t, t.p.Instance.ID, `{"image":"web:outdated"}`)
	newer, lease := t.claim()
	_, err := t.w.Deploy.Execution.End(t.runner, newer.ID, lease, execution.Completion{Outputs: strictjson.MustParse(`{"url":"https://tour"}`)})
	t.must(err)
	request(t.T, t.w, t.w.Acme.Tokens[actor.Viewer], fmt.Sprintf(`{ moduleInstance(id: %q) { outdatedReferences { nodes { moduleInstance { name } readDeployment { status } liveDeployment { status } } } } }`, d.ModuleInstanceID))
	taken, _, err := t.w.Deploy.Propose.Create(t.developer, propose.New{InstanceID: t.p.Instance.ID, VersionID: t.p.Version.ID,
		Inputs: strictjson.MustParse(`{"image":"web:1"}`), InputsFrom: &d.ID, WithoutInputs: []string{"of"}})
	t.must(err)
	_, err = t.w.Deploy.Execution.Cancel(t.developer, taken.ID, nil)
	t.must(err)
	never := func(context.Context, *ent.Client) (bool, error) { return false, nil }
	t.refused(t.w.Store.Tx(t.admin, never, func(ctx context.Context, tx *ent.Tx) error {
		return dependency.CheckUnused(ctx, t.w.Store, tx, []string{t.p.Instance.ID})
	}), fault.ModuleInstanceInUse)
}

// catchesUp makes the baseline of the instance with the long history, and the uses of a version, such as a program of
// before leaves them.
func (t *tour) catchesUp() {
	t.Helper()
	db := t.w.Raw(t, t.w.Acme)
	// It knows of all but the last ten of the history.
	execute(t, db, fmt.Sprintf(`UPDATE input_baselines SET deployment_id = (SELECT id FROM deployments WHERE module_instance_id = '%[1]s'
		AND status = 'SUCCEEDED' AND created_at < '2026-02-01' ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET 10) WHERE module_instance_id = '%[1]s'`, t.p.Instance.ID))
	in := inputvalidation.Request{VersionID: &t.p.Version.ID, InstanceID: &t.p.Instance.ID, Values: strictjson.MustParse(`{"image":"web:1"}`)}
	_, err := t.w.Inputs.Validate(t.developer, in)
	t.must(err)
	execute(t, db, `UPDATE module_versions SET uses_recorded = false WHERE id = '`+t.p.Version.ID+`'`)
	schema := inputprop.NewRawProperty(strictjson.MustParse(`{"id":"x","type":"string","label":"X"}`))
	made, _, err := t.w.Defaults.Create(t.admin, defaults.New{GivenID: "late", Name: "Late", Schema: schema})
	t.must(err)
	wider := inputprop.NewRawProperty(strictjson.MustParse(`{"id":"x","type":"number","label":"X"}`))
	_, err = t.w.Defaults.Update(t.admin, made.ID, defaults.Patch{Schema: &wider, DryRun: true})
	t.must(err)
}

func (t *tour) definitions() {
	t.Helper()
	schema := inputprop.NewRawProperty(strictjson.MustParse(`{"id":"x","type":"string","label":"X"}`))
	made, _, err := t.w.Defaults.Create(t.admin, defaults.New{GivenID: "region", Name: "Region", Schema: schema})
	t.must(err)
	_, err = t.w.Defaults.Update(t.admin, made.ID, defaults.Patch{Name: new("Home"), Version: &made.Version})
	t.must(err)
	_, err = t.w.Defaults.Delete(t.admin, made.ID)
	t.must(err)
}

// events receives events of a deployment that a runner has reported, of one that was started outside, and of an unknown
// service, by a token of the organization and by one of the project.
func (t *tour) events() {
	t.Helper()
	db := t.w.Raw(t, t.w.Acme)
	execute(t, db, `INSERT INTO cloud_events (organization_id, event_id, service_arn, occurred_at, event, pending_since, created_by, created_at)
		SELECT organization_id, 'waiting-' || event_id, 'waiting', occurred_at, event, created_at, created_by, created_at
		FROM cloud_events WHERE organization_id = '`+t.w.Acme.ID+`' AND created_at > '2026-01-02' LIMIT 1100`)
	now := time.Now().UTC()
	for i, service := range []string{"web", "web", "web", "web", "unknown"} {
		for _, ctx := range []context.Context{t.w.Acme.As(actor.Runner), t.runner} {
			for _, name := range []string{"IN_PROGRESS", "COMPLETED", "COMPLETED"} {
				t.must(t.w.Deploy.CloudEvents.ReceiveECSEvent(ctx, strictjson.MustParse(fmt.Sprintf(`{"id":"tour-%d-%s","detail-type":"ECS Deployment State Change",
					"time":%q,"resources":["arn:aws:ecs:eu-west-1:123456789012:service/main/%s"],
					"detail":{"eventName":"SERVICE_DEPLOYMENT_%s","deploymentId":"ecs-svc/tour%d"}}`, i, name,
					now.Add(time.Duration(i)*10*time.Minute).Format(time.RFC3339), service, name, i))))
			}
		}
	}
	execute(t, db, `DELETE FROM cloud_events WHERE service_arn = 'waiting'`)
	// The service that was unknown has a deployment now, so that those that were started outside are made of its events.
	execute(t, db, `UPDATE deployments SET service_arn = 'arn:aws:ecs:eu-west-1:123456789012:service/main/unknown'
		WHERE id = (SELECT MIN(id) FROM deployments WHERE organization_id = '`+t.w.Acme.ID+`')`)
	_, err := t.w.Deploy.CloudEvents.RetryEvents(t.Context())
	t.must(err)
	// What was started outside has succeeded after this one, by the clock of the cloud.
	t.p.Deploy(t, t.p.Instance.ID, `{"image":"web:1"}`)
	d, lease := t.claim()
	_, err = t.w.Deploy.Execution.End(t.runner, d.ID, lease, execution.Completion{})
	t.must(err)
}

// ecsEvent receives the event of a deployment of a service.
func (t *tour) ecsEvent(name, service, cloudID string, at time.Time) {
	t.Helper()
	t.must(t.w.Deploy.CloudEvents.ReceiveECSEvent(t.w.Acme.As(actor.Runner), strictjson.MustParse(fmt.Sprintf(`{"id":"%s-%s",
		"detail-type":"ECS Deployment State Change","time":%q,"resources":[%q],
		"detail":{"eventName":"SERVICE_DEPLOYMENT_%s","deploymentId":"ecs-svc/%[1]s"}}`,
		cloudID, name, at.Format(time.RFC3339), service, name))))
}

// moves moves a service to an instance that has none, while what was started outside is under way, and what came before all
// of its deployments is known late.
func (t *tour) moves() {
	t.Helper()
	service, now := "arn:aws:ecs:eu-west-1:123456789012:service/main/moved", time.Now().UTC()
	from, to := t.p.NewInstance(t, "moved-from"), t.p.NewInstance(t, "moved-to")
	d, _, err := t.w.Deploy.Propose.Create(t.developer, propose.New{InstanceID: from.ID, VersionID: t.p.Version.ID,
		Inputs: strictjson.MustParse(`{"image":"web:1"}`), Artifact: strictjson.MustParse(worldtest.Artifact),
		Data: strictjson.MustParse(fmt.Sprintf(`{"serviceArn":%q}`, service))})
	t.must(err)
	_, err = t.w.Deploy.Execution.Cancel(t.developer, d.ID, nil)
	t.must(err)
	for i, minutes := range []int{-30, -90, -10, -60, -45} {
		t.ecsEvent("IN_PROGRESS", service, fmt.Sprint("moved", i), now.Add(time.Duration(minutes)*time.Minute))
	}
	_, err = t.w.Deploy.CloudEvents.MoveService(t.admin, service, to.ID)
	t.must(err)
}

// shadows makes a module of the type of a global one whose instances others have chosen.
func (t *tour) shadows() {
	t.Helper()
	global := actor.With(t.Context(), &actor.Actor{ID: "tok_root", Name: "root", Role: actor.Superadmin, Globally: true, Channel: actor.CLI})
	shadowed := catalog.NewDefinition{Name: "Shadowed", Type: "shadowed", Status: moduledefinition.StatusACTIVE}
	made, _, err := t.w.Catalog.CreateDefinition(global, shadowed)
	t.must(err)
	chosen, err := t.w.Catalog.CreateInstance(t.admin, catalog.NewInstance{
		EnvironmentID: t.p.Environment.ID, DefinitionID: made.ID, Name: "shadowed",
	})
	t.must(err)
	execute(t, t.w.Raw(t, t.w.Acme), `UPDATE input_baselines SET content = '{"of":"`+chosen.ID+`"}' WHERE module_instance_id = '`+t.p.Instance.ID+`'`)
	_, warnings, err := t.w.Catalog.CreateDefinition(t.admin, shadowed)
	t.must(err)
	if len(warnings) == 0 {
		t.Error("nobody is told that an own module goes before the global one")
	}
}

// everything is a document that reads every kind of record through others.
const everything = `{
	projects(first: 2) { totalCount nodes { id environments(first: 2) { totalCount nodes { id project { id } moduleInstances(first: 2) { totalCount nodes { id
		liveDeployment { id release { id moduleVersion { id } quarantine { reason } quarantines { nodes { reason } } deployments(first: 2) { totalCount nodes { id } } } }
		deployments(first: 2) { totalCount pageInfo { endCursor } nodes { id redeployOf { id } rollbackTo { id } logs(first: 2) { nodes { text } }
			rollbackEligibility { allowed } redeployEligibility { allowed } lineage { nodes { id } } moduleInstance { destroyEligibility { allowed } } } }
	} } } } } }
	moduleDefinitions(first: 2) { totalCount nodes { id latestModuleVersion { id } versions(first: 2) { totalCount nodes { id moduleDefinition { id } } } } }
	deployments(first: 2, filter: { statuses: SUCCEEDED }) { totalCount nodes { release { deployments(first: 1, filter: { search: "x" }) { totalCount } } id project { id } environment { id } moduleInstance { id moduleDefinition { id } } } }
	auditEvents(first: 2) { nodes { id actor { role } object { id } } }
}`

// asks asks for records over GraphQL: each kind alone, several at once, and through others.
func (t *tour) asks(d *ent.Deployment) {
	t.Helper()
	token := t.w.Acme.Tokens[actor.Admin]
	request(t.T, t.w, token, everything)
	ids := []string{d.ID, *d.ReleaseID, t.p.Project.ID, t.p.Environment.ID, t.p.Instance.ID, t.p.Definition.ID, t.p.Version.ID, t.w.Acme.ID}
	for _, kind := range []string{"AuditEvent", "Token", "DefaultValueDefinition", "Quarantine"} {
		ids = append(ids, oldest(t.T, t.w, t.w.Acme, kind)[0])
	}
	for _, id := range ids {
		request(t.T, t.w, token, fmt.Sprintf(`{ node(id: %q) { id } }`, id))
	}
	request(t.T, t.w, token, fmt.Sprintf(`{ nodes(ids: %q) { id } }`, ids))
	for _, field := range []struct{ name, id string }{
		{"moduleDefinition", t.p.Definition.ID}, {"moduleVersion", t.p.Version.ID}, {"deployment", d.ID}, {"release", *d.ReleaseID},
		{"moduleInstance", t.p.Instance.ID}, {"project", t.p.Project.ID}, {"environment", t.p.Environment.ID},
	} {
		request(t.T, t.w, token, fmt.Sprintf(`{ %s(id: %q) { id } }`, field.name, field.id))
	}
	path := t.p.Project.Slug + "/" + t.p.Environment.Slug
	request(t.T, t.w, token, fmt.Sprintf(`{ project(slug: %q) { id } environment(path: %q) { id } moduleDefinition(type: %q) { id }
		moduleInstance(path: %q) { activeDeployment { id } lastDeployment { id } previousDeployment { id } deploymentCounts { count } } }`,
		t.p.Project.Slug, path, t.p.Definition.Type, path+"/"+t.p.Instance.Name))
	request(t.T, t.w, token, fmt.Sprintf(`{ defaultValueDefinition(id: %q) { id schema { __typename } } }`, oldest(t.T, t.w, t.w.Acme, "DefaultValueDefinition")[0]))
	for _, path := range []string{"/deployments/" + d.ID, "/module-definitions"} {
		if r := t.w.REST(t, "GET", path, token, "", nil); r.Status != 200 {
			t.Errorf("%s: %d %s", path, r.Status, r.Body)
		}
	}
	request(t.T, t.w, "", `{ moduleDefinitions(first: 2) { totalCount nodes { id versions(first: 2) { totalCount nodes { id } } } } }`)
	_, err := t.w.Catalog.Types(t.developer, page.Args{})
	t.must(err)
	_, err = t.w.Catalog.DefinitionByType(actor.With(t.Context(), actor.Anonymous()), t.p.Definition.Type)
	t.refused(err, fault.ModuleDefinitionNotFound)
}

// ages has the details of the oldest rows go, among them those of a deployment with a log, and the oldest of the audit.
func (t *tour) ages() {
	t.Helper()
	execute(t, t.w.Raw(t, t.w.Acme), `UPDATE deployments SET completed_at = '2026-01-01 00:00:00+00:00' WHERE organization_id = '`+t.w.Acme.ID+`' AND log_lines > 0 AND completed_at IS NOT NULL`)
	clock := testkit.NewClock(store.Now())
	keep := clock.Now().Sub(time.Date(2026, 1, 1, 0, 0, 30, 0, time.UTC))
	house := t.w.RetentionAt(clock.Now())
	house.Journal = journal.NewAlone(t.w.Store, clock.Now, id.New)
	archive, err := retention.OpenArchive(t.T.TempDir())
	t.must(err)
	house.Keep = retention.Keep{Details: keep, Audit: keep, Archive: archive}
	house.Purged = func(string, int) { clock.Advance(15 * time.Second) } // so that it says that it goes on
	if purged, err := house.PurgeIfDue(t.Context()); err != nil || purged < 10 {
		t.Error(purged, err)
	}
}

// keepsHouse lets a lease run out, ends one by force, and removes what is too old.
func (t *tour) keepsHouse() {
	t.Helper()
	later := store.Now().Add(30 * 24 * time.Hour)
	house := t.w.DeployBy(func() time.Time { return later })
	t.p.Deploy(t, t.p.Instance.ID, `{"image":"web:1"}`)
	forced, _ := t.claim()
	_, err := t.w.Deploy.Execution.Cancel(t.developer, forced.ID, nil)
	t.must(err)
	_, err = house.Execution.ForceCancel(t.admin, forced.ID, nil)
	t.must(err)
	_, err = t.w.Deploy.Execution.ExpireLeases(t.Context()) // the first since the servers were away
	t.must(err)
	soon := t.w.DeployBy(func() time.Time { return store.Now().Add(10 * time.Second) })
	_, err = soon.Execution.ExpireLeases(t.Context())
	t.must(err)
	t.p.Deploy(t, t.p.Instance.ID, `{"image":"web:1"}`)
	d, lease := t.claim()
	t.must(t.w.NoteSweep(later, time.Unix(0, 0)))
	_, _, err = house.Execution.RenewLease(t.runner, d.ID, lease)
	t.refused(err, fault.DeploymentLeaseLost)
	if found, err := house.View.Counts(t.Context()); err != nil || found.LateLeases != 1 {
		t.Error(found, err)
	}
	t.must(t.w.NoteSweep(later, time.Unix(0, 0)))
	if expired, err := house.Execution.ExpireLeases(t.Context()); err != nil || expired != 1 {
		t.Error(expired, err)
	}
	if filled, err := t.w.Deploy.Execution.FillIn(t.Context()); err != nil || filled < 500 {
		t.Error(filled, err)
	}
	if filled, err := t.w.Store.FillNames(t.Context()); err != nil {
		t.Error(filled, err)
	}
	if purged, err := t.w.Retention.Purge(t.Context()); err != nil || purged < 400 {
		t.Error(purged, err)
	}
}
