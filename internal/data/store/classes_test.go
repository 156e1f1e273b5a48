package store_test

import (
	"database/sql"
	"reflect"
	"strings"
	"testing"

	"entgo.io/ent/dialect/sql/schema"
	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/ent/chore"
	entmigrate "slipway/ent/migrate"
	"slipway/internal/data/store"
	"slipway/internal/test/worldtest"
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

// The conditions of the policies, without brackets and casts. Reading has a CASE, because the planner takes a
// condition with OR for true of one row in two hundred. Its last branch is an error.
const (
	reads  = "CASE current_setting'app.isolation', true WHEN 'filter' THEN true WHEN 'strict' THEN "
	fails  = " ELSE current_setting'app.isolation, which this session lacks'::boolean END"
	owns   = "organization_id = current_setting'app.org_id', true"
	writes = "COALESCEorganization_id, 'global' = current_setting'app.org_id', true"
)

func TestPoliciesAreThoseOfTheClass(t *testing.T) {
	t.Parallel()
	want := map[store.Class]map[string]string{
		store.Owned: {"SELECT": reads + owns + fails, "INSERT": owns, "UPDATE": owns + " " + owns, "DELETE": owns},
		store.Shared: {
			"SELECT": reads + owns + " OR organization_id IS NULL" + fails,
			"INSERT": writes, "UPDATE": writes + " " + writes, "DELETE": writes,
		},
	}
	plain := strings.NewReplacer("(", "", ")", "", "::text", "", "::character varying", "")
	db, err := sql.Open("postgres", worldtest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for table, class := range classes(t) {
		for command, condition := range want[class] {
			var got string
			err := db.QueryRowContext(t.Context(), `SELECT concat_ws(' ', qual, with_check) FROM pg_policies WHERE tablename = $1 AND cmd = $2`,
				table.Name, command).Scan(&got)
			if got = strings.Join(strings.Fields(plain.Replace(got)), " "); err != nil || got != condition {
				t.Errorf("%s %s: %v, %s\nwant %s", command, table.Name, err, got, condition)
			}
		}
	}
}

// classes returns the class of every table.
func classes(t *testing.T) map[*schema.Table]store.Class {
	t.Helper()
	found := map[*schema.Table]store.Class{}
	for _, table := range entmigrate.Tables {
		for entity, class := range store.Classes {
			named := strings.ReplaceAll(table.Name, "_", "") == strings.ToLower(entity)+"s"
			if named || entity == ent.TypeChore && table.Name == chore.Table {
				found[table] = class
			}
		}
		if found[table] == "" {
			t.Errorf("the table %s belongs to no class", table.Name)
		}
	}
	return found
}
