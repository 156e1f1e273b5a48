// Package pgtest makes PostgreSQL databases for tests, each test its own, in the cluster that SLIPWAY_TEST_POSTGRES
// names. The program cmd/withpg starts such a cluster for the time of a command.
package pgtest

import (
	"crypto/rand"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// Env names the environment variable with the URL of a cluster for tests, as a superuser.
const Env = "SLIPWAY_TEST_POSTGRES"

// role owns the databases of tests. Row-level security applies to it as to the server's own role: it is neither
// superuser nor has BYPASSRLS. The password is for clusters that ask for one.
const role = "slipway_test"

// URL makes an empty database and returns its URL, with an owner that is no superuser. The database is dropped when the
// test ends. If no cluster is named the test is skipped.
func URL(t testing.TB) string {
	t.Helper()
	return create(t, Superuser(t), "template1")
}

// superuser is shared by all tests of a process: to connect costs PostgreSQL more than what most tests ask it.
var superuser = sync.OnceValues(func() (*sql.DB, error) { return sql.Open("postgres", os.Getenv(Env)) })

// Superuser returns a connection to the cluster's own database as a superuser, which stays open. If no cluster is named
// the test is skipped.
func Superuser(t testing.TB) *sql.DB {
	t.Helper()
	if os.Getenv(Env) == "" {
		t.Skipf("%s is not set: run the tests by go run ./internal/test/pgtest/cmd/withpg -- go test ./...", Env)
	}
	db, err := superuser()
	if err != nil {
		t.Fatalf("%s: %v", Env, err)
	}
	ensureRole(t, db)
	return db
}

func create(t testing.TB, db *sql.DB, template string) string {
	t.Helper()
	name := role + "_" + strings.ToLower(rand.Text())
	var version int

	err := db.QueryRowContext(t.Context(), "SELECT current_setting('server_version_num')").Scan(&version)
	if err == nil {
		strategy := ""
		if version >= 150000 {
			strategy = "STRATEGY file_copy" // a fifth of the time of the other one, which older servers do not have
		}
		_, err = db.ExecContext(t.Context(), fmt.Sprintf("CREATE DATABASE %s TEMPLATE %s OWNER %s %s",
			pq.QuoteIdentifier(name), pq.QuoteIdentifier(template), role, strategy))
	}

	if err != nil {
		t.Fatalf("create a database for the test: %v", err)
	}

	t.Cleanup(func() {
		checkDeadlocks(t, db, name)
		if _, err := db.Exec("DROP DATABASE " + pq.QuoteIdentifier(name) + " WITH (FORCE)"); err != nil {
			t.Errorf("drop the test's database: %v", err)
		}
	})

	return locate(t, name)
}

// checkDeadlocks wants no transactions of a database to have waited for each other. A connection tells what it has
// counted when it ends at the latest.
func checkDeadlocks(t testing.TB, db *sql.DB, name string) {
	t.Helper()
	const end = "SELECT COUNT(pg_terminate_backend(pid, 1000)) FROM pg_stat_activity WHERE datname = $1"
	var ended, deadlocks int
	err := db.QueryRow(end, name).Scan(&ended)
	if err == nil {
		err = db.QueryRow("SELECT deadlocks FROM pg_stat_database WHERE datname = $1", name).Scan(&deadlocks)
	}
	if err != nil || deadlocks > 0 {
		t.Errorf("%d deadlocks in the test's database: %v", deadlocks, err)
	}
}

// locate returns the URL of a database in the cluster, as the role that owns it.
func locate(t testing.TB, database string) string {
	t.Helper()
	u, err := url.Parse(os.Getenv(Env))
	if err != nil {
		t.Fatalf("%s is no URL such as postgres://user@host:port/database: %v", Env, err)
	}
	u.User = url.UserPassword(role, role)
	u.Path = "/" + database
	query := u.Query()
	query.Set("sslmode", "disable")
	u.RawQuery = query.Encode()
	return u.String()
}

// ensureRole creates the role if it does not exist. Another process may create it at the same time.
func ensureRole(t testing.TB, db *sql.DB) {
	t.Helper()
	var there bool
	err := db.QueryRowContext(t.Context(), "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)", role).Scan(&there)
	if err != nil {
		t.Fatalf("%s: %v", Env, err)
	}
	if there {
		return
	}
	// A deadlock is found before the statement's time is over, and so is counted.
	_, err = db.ExecContext(t.Context(), fmt.Sprintf(
		"CREATE ROLE %s LOGIN NOSUPERUSER NOBYPASSRLS PASSWORD '%s'; ALTER ROLE %[1]s SET deadlock_timeout = '50ms'", role,
		role))
	if err != nil && pq.As(err, pqerror.DuplicateObject, pqerror.UniqueViolation) == nil {
		t.Fatalf("create the role %s: %v", role, err)
	}
}
