package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/page"
	"slipway/internal/pure/module"
	"slipway/internal/service/catalog"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newDefinition(ctx context.Context, t *testing.T, w *worldtest.World, moduleType string) *ent.ModuleDefinition {
	t.Helper()
	d, _, err := w.Catalog.CreateDefinition(ctx, catalog.NewDefinition{Name: "Some module", Type: moduleType, Status: "ACTIVE"})
	must(t, err)
	return d
}

// choosing is an input by which an instance of a module is chosen.
func choosing(moduleType string) string {
	return fmt.Sprintf(`{"id":"of","type":"$ref:%s","label":"Of"}`, moduleType)
}

// publishChoosing publishes a module whose version has, within a list, an input by which an instance of another is chosen.
func publishChoosing(ctx context.Context, t *testing.T, w *worldtest.World, moduleType, of string) *ent.ModuleVersion {
	t.Helper()
	v, _, err := w.Catalog.PublishVersion(ctx, module.NewVersion{
		DefinitionID: newDefinition(ctx, t, w, moduleType).ID, Version: "1.0.0", Kind: module.DeploymentTypeECS,
		Inputs: strictjson.MustParse(`[{"id":"some","type":"object_array","label":"Some","item_inputs":[` + choosing(of) + `]}]`),
	})
	must(t, err)
	return v
}

func TestTypeOfAModuleChangesWhileNothingHoldsIt(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		admin, theirs := w.Acme.As(actor.Admin), w.Globex.As(actor.Admin)
		made := newDefinition(admin, t, w, "acme/netwrk")
		newDefinition(theirs, t, w, "taken/elsewhere")
		// Neither the type of another organization nor one that is not the same holds it.
		publishChoosing(theirs, t, w, "theirs", "acme/netwrk")
		publishChoosing(admin, t, w, "ours", "acme/netwrk2")
		publishChoosing(admin, t, w, "upper", "acme/Netwrk")
		for _, free := range []string{"acme/network", "acme/network", "taken/elsewhere", strings.Repeat("n", 195)} {
			d, warnings, err := w.Catalog.UpdateDefinition(admin, made.ID, catalog.DefinitionPatch{Type: &free})
			if err != nil || d.Type != free || d.Name != made.Name || len(warnings) > 0 {
				t.Fatalf("%s: %v, %v, %v", free, d, warnings, err)
			}
			if found, err := w.Catalog.DefinitionByType(admin, free); err != nil || found.ID != made.ID {
				t.Errorf("by the type %s: %v, %v", free, found, err)
			}
			text := free[:min(len(free), 100)]
			if found, err := w.Catalog.Definitions(admin, catalog.DefinitionFilter{Search: &text}, page.Args{}); err != nil || len(found.Nodes()) != 1 {
				t.Errorf("search for %s: %v, %v", free, found, err)
			}
		}
		if d, err := w.Catalog.DefinitionByType(admin, "acme/netwrk"); !fault.Is(err, fault.ModuleDefinitionNotFound) {
			t.Errorf("by its former type: %v, %v", d, err)
		}
		before := w.Rows(t)
		for bad, code := range map[string]fault.Code{
			"ours": fault.ModuleDefinitionTypeTaken, "": fault.RequestInvalid, "acme//network": fault.RequestInvalid, strings.Repeat("n", 196): fault.RequestInvalid,
		} {
			d, _, err := w.Catalog.UpdateDefinition(admin, made.ID, catalog.DefinitionPatch{Type: &bad, Name: new("Changed")})
			if !fault.Is(err, code) || code == fault.RequestInvalid && !hasViolation(err, "/type") || d != nil {
				t.Errorf("%q: %v, %v, want %s", bad, d, err, code)
			}
		}
		if diff := cmp.Diff(before, w.Rows(t)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestTypeOfAModuleStaysWhileItIsUsed(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		admin, theirs := w.Acme.As(actor.Admin), w.Globex.As(actor.Admin)
		p := w.Fixture(t, w.Acme, "web")
		chosen, global := newDefinition(admin, t, w, "chosen"), newDefinition(root(), t, w, "global")
		ours, everybodys := publishChoosing(admin, t, w, "ours", "chosen"), publishChoosing(root(), t, w, "everybodys", "chosen")
		elsewhere := publishChoosing(theirs, t, w, "theirs", "global")
		for name, c := range map[string]struct {
			by context.Context
			of *ent.ModuleDefinition
			in []string
		}{
			"an instance":                      {admin, p.Definition, []string{p.Instance.ID}},
			"versions":                         {admin, chosen, []string{ours.ID, everybodys.ID}},
			"a version of another's, globally": {root(), global, []string{elsewhere.ID + " of " + w.Globex.ID}},
		} {
			d, _, err := w.Catalog.UpdateDefinition(c.by, c.of.ID, catalog.DefinitionPatch{Type: new("renamed")})
			if !fault.Is(err, fault.ModuleDefinitionInUse) || d != nil {
				t.Errorf("%s: %v, %v", name, d, err)
				continue
			}
			got := usersNamed(t, err)
			slices.Sort(got)
			slices.Sort(c.in)
			if diff := cmp.Diff(c.in, got); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			if after, err := w.Catalog.Definition(c.by, c.of.ID); err != nil || after.Type != c.of.Type {
				t.Errorf("%s: %v, %v", name, after, err)
			}
			// The same type again is no change of it.
			same := catalog.DefinitionPatch{Type: &c.of.Type, Name: new("Some other name")}
			if d, _, err := w.Catalog.UpdateDefinition(c.by, c.of.ID, same); err != nil || d.Name != "Some other name" {
				t.Errorf("%s, and the same type: %v, %v", name, d, err)
			}
		}
	})
}

func TestManyUsersOfATypeAreNotAllNamed(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		for i := range 20 {
			if i == 19 {
				if items := heldBy(t, w, p.Definition.ID); len(items) != 20 || items[19] == "…" {
					t.Errorf("of 20: %q", items)
				}
			}
			p.NewInstance(t, fmt.Sprint("web", i))
		}
		if items := heldBy(t, w, p.Definition.ID); len(items) != 21 || items[20] != "…" {
			t.Errorf("of 21: %q", items)
		}
	})
}

// heldBy returns what is named as the users of a definition's type.
func heldBy(t *testing.T, w *worldtest.World, definitionID string) []string {
	t.Helper()
	_, _, err := w.Catalog.UpdateDefinition(w.Acme.As(actor.Admin), definitionID, catalog.DefinitionPatch{Type: new("renamed")})
	if !fault.Is(err, fault.ModuleDefinitionInUse) {
		t.Fatal(err)
	}
	return usersNamed(t, err)
}

func usersNamed(t *testing.T, err error) []string {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || len(f.Details) != 1 {
		t.Fatal(err)
	}
	return f.Details[0].Items
}

// An organization's definition of the type of a global one goes before it, however it came by the type.
func TestTypeThatHidesAGlobalOneIsWarnedOf(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		admin := w.Acme.As(actor.Admin)
		global := newDefinition(root(), t, w, "network")
		chosen, err := w.Catalog.CreateInstance(admin, catalog.NewInstance{EnvironmentID: w.Fixture(t, w.Acme, "web").Environment.ID, DefinitionID: global.ID, Name: "network"})
		must(t, err)
		p := w.Fixture(t, w.Acme, "api")
		v, _, err := w.Catalog.PublishVersion(admin, module.NewVersion{DefinitionID: p.Definition.ID, Version: "2.0.0", Kind: module.DeploymentTypeTerraform,
			Inputs: strictjson.MustParse(`[{"id":"of","type":"$ref:network","label":"Of","immutable":true}]`)})
		must(t, err)
		d, _, err := w.Deploy.Propose.Create(admin, propose.New{InstanceID: p.Instance.ID, VersionID: v.ID, Inputs: strictjson.MustParse(`{"of":"` + chosen.ID + `"}`)})
		must(t, err)
		p.Finish(t, d, nil)
		made := newDefinition(admin, t, w, "netwrk")
		_, warnings, err := w.Catalog.UpdateDefinition(admin, made.ID, catalog.DefinitionPatch{Type: new("network")})
		if err != nil || len(warnings) != 1 || warnings[0].Pointer != "/type" {
			t.Errorf("%v, %v", warnings, err)
		}
	})
}
