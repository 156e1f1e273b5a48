package defaults_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"slipway/ent"
	"slipway/ent/definitionuse"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/module"
	"slipway/internal/service/defaults"
	"slipway/internal/test/worldtest"
)

// publish publishes a version whose options are of the definitions.
func publish(t *testing.T, w *worldtest.World, p *worldtest.Fixture, version string, givenIDs ...string) (*ent.ModuleVersion, error) {
	t.Helper()
	var inputs []string
	for i, givenID := range givenIDs {
		inputs = append(inputs, fmt.Sprintf(`{"id":"v%d","type":"string","label":"V","values":{"source":"default_value_definition","params":{"givenId":%q}}}`, i, givenID))
	}
	v, _, err := w.Catalog.PublishVersion(w.Acme.As(actor.Admin), module.NewVersion{
		DefinitionID: p.Definition.ID, Version: version, Kind: module.DeploymentTypeECS, Inputs: parsed(t, "["+strings.Join(inputs, ",")+"]"),
	})
	return v, err
}

// forget leaves a version as a program publishes it that does not record uses.
func forget(t *testing.T, w *worldtest.World, v *ent.ModuleVersion) {
	t.Helper()
	for _, statement := range []string{
		`DELETE FROM definition_uses WHERE module_version_id = '` + v.ID + `'`,
		`UPDATE module_versions SET uses_recorded = false WHERE id = '` + v.ID + `'`,
	} {
		if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

// foreseen returns the versions that another schema of a definition would concern.
func foreseen(w *worldtest.World, d *ent.DefaultValueDefinition, schema inputprop.RawProperty) (ids []string, err error) {
	o, err := w.Defaults.Update(w.Acme.As(actor.Admin), d.ID, defaults.Patch{Schema: &schema, DryRun: true})
	if err != nil {
		return nil, err
	}
	for _, v := range o.Impact.Versions {
		ids = append(ids, v.ID)
	}
	return ids, nil
}

func TestVersionThatAProgramOfBeforePublishedIsRecordedOnceByWhoeverAsks(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		used := create(t, w, w.Acme, "region")
		p := w.Fixture(t, w.Acme, "web")
		v, err := publish(t, w, p, "2.0.0", "region", "zone", "region")
		if err != nil {
			t.Fatal(err)
		}
		plain, err := publish(t, w, p, "2.1.0")
		if err != nil {
			t.Fatal(err)
		}
		forget(t, w, v)
		forget(t, w, plain)
		number := inputprop.NewRawProperty(parsed(t, `{"id":"region","type":"number","label":"Number"}`))
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				if i%2 == 0 {
					if _, err := w.Defaults.Delete(w.Acme.As(actor.Admin), used.ID); !fault.Is(err, fault.DefaultValueDefinitionInUse) {
						t.Errorf("a definition in use: %v", err)
					}
				} else if ids, err := foreseen(w, used, number); err != nil || len(ids) != 1 || ids[0] != v.ID {
					t.Errorf("%v, %v, want %s", ids, err, v.ID)
				}
			})
		}
		all.Wait()
		// A refused deletion takes with it what it has recorded; a dry run stays.
		if n, err := w.Store.Client.DefinitionUse.Query().Where(definitionuse.ModuleVersionID(v.ID)).Count(w.Acme.As(actor.Admin)); n != 2 || err != nil {
			t.Errorf("%d uses, %v", n, err)
		}
	})
}

func TestDeletionAloneSeesWhatAProgramOfBeforePublished(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		used := create(t, w, w.Acme, "region")
		v, err := publish(t, w, w.Fixture(t, w.Acme, "web"), "2.0.0", "region")
		if err != nil {
			t.Fatal(err)
		}
		forget(t, w, v)
		if _, err := w.Defaults.Delete(w.Acme.As(actor.Admin), used.ID); !fault.Is(err, fault.DefaultValueDefinitionInUse) {
			t.Errorf("%v", err)
		}
	})
}

func TestVersionThatWasRefusedKeepsNoDefinition(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		free := create(t, w, w.Acme, "region")
		p := w.Fixture(t, w.Acme, "web")
		if _, err := publish(t, w, p, p.Version.Version, "region"); !fault.Is(err, fault.ModuleVersionTaken) {
			t.Fatal(err)
		}
		if _, err := w.Defaults.Delete(w.Acme.As(actor.Admin), free.ID); err != nil {
			t.Error(err)
		}
	})
}

// A name that is a part of another is not the other.
func TestEachVersionThatNamesADefinitionIsForeseen(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		region, part := create(t, w, w.Acme, "region"), create(t, w, w.Acme, "reg")
		p := w.Fixture(t, w.Acme, "web")
		var want []string
		for number, names := range []string{"region", "zone", "region", "region-2"} {
			v, err := publish(t, w, p, fmt.Sprintf("2.%d.0", number), names)
			if err != nil {
				t.Fatal(err)
			}
			if names == "region" {
				want = append(want, v.ID)
			}
		}
		slices.Sort(want)
		for d, want := range map[*ent.DefaultValueDefinition][]string{region: want, part: nil} {
			number := inputprop.NewRawProperty(parsed(t, `{"id":"`+d.GivenID+`","type":"number","label":"Number"}`))
			ids, err := foreseen(w, d, number)
			if slices.Sort(ids); err != nil || !slices.Equal(ids, want) {
				t.Errorf("another schema of %s concerns %v, %v, want %v", d.GivenID, ids, err, want)
			}
		}
	})
}

// However many versions there are, a dry run looks at those that name the definition.
func TestDryRunReadsNoOtherVersions(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		d := create(t, w, w.Acme, "region")
		p := w.Fixture(t, w.Acme, "web")
		if _, err := publish(t, w, p, "2.0.0", "region"); err != nil {
			t.Fatal(err)
		}
		number := inputprop.NewRawProperty(parsed(t, `{"id":"region","type":"number","label":"Number"}`))
		ask := func() []string {
			return w.Statements(func() {
				if ids, err := foreseen(w, d, number); err != nil || len(ids) != 1 {
					t.Errorf("%v, %v", ids, err)
				}
			})
		}
		few := ask()
		for i := range 30 {
			if _, err := publish(t, w, p, fmt.Sprintf("3.%d.0", i), "other"); err != nil {
				t.Fatal(err)
			}
		}
		many := ask()
		if len(few) != len(many) || strings.Contains(strings.Join(many, "\n"), "LIKE") {
			t.Errorf("%d statements, and with more versions %d:\n%s", len(few), len(many), strings.Join(many, "\n"))
		}
	})
}
