package plantest_test

import (
	"database/sql"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"modernc.org/sqlite"

	"slipway/ent/chore"
	entmigrate "slipway/ent/migrate"
	"slipway/internal/data/store"
	"slipway/internal/test/worldtest"
)

// fullScan is a table that is read from its beginning to its end, and not by an index.
var fullScan = regexp.MustCompile(`^SCAN (\w+)$`)

// fewRows is what may be sorted: what either half of a shared list has given, in its order, for the page, and
// the one module of a type in each half.
var fewRows = regexp.MustCompile(`^SCAN half$|INDEX module_definition_type \(organization_id=\? AND type=\?\)`)

// isMerged reports whether the steps before a sort read the records that were found for each of some values, in its order
// and as far as the page goes.
func isMerged(steps []string) bool {
	return slices.ContainsFunc(steps, func(step string) bool { return strings.HasPrefix(step, "SCAN found VIRTUAL TABLE") })
}

// Most pages of the file that a statement may look at, and one that reads a list. To find a row by an index takes about
// six.
const (
	mostPages       = 5_000
	mostPagesOfList = 40_000
)

func TestEveryStatementFollowsAnIndexOnSQLite(t *testing.T) {
	t.Parallel()
	r := newRecorder()
	w, p := r.filled(t, worldtest.SQLite(t))
	sent := everyStatement(t, w, p, r)
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(w.DatabaseURL, "sqlite:")+"?_time_format=sqlite&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	for _, statistics := range []bool{false, true} {
		if statistics {
			run(t, conn, "ANALYZE")
		}
		for _, s := range sent {
			steps := stepsOf(t, conn, s)
			for i, step := range steps {
				scan := fullScan.FindStringSubmatch(step)
				sort := s.isOfList && strings.HasSuffix(step, "FOR ORDER BY") && !fewRows.MatchString(steps[i-1]) && !isMerged(steps[:i])
				scansAll := scan != nil && isTable(scan[1]) && !(s.counts() && slices.Contains(few, scan[1]))
				if sort || scansAll {
					t.Errorf("%s: %s, statistics %t:\n%s\n%s", s.of, step, statistics, s.Text, strings.Join(steps, "\n"))
				}
			}
			most := mostPages
			if s.isOfList {
				most = mostPagesOfList
			}
			if read := pagesOf(t, conn, s); read > most && !s.counts() {
				t.Errorf("%s: looks at %d pages, at most %d, statistics %t:\n%s\n%s", s.of, read, most, statistics, s.Text, strings.Join(steps, "\n"))
			}
		}
	}
}

func run(t *testing.T, conn *sql.Conn, text string) {
	t.Helper()
	if _, err := conn.ExecContext(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

// stepsOf returns the steps of a statement's plan.
func stepsOf(t *testing.T, conn *sql.Conn, s statement) (steps []string) {
	t.Helper()
	rows, err := conn.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+s.Text, s.Args...)
	if err != nil {
		t.Fatalf("%v: %s", err, s.Text)
	}
	defer rows.Close()
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
	return steps
}

// pagesOf carries a statement out, undoes it, and returns how often it looked at a page of the file.
func pagesOf(t *testing.T, conn *sql.Conn, s statement) int {
	t.Helper()
	run(t, conn, "BEGIN")
	before := pagesLookedAt(t, conn)
	rows, err := conn.QueryContext(t.Context(), s.Text, s.Args...)
	if err == nil {
		for rows.Next() {
		}
		err = errors.Join(rows.Err(), rows.Close())
	}
	if err != nil && !store.IsUniqueViolation(err) { // it has been carried out before
		t.Fatalf("%v: %s", err, s.Text)
	}
	pages := pagesLookedAt(t, conn) - before
	run(t, conn, "ROLLBACK")
	return pages
}

func pagesLookedAt(t *testing.T, conn *sql.Conn) (pages int) {
	t.Helper()
	err := conn.Raw(func(c any) error {
		for _, op := range []sqlite.DBStatusOp{sqlite.DBStatusCacheHit, sqlite.DBStatusCacheMiss} {
			n, _, err := c.(sqlite.DBStatus).Status(op, false)
			if err != nil {
				return err
			}
			pages += n
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// isTable reports whether a name is that of a table of more than one row.
func isTable(name string) bool {
	for _, table := range entmigrate.Tables {
		if table.Name == name && name != chore.Table {
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
