package archive_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"slipway/ent"
	"slipway/ent/auditevent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/module"
	"slipway/internal/service/archive"
	"slipway/internal/service/catalog"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/workspace"
	"slipway/internal/test/worldtest"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wants(t testing.TB, what string, err error, code fault.Code) {
	t.Helper()
	if !fault.Is(err, code) {
		t.Errorf("%s: %v, want %s", what, err, code)
	}
}

// places are a project, an environment in it and an instance in that, each with the ways to archive it and to end that.
func places(w *worldtest.World, p *worldtest.Fixture) map[string]place {
	admin := w.Acme.As(actor.Admin)
	request := func(id string, known []bool) archive.Request {
		return archive.Request{ID: id, AcknowledgeLive: slices.Contains(known, true)}
	}
	return map[string]place{
		"project": {
			func(known ...bool) error {
				_, err := w.Archive.ArchiveProject(admin, request(p.Project.ID, known))
				return err
			},
			func() error { _, err := w.Archive.UnarchiveProject(admin, p.Project.ID); return err },
		},
		"environment": {
			func(known ...bool) error {
				_, err := w.Archive.ArchiveEnvironment(admin, request(p.Environment.ID, known))
				return err
			},
			func() error { _, err := w.Archive.UnarchiveEnvironment(admin, p.Environment.ID); return err },
		},
		"instance": {
			func(known ...bool) error {
				_, err := w.Archive.ArchiveInstance(admin, request(p.Instance.ID, known))
				return err
			},
			func() error { _, err := w.Archive.UnarchiveInstance(admin, p.Instance.ID); return err },
		},
	}
}

type place struct {
	archive   func(acknowledgeLive ...bool) error
	unarchive func() error
}

func create(ctx context.Context, w *worldtest.World, p *worldtest.Fixture) (*ent.Deployment, error) {
	return worldtest.Unwarned(w.Deploy.Propose.Create(ctx, propose.New{InstanceID: p.Instance.ID, VersionID: p.Version.ID,
		Inputs: strictjson.MustParse(`{"image":"web:1"}`), Artifact: strictjson.MustParse(worldtest.Artifact)}))
}

// listed returns which of the three kinds lists have, of the archived or of the others.
func listed(t *testing.T, w *worldtest.World, archived bool) string {
	t.Helper()
	r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], fmt.Sprintf(`{ projects(filter: {archived: %[1]t}) { totalCount } environments(filter: {archived: %[1]t}) { totalCount }
		moduleInstances(filter: {archived: %[1]t}) { totalCount } }`, archived), nil)
	return fmt.Sprintf("%v %v %v", r.At(t, "data", "projects", "totalCount"), r.At(t, "data", "environments", "totalCount"), r.At(t, "data", "moduleInstances", "totalCount"))
}

// byPath tells which of the three kinds are found by slug or path.
func byPath(t *testing.T, w *worldtest.World) map[string]bool {
	t.Helper()
	r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], `{ project(slug: "web") { id } environment(path: "web/production") { id }
		instance: moduleInstance(path: "web/production/web") { id } }`, nil)
	found := map[string]bool{}
	for _, kind := range []string{"project", "environment", "instance"} {
		found[kind] = r.At(t, "data", kind) != nil
	}
	return found
}

// lists are how many projects, environments and instances are listed while something is archived, and among the archived.
var lists = map[string][2]string{"project": {"0 0 0", "1 1 1"}, "environment": {"1 0 0", "0 1 1"}, "instance": {"1 1 0", "0 0 1"}}

func TestNothingIsDeployedToWhatIsArchived(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		admin, developer := w.Acme.As(actor.Admin), w.Acme.As(actor.Developer)
		first := p.Succeeded(t)
		const eligibility = `query($id: ID!) { deployment(id: $id) { rollbackEligibility { refusal { code } } redeployEligibility { refusal { code } } moduleInstance { archivedAt } } }`
		for name, of := range places(w, p) {
			wants(t, name, of.archive(), fault.ModuleInstanceStillLive)
			must(t, of.archive(true))
			must(t, of.archive()) // again
			_, err := create(developer, w, p)
			wants(t, name+": create", err, fault.ModuleInstanceArchived)
			_, _, err = w.Deploy.Propose.Rollback(developer, propose.Replay{SourceID: first.ID})
			wants(t, name+": roll back", err, fault.ModuleInstanceArchived)
			_, _, err = w.Deploy.Propose.Redeploy(developer, propose.Replay{SourceID: first.ID})
			wants(t, name+": redeploy", err, fault.ModuleInstanceArchived)
			r := w.GraphQL(t, w.Acme.Tokens[actor.Developer], eligibility, map[string]any{"id": first.ID})
			for _, field := range []string{"rollbackEligibility", "redeployEligibility"} {
				if got := r.At(t, "data", "deployment", field, "refusal", "code"); got != string(fault.ModuleInstanceArchived) {
					t.Errorf("%s: %s: %s", name, field, r.Body)
				}
			}
			if r.At(t, "data", "deployment", "moduleInstance", "archivedAt") == nil {
				t.Errorf("%s: %s", name, r.Body)
			}
			_, err = w.Deploy.CloudEvents.MoveService(admin, "arn:aws:ecs:eu-west-1:123456789012:service/main/web", p.Instance.ID)
			must(t, err) // where it is already
			if got := listed(t, w, false); got != lists[name][0] {
				t.Errorf("%s is archived: listed are %s, want %s", name, got, lists[name][0])
			}
			if got := listed(t, w, true); got != lists[name][1] {
				t.Errorf("%s is archived: listed among the archived are %s, want %s", name, got, lists[name][1])
			}
			if found := byPath(t, w); found["instance"] || found["environment"] != (name == "instance") || found["project"] != (name != "project") {
				t.Errorf("%s is archived: by their paths are found %v", name, found)
			}
			must(t, of.unarchive())
			must(t, of.unarchive()) // again
			if got := listed(t, w, false) + ", " + listed(t, w, true); got != "1 1 1, 0 0 0" {
				t.Errorf("%s is unarchived: %s", name, got)
			}
			d, _, err := w.Deploy.Propose.Redeploy(developer, propose.Replay{SourceID: first.ID})
			must(t, err)
			wants(t, name+" while a deployment is active", of.archive(true), fault.DeploymentInProgress)
			w.Cancel(t, w.Acme, d.ID)
		}
		told := w.Store.Client.AuditEvent.Query().Where(auditevent.ActionHasPrefix("archive")).AllX(admin)
		if len(told) != 3 || !strings.Contains(string(told[0].Changes), `"acknowledgeLive":true`) || !strings.Contains(string(told[0].Changes), `"archivedAt":"`) {
			t.Errorf("%d events, the first with %s", len(told), told[0].Changes)
		}
	})
}

func TestNothingIsMadeInWhatIsArchived(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, other := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Acme, "other")
		admin := w.Acme.As(actor.Admin)
		other.Succeeded(t) // which has the service
		all := places(w, p)
		must(t, all["environment"].archive())
		_, err := w.Catalog.CreateInstance(admin, catalog.NewInstance{EnvironmentID: p.Environment.ID, DefinitionID: p.Definition.ID, Name: "more"})
		wants(t, "an instance in an archived environment", err, fault.EnvironmentArchived)
		_, err = w.Deploy.CloudEvents.MoveService(admin, "arn:aws:ecs:eu-west-1:123456789012:service/main/web", p.Instance.ID)
		wants(t, "a service of an archived instance", err, fault.ModuleInstanceArchived)
		must(t, all["project"].archive())
		_, err = w.Workspace.CreateEnvironment(admin, workspace.NewEnvironment{ProjectID: p.Project.ID, Name: "More", Slug: "more"})
		wants(t, "an environment in an archived project", err, fault.ProjectArchived)
		wants(t, "an environment is unarchived in an archived project", all["environment"].unarchive(), fault.ProjectArchived)
		wants(t, "an instance is unarchived in an archived environment", all["instance"].unarchive(), fault.EnvironmentArchived)
		// What was archived by itself stays archived.
		must(t, all["project"].unarchive())
		if got := listed(t, w, true); got != "0 1 1" {
			t.Errorf("archived are %s", got)
		}
		// So does what is archived by itself although it was so with what it is in.
		must(t, all["environment"].unarchive())
		must(t, all["project"].archive())
		must(t, all["environment"].archive())
		must(t, all["instance"].archive())
		must(t, all["project"].unarchive())
		must(t, all["environment"].unarchive())
		if got := listed(t, w, true); got != "0 0 1" {
			t.Errorf("archived are %s", got)
		}
		must(t, all["instance"].unarchive())
	})
}

func TestEventsOfTheCloudAreRecordedOfWhatIsArchived(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		p.Succeeded(t)
		must(t, places(w, p)["project"].archive(true))
		must(t, w.Deploy.CloudEvents.ReceiveECSEvent(w.Acme.As(actor.Runner), strictjson.MustParse(fmt.Sprintf(`{"id":"event-1",
			"detail-type":"ECS Deployment State Change","time":%q,"resources":["arn:aws:ecs:eu-west-1:123456789012:service/main/web"],
			"detail":{"eventName":"SERVICE_DEPLOYMENT_IN_PROGRESS","deploymentId":"ecs-svc/outside"}}`, time.Now().UTC().Add(20*time.Minute).Format(time.RFC3339)))))
		outside := w.Store.Client.ModuleInstance.GetX(w.Acme.As(actor.Viewer), p.Instance.ID).ExternalDeploymentID
		if outside == nil || w.Store.Client.Deployment.GetX(w.Acme.As(actor.Viewer), *outside).Status != "RUNNING" {
			t.Errorf("started outside: %v", outside)
		}
		// What was started outside is nobody's to wait for.
		must(t, places(w, p)["project"].unarchive())
		must(t, places(w, p)["instance"].archive(true))
	})
}

func TestNamesAreUniqueAmongWhatIsNotArchived(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		admin := w.Acme.As(actor.Admin)
		all := places(w, p)
		must(t, all["instance"].archive())
		p.NewInstance(t, p.Instance.Name)
		wants(t, "an instance whose name is taken", all["instance"].unarchive(), fault.ModuleInstanceNameTaken)
		must(t, all["environment"].archive())
		again, err := w.Workspace.CreateEnvironment(admin, workspace.NewEnvironment{ProjectID: p.Project.ID, Name: "Again", Slug: p.Environment.Slug})
		must(t, err)
		wants(t, "an environment whose slug is taken", all["environment"].unarchive(), fault.EnvironmentSlugTaken)
		must(t, all["project"].archive())
		_, err = w.Workspace.CreateProject(admin, workspace.NewProject{Name: "Again", Slug: p.Project.Slug})
		must(t, err)
		wants(t, "a project whose slug is taken", all["project"].unarchive(), fault.ProjectSlugTaken)
		_, err = w.Workspace.UpdateProject(admin, p.Project.ID, workspace.ProjectPatch{Slug: new("web-of-before")})
		must(t, err)
		must(t, all["project"].unarchive())
		_, err = w.Workspace.UpdateEnvironment(admin, again.ID, workspace.EnvironmentPatch{Slug: new("again")})
		must(t, err)
		must(t, all["environment"].unarchive())
	})
}

func TestWhatOthersReferToIsArchivedKnowingly(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		base, p := w.Fixture(t, w.Acme, "base"), w.Fixture(t, w.Acme, "web")
		admin := w.Acme.As(actor.Admin)
		v, _, err := w.Catalog.PublishVersion(admin, module.NewVersion{DefinitionID: p.Definition.ID, Version: "2.0.0",
			Kind: module.DeploymentTypeECS, Inputs: strictjson.MustParse(`[{"id":"of","type":"$ref:base","label":"Of"}]`)})
		must(t, err)
		d, _, err := w.Deploy.Propose.Create(w.Acme.As(actor.Developer), propose.New{InstanceID: p.Instance.ID, VersionID: v.ID,
			Inputs: strictjson.MustParse(fmt.Sprintf(`{"of":%q}`, base.Instance.ID)), Artifact: strictjson.MustParse(worldtest.Artifact)})
		must(t, err)
		_, err = w.Catalog.DeleteInstance(admin, base.Instance.ID)
		wants(t, "to delete what an active deployment refers to", err, fault.ModuleInstanceInUse)
		p.Finish(t, d, nil)
		_, err = w.Archive.ArchiveProject(admin, archive.Request{ID: base.Project.ID})
		wants(t, "to archive what a live deployment refers to", err, fault.ModuleInstanceInUse)
		_, err = w.Archive.ArchiveProject(admin, archive.Request{ID: base.Project.ID, AcknowledgeDependents: true})
		must(t, err)
		told := w.Store.Client.AuditEvent.Query().Where(auditevent.Action("archiveProject")).OnlyX(admin)
		if !strings.Contains(string(told.Changes), `"acknowledgeDependents":true`) || strings.Contains(string(told.Changes), "Live") {
			t.Errorf("%s", told.Changes)
		}
		// Whose own references leave with it is in nobody's way.
		_, err = w.Archive.ArchiveProject(admin, archive.Request{ID: p.Project.ID, AcknowledgeLive: true})
		must(t, err)
	})
}

func TestARefusalNamesTwenty(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		for i := range 21 {
			instance := p.NewInstance(t, fmt.Sprint("more-", i))
			d := p.Deploy(t, instance.ID, `{"image":"web:1"}`)
			if i == 20 {
				_, err := w.Archive.ArchiveInstance(w.Acme.As(actor.Admin), archive.Request{ID: instance.ID})
				named(t, err, fault.DeploymentInProgress, 1, "active: 1: cancel")
			}
			p.Finish(t, d, nil)
			if i == 19 {
				named(t, places(w, p)["environment"].archive(), fault.ModuleInstanceStillLive, 20, "live: 20: destroy")
			}
		}
		named(t, places(w, p)["project"].archive(), fault.ModuleInstanceStillLive, 21, "live: more than 20: destroy")
	})
}

func named(t *testing.T, err error, code fault.Code, items int, says string) {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Code != code || len(f.Details) != 1 || len(f.Details[0].Items) != items || !strings.Contains(strings.ReplaceAll(f.Message, ";", ":"), says) {
		t.Errorf("%+v, want %s that names %d and says %q", err, code, items, says)
	}
}
