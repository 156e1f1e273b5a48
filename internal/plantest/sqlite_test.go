package plantest_test

import (
	"regexp"
	"strings"
	"testing"

	entmigrate "slipway/ent/migrate"
	"slipway/internal/worldtest"
)

// fullScan is a table that is read from its beginning to its end, and not by an index.
var fullScan = regexp.MustCompile(`^SCAN (\w+)$`)

// fewRows is what may be sorted: what either half of a shared list has given, in its order, for the page, and
// the one module of a type in each half.
var fewRows = regexp.MustCompile(`^SCAN half$|INDEX module_definition_type \(organization_id=\? AND type=\?\)`)

func TestListsFollowAnIndexOnSQLite(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	fill(t, w, 6_000)
	db := w.Raw(t, w.Acme)
	for _, s := range append(statements(t, w, w.Acme), claim(t, w, w.Acme)) {
		rows, err := db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+s.Text, s.Args...)
		if err != nil {
			t.Fatal(err)
		}
		var steps []string
		for rows.Next() {
			var id, parent, unused int
			var step string
			if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
				t.Fatal(err)
			}
			steps = append(steps, step)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		for i, step := range steps {
			scan := fullScan.FindStringSubmatch(step)
			sort := strings.HasSuffix(step, "FOR ORDER BY") && !fewRows.MatchString(steps[i-1])
			if sort || scan != nil && isTable(scan[1]) {
				t.Errorf("%s: %s:\n%s\n%s", s.list, step, s.Text, strings.Join(steps, "\n"))
			}
		}
	}
}

func isTable(name string) bool {
	for _, table := range entmigrate.Tables {
		if table.Name == name {
			return true
		}
	}
	return false
}

// tableOf returns the table of a type of the schema.
func tableOf(t *testing.T, entity string) string {
	t.Helper()
	for _, table := range entmigrate.Tables {
		if strings.EqualFold(strings.ReplaceAll(table.Name, "_", ""), entity+"s") {
			return table.Name
		}
	}
	t.Fatalf("%s has no table", entity)
	return ""
}
