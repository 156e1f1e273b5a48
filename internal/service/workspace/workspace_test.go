package workspace_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/ent/auditevent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/data/page"
	"slipway/internal/service/catalog"
	"slipway/internal/service/workspace"
	"slipway/internal/test/worldtest"
)

func TestSlugsAreTakenOncePerOwner(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		acme, globex := w.Acme.As(actor.Admin), w.Globex.As(actor.Admin)
		in := workspace.NewProject{Name: "Web", Slug: "web"}
		one, err := w.Workspace.CreateProject(acme, in)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Workspace.CreateProject(globex, in); err != nil {
			t.Errorf("the same slug in another organization: %v", err)
		}
		two, err := w.Workspace.CreateProject(acme, workspace.NewProject{Name: "Web", Slug: "web2"})
		if err != nil {
			t.Fatal(err)
		}
		for _, project := range []string{one.ID, two.ID} {
			if _, err := w.Workspace.CreateEnvironment(acme, workspace.NewEnvironment{ProjectID: project, Name: "Production", Slug: "production"}); err != nil {
				t.Errorf("an environment of each project: %v", err)
			}
		}
		before := w.Rows(t)
		if p, err := w.Workspace.CreateProject(acme, in); !fault.Is(err, fault.ProjectSlugTaken) || p != nil {
			t.Errorf("project: %v, %v", p, err)
		}
		again := workspace.NewEnvironment{ProjectID: one.ID, Name: "Other", Slug: "production"}
		if e, err := w.Workspace.CreateEnvironment(acme, again); !fault.Is(err, fault.EnvironmentSlugTaken) || e != nil {
			t.Errorf("environment: %v, %v", e, err)
		}
		if diff := cmp.Diff(before, w.Rows(t)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestPlacesThatCannotBeMadeOrSeen(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		theirs, mine := w.Fixture(t, w.Globex, "web"), w.Fixture(t, w.Acme, "web")
		before := w.Rows(t)
		create := func(role actor.Role, projectID, name string) error {
			_, err := w.Workspace.CreateEnvironment(w.Acme.As(role), workspace.NewEnvironment{ProjectID: projectID, Name: name, Slug: "new"})
			return err
		}
		_, developers := w.Workspace.CreateProject(w.Acme.As(actor.Developer), workspace.NewProject{Name: "x", Slug: "x"})
		_, nameless := w.Workspace.CreateProject(w.Acme.As(actor.Admin), workspace.NewProject{Slug: "x"})
		_, foreign := w.Workspace.Project(w.Acme.As(actor.Admin), theirs.Project.ID)
		_, absent := w.Workspace.Project(w.Acme.As(actor.Admin), id.New(id.Project))
		_, mistaken := w.Workspace.Environment(w.Acme.As(actor.Admin), mine.Project.ID)
		for name, c := range map[string]struct {
			err  error
			code fault.Code
		}{
			"project by a developer":           {developers, fault.ProjectForbidden},
			"project without a name":           {nameless, fault.RequestInvalid},
			"environment by a viewer":          {create(actor.Viewer, mine.Project.ID, "x"), fault.EnvironmentForbidden},
			"environment of a foreign project": {create(actor.Admin, theirs.Project.ID, "x"), fault.ProjectNotFound},
			"the same by a viewer":             {create(actor.Viewer, theirs.Project.ID, "x"), fault.ProjectNotFound},
			"environment without a name":       {create(actor.Admin, mine.Project.ID, ""), fault.RequestInvalid},
			"foreign project":                  {foreign, fault.ProjectNotFound},
			"absent project":                   {absent, fault.ProjectNotFound},
			"environment by the id of another": {mistaken, fault.EnvironmentNotFound},
		} {
			if !fault.Is(c.err, c.code) {
				t.Errorf("%s: %v, want %s", name, c.err, c.code)
			}
			var f *fault.Error
			if errors.As(c.err, &f) && c.code == fault.RequestInvalid && (len(f.Violations) != 1 || f.Violations[0].Pointer != "/name") {
				t.Errorf("%s: %v", name, f.Violations)
			}
		}
		if diff := cmp.Diff(before, w.Rows(t)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestWorkspaceIsListedAndAudited(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		w.Fixture(t, w.Globex, "web")
		one, two := w.Fixture(t, w.Acme, "one"), w.Fixture(t, w.Acme, "two")
		viewer := w.Acme.As(actor.Viewer)
		projects, err := w.Workspace.Projects(viewer, workspace.ProjectFilter{}, page.Args{})
		if err != nil || len(projects.Edges) != 2 || projects.Edges[0].Node.ID != two.Project.ID {
			t.Errorf("projects: %v, %v", projects, err)
		}
		environments, err := w.Workspace.Environments(viewer, workspace.EnvironmentFilter{ProjectID: &one.Project.ID}, page.Args{})
		if err != nil || len(environments.Edges) != 1 || environments.Edges[0].Node.ID != one.Environment.ID {
			t.Errorf("environments: %v, %v", environments, err)
		}
		for id, action := range map[string]string{one.Project.ID: "createProject", two.Environment.ID: "createEnvironment"} {
			if n := w.Store.Client.AuditEvent.Query().Where(auditevent.ObjectID(id), auditevent.Action(action)).CountX(viewer); n != 1 {
				t.Errorf("%d audit rows of %s %s", n, action, id)
			}
		}
	})
}

func TestPlacesAreRenamed(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, other := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Acme, "other")
		ctx := w.Acme.As(actor.Admin)
		before := w.Rows(t)["audit_events"]
		project, err := w.Workspace.UpdateProject(ctx, p.Project.ID, workspace.ProjectPatch{Name: new("Web shop"), Slug: new("shop")})
		if err != nil || project.Name != "Web shop" || project.Slug != "shop" {
			t.Errorf("%v, %v", project, err)
		}
		environment, err := w.Workspace.UpdateEnvironment(ctx, p.Environment.ID, workspace.EnvironmentPatch{Slug: new("prod")})
		if err != nil || environment.Name != p.Environment.Name || environment.Slug != "prod" {
			t.Errorf("%v, %v", environment, err)
		}
		instance, err := w.Catalog.UpdateInstance(ctx, p.Instance.ID, catalog.InstancePatch{Name: new("orders")})
		if err != nil || instance.Name != "orders" {
			t.Errorf("%v, %v", instance, err)
		}
		p.NewInstance(t, "web")
		for what, f := range map[fault.Code]func() error{
			fault.ProjectSlugTaken: func() error {
				_, err := w.Workspace.UpdateProject(ctx, other.Project.ID, workspace.ProjectPatch{Slug: new("shop")})
				return err
			},
			fault.EnvironmentSlugTaken: func() error {
				made, err := w.Workspace.CreateEnvironment(ctx, workspace.NewEnvironment{ProjectID: p.Project.ID, Name: "Staging", Slug: "staging"})
				if err == nil {
					_, err = w.Workspace.UpdateEnvironment(ctx, made.ID, workspace.EnvironmentPatch{Slug: new("prod")})
				}
				return err
			},
			fault.ModuleInstanceNameTaken: func() error {
				_, err := w.Catalog.UpdateInstance(ctx, p.Instance.ID, catalog.InstancePatch{Name: new("web")})
				return err
			},
			fault.RequestInvalid: func() error {
				_, err := w.Workspace.UpdateProject(ctx, p.Project.ID, workspace.ProjectPatch{Name: new(" "), Slug: new("-")})
				return err
			},
		} {
			if err := f(); !fault.Is(err, what) {
				t.Errorf("%v, want %s", err, what)
			}
		}
		if got := w.Rows(t)["audit_events"] - before; got != 5 {
			t.Errorf("%d events, want one for each of three changes and two that were made", got)
		}
		if _, err := w.Workspace.UpdateProject(ctx, p.Project.ID, workspace.ProjectPatch{}); err != nil || w.Rows(t)["audit_events"]-before != 5 {
			t.Errorf("a patch of nothing: %v", err)
		}
	})
}

func TestOnlyWhatNeverHadADeploymentIsDeleted(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, used := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Acme, "used")
		ctx := w.Acme.As(actor.Admin)
		d := used.Succeeded(t)
		moved := used.NewInstance(t, "moved")
		if _, err := w.Deploy.CloudEvents.MoveService(ctx, *d.ServiceArn, moved.ID); err != nil {
			t.Fatal(err)
		}
		removeProject := func() error { _, err := w.Workspace.DeleteProject(ctx, p.Project.ID); return err }
		removeEnvironment := func() error { _, err := w.Workspace.DeleteEnvironment(ctx, p.Environment.ID); return err }
		removeInstance := func(id string) error { _, err := w.Catalog.DeleteInstance(ctx, id); return err }
		for _, step := range []struct {
			err  error
			code fault.Code
		}{
			{removeProject(), fault.ProjectNotEmpty},
			{removeEnvironment(), fault.EnvironmentNotEmpty},
			{removeInstance(used.Instance.ID), fault.ModuleInstanceHasDeployments},
			{removeInstance(moved.ID), fault.ModuleInstanceNotEmpty},
			{removeInstance(p.Instance.ID), ""},
			{removeInstance(p.Instance.ID), fault.ModuleInstanceNotFound},
			{removeProject(), fault.ProjectNotEmpty},
			{removeEnvironment(), ""},
			{removeEnvironment(), fault.EnvironmentNotFound},
			{removeProject(), ""},
			{removeProject(), fault.ProjectNotFound},
		} {
			if step.code == "" && step.err != nil || step.code != "" && !fault.Is(step.err, step.code) {
				t.Errorf("%v, want %s", step.err, step.code)
			}
		}
		if rows := w.Rows(t); rows["projects"] != 1 || rows["environments"] != 1 || rows["module_instances"] != 2 {
			t.Errorf("%v", rows)
		}
	})
}

func TestPlacesAreFoundByAPartOfTheirNameOrSlug(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		admin := w.Acme.As(actor.Admin)
		w.Fixture(t, w.Globex, "shop")
		for slug, name := range map[string]string{"shop": "Straße 50%", "back-office": "Büro", "queue": "Shop_Queue"} {
			p, err := w.Workspace.CreateProject(admin, workspace.NewProject{Name: name, Slug: slug})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Workspace.CreateEnvironment(admin, workspace.NewEnvironment{ProjectID: p.ID, Name: name, Slug: slug}); err != nil {
				t.Fatal(err)
			}
		}
		for search, want := range map[string]string{
			"SHOP": "queue shop", "op_q": "queue", "0%": "shop", "%": "shop", "_": "queue", "ß": "shop", "Bü": "back-office", "bü": "back-office",
			"BÜ": "back-office", "-OFF": "back-office", "absent": "", `"`: "", "'": "",
		} {
			projects, err := w.Workspace.Projects(admin, workspace.ProjectFilter{Search: &search}, page.Args{})
			if err != nil {
				t.Fatal(err)
			}
			environments, err := w.Workspace.Environments(admin, workspace.EnvironmentFilter{Search: &search}, page.Args{})
			if err != nil {
				t.Fatal(err)
			}
			var found, in []string
			for _, p := range projects.Nodes() {
				found = append(found, p.Slug)
			}
			for _, e := range environments.Nodes() {
				in = append(in, e.Slug)
			}
			slices.Sort(found)
			slices.Sort(in)
			if got := strings.Join(found, " "); got != want || strings.Join(in, " ") != want {
				t.Errorf("%q: the projects %q and the environments %q, want %q", search, got, in, want)
			}
		}
		for _, search := range []string{"", strings.Repeat("ü", 101)} {
			_, first := w.Workspace.Projects(admin, workspace.ProjectFilter{Search: &search}, page.Args{})
			_, second := w.Workspace.Environments(admin, workspace.EnvironmentFilter{Search: &search}, page.Args{})
			if !fault.Is(first, fault.RequestInvalid) || !fault.Is(second, fault.RequestInvalid) {
				t.Errorf("%d characters: %v, %v", len(search)/2, first, second)
			}
		}
		if _, err := w.Workspace.Projects(admin, workspace.ProjectFilter{Search: new(strings.Repeat("ü", 100))}, page.Args{}); err != nil {
			t.Errorf("100 characters: %v", err)
		}
	})
}
