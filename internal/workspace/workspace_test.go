package workspace_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/ent/auditevent"
	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/id"
	"slipway/internal/page"
	"slipway/internal/test/worldtest"
	"slipway/internal/workspace"
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
		projects, err := w.Workspace.Projects(viewer, page.Args{})
		if err != nil || len(projects.Edges) != 2 || projects.Edges[0].Node.ID != two.Project.ID {
			t.Errorf("projects: %v, %v", projects, err)
		}
		environments, err := w.Workspace.Environments(viewer, &one.Project.ID, page.Args{})
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
