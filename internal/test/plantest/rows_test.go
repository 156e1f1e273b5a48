package plantest_test

import (
	"database/sql"
	_ "embed"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"

	entmigrate "slipway/ent/migrate"
	"slipway/internal/test/pgtest"
	"slipway/internal/test/worldtest"
)

//go:embed testdata/rows.sql
var rows string

// fill loads the rows of testdata/rows.sql into a world; deployments says how many of them, and bounds the
// other tables. It returns a place whose instance has a quarter of the deployments of its organization.
func fill(t testing.TB, w *worldtest.World, deployments int) *worldtest.Fixture {
	t.Helper()
	p := w.Fixture(t, w.Acme, "tour")
	at, recent, json := "to_timestamp(1767225600 + i)", "now() - make_interval(secs => i)", "::json"
	if isSQLite(w) {
		at = "strftime('%Y-%m-%d %H:%M:%S', 1767225600 + i, 'unixepoch') || '+00:00'"
		recent = "strftime('%Y-%m-%d %H:%M:%S', 'now', '-' || i || ' seconds') || '+00:00'"
		json = ""
	}
	load := strings.NewReplacer("{acme}", w.Acme.ID, "{globex}", w.Globex.ID, "{at}", at, "{recent}", recent, "{json}", json,
		"{project}", p.Project.ID, "{environment}", p.Environment.ID, "{instance}", p.Instance.ID, "{last}", strconv.Itoa(deployments-1))
	db := loader(t, w)
	if !isSQLite(w) {
		for _, table := range entmigrate.Tables { // no statistics before the test wants them
			execute(t, db, "ALTER TABLE "+table.Name+" SET (autovacuum_enabled = off)")
		}
	}
	// To make the indexes of many rows takes a fraction of what it takes to keep them row by row.
	indexes := secondary(t, db, isSQLite(w))
	for name := range indexes {
		execute(t, db, `DROP INDEX "`+name+`"`)
	}
	execute(t, db, load.Replace(rows))
	for _, definition := range indexes {
		execute(t, db, definition)
	}
	return p
}

// large are the tables that have the most rows, of what has been.
const large = "'deployments', 'deployment_references', 'given_inputs', 'audit_events', 'cloud_events', 'deployment_changes', 'deployment_logs', 'deployment_outputs', 'idempotency_keys'"

// secondary returns the indexes of the large tables but those of primary keys: what makes each, by its name.
func secondary(t testing.TB, db *sql.DB, sqlite bool) map[string]string {
	t.Helper()
	query := "SELECT indexname, indexdef FROM pg_indexes WHERE tablename IN (" + large + ") AND indexname NOT LIKE '%_pkey'"
	if sqlite {
		query = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN (" + large + ")"
	}
	found, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	indexes := map[string]string{}
	for found.Next() {
		var name, definition string
		if err := found.Scan(&name, &definition); err != nil {
			t.Fatal(err)
		}
		indexes[name] = definition
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return indexes
}

func execute(t testing.TB, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func isSQLite(w *worldtest.World) bool { return strings.HasPrefix(w.DatabaseURL, "sqlite:") }

// loader opens the world's database for writing anybody's rows, without a check of what they refer to.
func loader(t testing.TB, w *worldtest.World) *sql.DB {
	t.Helper()
	if path, ok := strings.CutPrefix(w.DatabaseURL, "sqlite:"); ok {
		db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)&_pragma=synchronous(OFF)&_pragma=cache_size(-200000)&_pragma=temp_store(MEMORY)")
		if err != nil {
			t.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	u, err := url.Parse(w.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	superuser, err := url.Parse(os.Getenv(pgtest.Env))
	if err != nil {
		t.Fatal(err)
	}
	u.User = superuser.User
	query := u.Query()
	query.Set("options", "-c session_replication_role=replica")
	u.RawQuery = query.Encode()
	db, err := sql.Open("postgres", u.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}
