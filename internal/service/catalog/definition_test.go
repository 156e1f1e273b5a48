package catalog_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/ent/auditevent"
	"slipway/ent/moduledefinition"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/page"
	"slipway/internal/service/catalog"
	"slipway/internal/test/worldtest"
)

func hasViolation(err error, pointer string) bool {
	var f *fault.Error
	return errors.As(err, &f) && slices.ContainsFunc(f.Violations, func(v fault.Violation) bool {
		return strings.HasPrefix(v.Pointer, pointer)
	})
}

// root is a superadmin who acts on what is global.
func root() context.Context {
	return actor.With(context.Background(), &actor.Actor{ID: "tok_root", Name: "root", Role: actor.Superadmin, Globally: true, Channel: actor.CLI})
}

func TestTypeIsTakenOncePerOwner(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		in := catalog.NewDefinition{Name: "Web", Type: "aws:web", Status: "ACTIVE"}
		for owner, ctx := range map[string]context.Context{
			"acme": w.Acme.As(actor.Admin), "globex": w.Globex.As(actor.Admin), "everybody": root(),
		} {
			if _, _, err := w.Catalog.CreateDefinition(ctx, in); err != nil {
				t.Errorf("%s: %v", owner, err)
			}
			before := w.Rows(t)
			if d, _, err := w.Catalog.CreateDefinition(ctx, in); !fault.Is(err, fault.ModuleDefinitionTypeTaken) || d != nil {
				t.Errorf("%s, again: %v, %v", owner, d, err)
			}
			if diff := cmp.Diff(before, w.Rows(t)); diff != "" {
				t.Error(diff)
			}
		}
	})
}

func TestCatalogueIsOnesOwnAndEverybodys(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		for owner, ctx := range map[string]context.Context{"acme": w.Acme.As(actor.Admin), "globex": w.Globex.As(actor.Admin), "global": root()} {
			for _, status := range []moduledefinition.Status{"ACTIVE", "DRAFT"} {
				in := catalog.NewDefinition{Name: owner + " " + string(status), Type: owner + "-" + string(status), Status: status}
				if _, _, err := w.Catalog.CreateDefinition(ctx, in); err != nil {
					t.Fatal(err)
				}
			}
		}
		anonymous := actor.With(t.Context(), actor.Anonymous())
		draft, search := moduledefinition.StatusDRAFT, "ACME"
		for name, c := range map[string]struct {
			ctx    context.Context
			filter catalog.DefinitionFilter
			want   []string
		}{
			"member":          {w.Acme.As(actor.Viewer), catalog.DefinitionFilter{}, []string{"acme ACTIVE", "acme DRAFT", "global ACTIVE", "global DRAFT"}},
			"member, drafts":  {w.Acme.As(actor.Viewer), catalog.DefinitionFilter{Status: &draft}, []string{"acme DRAFT", "global DRAFT"}},
			"member, search":  {w.Acme.As(actor.Viewer), catalog.DefinitionFilter{Search: &search}, []string{"acme ACTIVE", "acme DRAFT"}},
			"other, search":   {w.Globex.As(actor.Viewer), catalog.DefinitionFilter{Search: &search}, nil},
			"anybody":         {anonymous, catalog.DefinitionFilter{}, []string{"global ACTIVE"}},
			"anybody, drafts": {anonymous, catalog.DefinitionFilter{Status: &draft}, nil},
			"superadmin":      {root(), catalog.DefinitionFilter{}, []string{"global ACTIVE", "global DRAFT"}},
		} {
			page, err := w.Catalog.Definitions(c.ctx, c.filter, page.Args{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			var got []string
			for _, d := range page.Nodes() {
				got = append(got, d.Name)
			}
			slices.Sort(got)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	})
}

func TestGlobalDefinitionsAreSuperadminsToChange(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		d, _, err := w.Catalog.CreateDefinition(root(), catalog.NewDefinition{Name: "Web", Type: "web", Status: "ACTIVE"})
		if err != nil {
			t.Fatal(err)
		}
		name := "Mine"
		if _, _, err := w.Catalog.UpdateDefinition(w.Acme.As(actor.Admin), d.ID, catalog.DefinitionPatch{Name: &name}); !fault.Is(err, fault.ModuleDefinitionForbidden) {
			t.Errorf("update: %v", err)
		}
		if _, err := publish(w.Acme.As(actor.Admin), w, d.ID, "1.0.0"); !fault.Is(err, fault.ModuleDefinitionForbidden) {
			t.Errorf("publish: %v", err)
		}
		if v, err := publish(root(), w, d.ID, "1.0.0"); err != nil || v.OrganizationID != nil {
			t.Errorf("publish by a superadmin: %v, %v", v, err)
		}
		if got, _, err := w.Catalog.UpdateDefinition(root(), d.ID, catalog.DefinitionPatch{Name: &name}); err != nil || got.Name != name {
			t.Errorf("update by a superadmin: %v, %v", got, err)
		}
		// Everybody can deploy it.
		if v, err := w.Catalog.Version(w.Globex.As(actor.Viewer), latestID(t, w, d.ID)); err != nil || v.Version != "1.0.0" {
			t.Errorf("read by a member: %v, %v", v, err)
		}
	})
}

func latestID(t *testing.T, w *worldtest.World, definitionID string) string {
	t.Helper()
	return *w.Store.Client.ModuleDefinition.GetX(w.Acme.As(actor.Viewer), definitionID).LatestVersionID
}

func TestInstanceNameIsTakenOncePerEnvironment(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, theirs := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Globex, "web")
		before := w.Rows(t)
		for name, c := range map[string]struct {
			role actor.Role
			in   catalog.NewInstance
			code fault.Code
		}{
			"taken":               {actor.Developer, catalog.NewInstance{EnvironmentID: p.Environment.ID, DefinitionID: p.Definition.ID, Name: "web"}, fault.ModuleInstanceNameTaken},
			"viewer":              {actor.Viewer, catalog.NewInstance{EnvironmentID: p.Environment.ID, DefinitionID: p.Definition.ID, Name: "new"}, fault.ModuleInstanceForbidden},
			"foreign environment": {actor.Developer, catalog.NewInstance{EnvironmentID: theirs.Environment.ID, DefinitionID: p.Definition.ID, Name: "new"}, fault.EnvironmentNotFound},
			"foreign module":      {actor.Developer, catalog.NewInstance{EnvironmentID: p.Environment.ID, DefinitionID: theirs.Definition.ID, Name: "new"}, fault.ModuleDefinitionNotFound},
		} {
			if i, err := w.Catalog.CreateInstance(w.Acme.As(c.role), c.in); !fault.Is(err, c.code) || i != nil {
				t.Errorf("%s: %v, %v, want %s", name, i, err, c.code)
			}
		}
		if diff := cmp.Diff(before, w.Rows(t)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestChangesOfTheCatalogueAreAudited(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		admin := w.Acme.As(actor.Admin)
		description := "Serves pages."
		if _, _, err := w.Catalog.UpdateDefinition(admin, p.Definition.ID, catalog.DefinitionPatch{Description: &description}); err != nil {
			t.Fatal(err)
		}
		// A patch of nothing changes nothing.
		if _, _, err := w.Catalog.UpdateDefinition(admin, p.Definition.ID, catalog.DefinitionPatch{}); err != nil {
			t.Fatal(err)
		}
		for id, want := range map[string][]string{
			p.Definition.ID: {"createModuleDefinition", "updateModuleDefinition"},
			p.Version.ID:    {"publishModuleVersion"},
			p.Instance.ID:   {"createModuleInstance"},
		} {
			got := w.Store.Client.AuditEvent.Query().Where(auditevent.ObjectID(id)).
				Order(ent.Asc(auditevent.FieldCreatedAt)).Select(auditevent.FieldAction).StringsX(admin)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", id, diff)
			}
		}
	})
}
