package store_test

import (
	"database/sql"
	"reflect"
	"strings"
	"testing"

	"entgo.io/ent/dialect/sql/schema"
	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	entmigrate "slipway/ent/migrate"
	"slipway/internal/store"
	"slipway/internal/worldtest"
)

func TestEveryEntityHasAClass(t *testing.T) {
	t.Parallel()
	entities := map[string]bool{}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[ent.Client]()) {
		if field.Type.Kind() == reflect.Pointer && field.Type.Elem().Name() == field.Name+"Client" {
			entities[field.Name] = true
		}
	}
	for entity := range entities {
		if store.Classes[entity] == "" {
			t.Errorf("%s has none", entity)
		}
	}
	if len(entities) != len(store.Classes) || len(entities) != len(entmigrate.Tables) {
		t.Errorf("%d entities, %d classes, %d tables", len(entities), len(store.Classes), len(entmigrate.Tables))
	}
}

func TestClassesFitTheColumns(t *testing.T) {
	t.Parallel()
	for table, class := range classes(t) {
		var owner *schema.Column
		for _, c := range table.Columns {
			if c.Name == "organization_id" {
				owner = c
			}
		}
		switch {
		case class == store.Owned && (owner == nil || owner.Nullable):
			t.Errorf("%s is owned: its organization_id has to be there and not null", table.Name)
		case class == store.Shared && (owner == nil || !owner.Nullable):
			t.Errorf("%s is shared: its organization_id has to be there and nullable", table.Name)
		}
	}
}

func TestRowLevelSecurityIsOnExactlyTheTablesOfTenants(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("postgres", worldtest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	want := map[string]string{}
	for table, class := range classes(t) {
		if class != store.Control {
			want[table.Name] = "DELETE INSERT SELECT UPDATE forced"
		}
	}
	rows, err := db.QueryContext(t.Context(), `
		SELECT c.relname, coalesce((SELECT string_agg(cmd, ' ' ORDER BY cmd) FROM pg_policies p WHERE p.tablename = c.relname), '')
		       || CASE WHEN relforcerowsecurity THEN ' forced' ELSE '' END
		FROM pg_class c
		WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
		  AND (relrowsecurity OR EXISTS (SELECT FROM pg_policies p WHERE p.tablename = c.relname))`)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for rows.Next() {
		var table, policies string
		if err := rows.Scan(&table, &policies); err != nil {
			t.Fatal(err)
		}
		got[table] = policies
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
}

// classes gives the class of every table.
func classes(t *testing.T) map[*schema.Table]store.Class {
	t.Helper()
	found := map[*schema.Table]store.Class{}
	for _, table := range entmigrate.Tables {
		for entity, class := range store.Classes {
			if strings.ReplaceAll(table.Name, "_", "") == strings.ToLower(entity)+"s" {
				found[table] = class
			}
		}
		if found[table] == "" {
			t.Errorf("the table %s belongs to no class", table.Name)
		}
	}
	return found
}
