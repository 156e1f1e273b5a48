package store_test

import (
	"regexp"
	"strings"
	"testing"

	"slipway/internal/test/worldtest"
)

// wholeOrganization is a step of a plan that reads all rows of an organization.
var wholeOrganization = regexp.MustCompile(`\(organization_id=\?\)`)

// fewRows is a step along an index that few rows are in: at most 200 rules are in force.
var fewRows = regexp.MustCompile(`INDEX (module_version_uses_unrecorded|rule_in_force) `)

// wholeInstance is a step that reads all deployments of an instance, and not only the active one.
var wholeInstance = regexp.MustCompile(`INDEX deployment_(organization|instance)\w* \(organization_id=\? AND module_instance_id=\?\)`)

// SQLite knows nothing of how many rows there are, for nothing ever counts them, so the text of a statement has to leave
// it no other way than the short one.
func TestNoStatementThatLooksForRecordsReadsAWholeOrganizationOnSQLite(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	ran := append(w.Recorded(func() { callServices(t, w) }), w.Recorded(func() { ask(t, w) })...)
	db := w.Raw(t, w.Acme)
	seen := map[string]bool{}
	for _, s := range ran {
		// The principals that a rule's maker is warned of are among all tokens, as what is counted is among all records.
		isList := strings.Contains(s.Text, " ORDER BY ") && strings.Contains(s.Text, " LIMIT ") || strings.Contains(s.Text, "COUNT(") ||
			strings.HasPrefix(s.Text, "SELECT COALESCE(\"principal_id\"")
		if seen[s.Text] || isList || strings.HasPrefix(s.Text, "INSERT") {
			continue
		}
		seen[s.Text] = true
		rows, err := db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+s.Text, s.Args...)
		if err != nil {
			t.Fatalf("%v: %s", err, s.Text)
		}
		for rows.Next() {
			var id, parent, unused int
			var step string
			if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
				t.Fatal(err)
			}
			if wholeOrganization.MatchString(step) && !fewRows.MatchString(step) || wholeInstance.MatchString(step) {
				t.Errorf("%s:\n%s", step, s.Text)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) < 40 {
		t.Errorf("%d statements were looked at", len(seen))
	}
}
