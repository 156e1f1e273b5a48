package plantest_test

import (
	"database/sql"
	_ "embed"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"

	"slipway/internal/pgtest"
	"slipway/internal/worldtest"
)

//go:embed testdata/rows.sql
var rows string

// fill loads the rows of testdata/rows.sql into a world; deployments says how many of them, and bounds the
// other tables.
func fill(t testing.TB, w *worldtest.World, deployments int) {
	t.Helper()
	at := "to_timestamp(1767225600 + i)"
	if isSQLite(w) {
		at = "strftime('%Y-%m-%d %H:%M:%S', 1767225600 + i, 'unixepoch') || '+00:00'"
	}
	load := strings.NewReplacer("{acme}", w.Acme.ID, "{globex}", w.Globex.ID, "{at}", at, "{last}", strconv.Itoa(deployments-1))
	db := loader(t, w)
	if isSQLite(w) {
		execute(t, db, load.Replace(rows))
		return
	}
	// To make the indexes of many rows takes a fraction of what it takes to keep them row by row.
	indexes := secondary(t, db, "deployments")
	for name := range indexes {
		execute(t, db, "DROP INDEX "+name)
	}
	execute(t, db, load.Replace(rows))
	for _, definition := range indexes {
		execute(t, db, definition)
	}
	execute(t, db, "ANALYZE")
}

// secondary returns the indexes of a table but that of its primary key: what makes each, by its name.
func secondary(t testing.TB, db *sql.DB, table string) map[string]string {
	t.Helper()
	found, err := db.QueryContext(t.Context(), "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = $1 AND indexname NOT LIKE '%_pkey'", table)
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
	if isSQLite(w) {
		return w.Raw(t, w.Acme)
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
