package migrate_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"slipway/ent/definitionuse"
	"slipway/internal/base/actor"
	"slipway/internal/data/store"
	"slipway/internal/data/store/migrate"
	"slipway/internal/pure/inputprop"
)

// naming are inputs of versions by the ids of these; some name definitions.
func naming(t *testing.T) map[string]string {
	t.Helper()
	all, err := os.ReadFile("../../../pure/inputprop/testdata/all_variants.json")
	if err != nil {
		t.Fatal(err)
	}
	const of = `"values":{"source":"default_value_definition","params":{"givenId":`
	return map[string]string{
		"mver_all":      string(all),
		"mver_none":     `[]`,
		"mver_one":      `[{"id":"a","type":"string","label":"A",` + of + `"region"}}}]`,
		"mver_twice":    `[{"id":"a","type":"string","label":"A",` + of + `"region"}}},{"id":"b","type":"string","label":"B",` + of + `"region"}}}]`,
		"mver_by_input": `[{"id":"a","type":"string","label":"A",` + of + `{"input":"b"}}}},{"id":"b","type":"string","label":"B"}]`,
		"mver_source":   `[{"id":"a","type":"string","label":"A","values":{"source":"environments","params":{"givenId":"no"}}}]`,
		"mver_in_text":  `[{"id":"a","type":"object","label":"A","default":{"values":{"source":"default_value_definition","params":{"givenId":"no"}}}}]`,
		"mver_deep": `[{"id":"l","type":"object_array","label":"L","item_inputs":[{"id":"m","type":"object_map","label":"M","item_inputs":[
			{"id":"a","type":"string","label":"A",` + of + `"deep"}}},{"id":"b","type":"string","label":"B",` + of + `"region"}}}]}]},
			{"id":"r","type":"$ref:base","label":"R","mapped_inputs":[{"id":"c","type":"string","label":"C",` + of + `"mapped"}}}]}]`,
	}
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func TestWhichVersionsNameWhichDefinitionsIsKnownAfterTheMigration(t *testing.T) {
	t.Parallel()
	const before = 20261124175499
	eachEmpty(t, func(t *testing.T, url string, _ int) {
		migrateTo(t, url, before)
		var insert strings.Builder
		if !strings.HasPrefix(url, "sqlite:") {
			insert.WriteString(`SELECT set_config('app.org_id', 'org_1', false);`)
		}
		insert.WriteString(ran)
		versions := naming(t)
		for id, inputs := range versions {
			insert.WriteString(`INSERT INTO module_versions (id, created_at, updated_at, organization_id, module_definition_id, version, kind, inputs)
				VALUES ('` + id + `', '2026-01-01', '2026-01-01', 'org_1', 'mod_1', '` + id + `', 'aws:ecs', ` + quoted(inputs) + `);`)
		}
		execute(t, url, insert.String())
		if _, err := migrate.Up(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(t.Context(), store.Config{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		ctx := actor.With(t.Context(), &actor.Actor{Role: actor.Viewer, OrganizationID: "org_1"})
		for id := range versions {
			v, err := s.Client.ModuleVersion.Get(ctx, id)
			if err != nil || !v.UsesRecorded {
				t.Fatalf("%s: %v, %v", id, v, err)
			}
			list, err := v.Inputs.Properties(t.Context())
			if err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			found, err := s.Client.DefinitionUse.Query().Where(definitionuse.ModuleVersionID(id)).Select(definitionuse.FieldGivenID).Strings(ctx)
			slices.Sort(found)
			if want := inputprop.DefinitionsNamed(list); err != nil || !slices.Equal(found, want) {
				t.Errorf("%s names %v, %v, want %v", id, found, err, want)
			}
		}
		later := `INSERT INTO module_versions (id, created_at, updated_at, organization_id, module_definition_id, version, kind, inputs)
			VALUES ('mver_later', '2026-01-01', '2026-01-01', 'org_1', 'mod_1', 'later', 'aws:ecs', '[]')`
		if !strings.HasPrefix(url, "sqlite:") {
			later = `SELECT set_config('app.org_id', 'org_1', false);` + later
		}
		execute(t, url, later) // as a program of before does
		if v, err := s.Client.ModuleVersion.Get(ctx, "mver_later"); err != nil || v.UsesRecorded {
			t.Errorf("published by a program of before: %v, %v", v, err)
		}
	})
}
