package pgtest

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/lib/pq"
)

// templateLock is the key of the advisory lock that is held to make a template.
const templateLock = 7_261_104_558

// Template returns the URL of a database of the test's own, as URL does, that is a copy of what prepare makes. prepare
// runs once in the life of the cluster for each name, in whichever process comes first. So the name must change with
// what prepare does; a hash in it does that. prepare must close its connections.
func Template(t testing.TB, name string, prepare func(url string) error) string {
	t.Helper()
	db := Superuser(t)
	sum := sha256.Sum256([]byte(name))
	template := role + "_template_" + hex.EncodeToString(sum[:8])
	if !exists(t, db, template) {
		makeTemplate(t, db, template, prepare)
	}
	return create(t, db, template)
}

// makeTemplate prepares the database under another name first, so that a database of the template's name is always
// complete.
func makeTemplate(t testing.TB, db *sql.DB, template string, prepare func(url string) error) {
	t.Helper()
	unlock := lock(t, db)
	defer unlock()
	if exists(t, db, template) {
		return
	}
	draft := template + "_draft"
	run(t, db, "DROP DATABASE IF EXISTS %s WITH (FORCE)", pq.QuoteIdentifier(draft))
	run(t, db, "CREATE DATABASE %s OWNER %s", pq.QuoteIdentifier(draft), role)
	if err := prepare(locate(t, draft)); err != nil {
		t.Fatalf("prepare the template database: %v", err)
	}
	run(t, db, "ALTER DATABASE %s RENAME TO %s", pq.QuoteIdentifier(draft), pq.QuoteIdentifier(template))
}

// lock waits for the advisory lock, which belongs to one connection.
func lock(t testing.TB, db *sql.DB) (unlock func()) {
	t.Helper()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatalf("lock the template databases: %v", err)
	}
	if _, err := conn.ExecContext(t.Context(), "SELECT pg_advisory_lock($1)", templateLock); err != nil {
		t.Fatalf("lock the template databases: %v", err)
	}
	return func() {
		if _, err := conn.ExecContext(t.Context(), "SELECT pg_advisory_unlock($1)", templateLock); err != nil {
			t.Errorf("unlock the template databases: %v", err)
		}
		_ = conn.Close()
	}
}

func exists(t testing.TB, db *sql.DB, database string) bool {
	t.Helper()
	var there bool
	err := db.QueryRowContext(t.Context(), "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", database).
		Scan(&there)
	if err != nil {
		t.Fatalf("look for the template database: %v", err)
	}
	return there
}

func run(t testing.TB, db *sql.DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), fmt.Sprintf(statement, args...)); err != nil {
		t.Fatalf("make the template database: %v", err)
	}
}
