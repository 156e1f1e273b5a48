package worldtest

import (
	"context"
	"database/sql"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"slipway/ent"
	"slipway/ent/chore"
	entmigrate "slipway/ent/migrate"
	"slipway/internal/base/actor"
	"slipway/internal/base/id"
	"slipway/internal/data/journal"
	"slipway/internal/service/deployment"
	"slipway/internal/service/retention"
)

// rawDatabases are the databases beside a world's store that a test has asked for, by their names for the driver. Those
// of PostgreSQL keep connections, because a new one costs it much; those of SQLite keep no file open that a test may
// replace.
type rawDatabases struct {
	mu sync.Mutex
	of map[string]*sql.DB // nil when the world has ended
}

func (r *rawDatabases) open(t testing.TB, driver, dsn string) *sql.DB {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()

	if db := r.of[dsn]; db != nil {
		return db
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	if driver == "sqlite" {
		db.SetMaxIdleConns(-1)
	}

	if r.of == nil {
		t.Cleanup(func() { _ = db.Close() }) // what is looked into at last
	} else {
		r.of[dsn] = db
	}

	return db
}

func (r *rawDatabases) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, db := range r.of {
		_ = db.Close()
	}
	r.of = nil
}

// Raw returns the world's database beside the store, for what the services do not do. It reads
// everything; what it writes is the organization's. It is closed with the world.
func (w *World) Raw(t testing.TB, o *Org) *sql.DB {
	t.Helper()
	if path, ok := strings.CutPrefix(w.DatabaseURL, "sqlite:"); ok {
		return w.raw.open(t, "sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
	}
	return w.raw.open(t, "postgres", scoped(t, w.DatabaseURL, o.ID))
}

// scoped returns the URL of a PostgreSQL database for sessions that read everything and write the
// organization's rows.
func scoped(t testing.TB, databaseURL, organizationID string) string {
	t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Set("options", "-c app.isolation=filter -c app.org_id="+organizationID)
	u.RawQuery = query.Encode()
	return u.String()
}

// NoteSweep has the sweep of leases have worked last at a time, and without a pause since another: no lease is spared
// then because the servers were away.
func (w *World) NoteSweep(worked, resumed time.Time) error {
	ctx := actor.With(context.Background(), &actor.Actor{Name: "test", Role: actor.System})
	again := func(context.Context, *ent.Client) (bool, error) { return false, nil }
	return w.Store.Tx(ctx, again, func(ctx context.Context, tx *ent.Tx) error {
		return tx.Chore.Update().Where(chore.ID("leases")).SetWorkedAt(worked).SetResumedAt(resumed).Exec(ctx)
	})
}

// RetentionAt returns what removes old rows, as if it was always the given time.
func (w *World) RetentionAt(at time.Time) *retention.Service {
	r := *w.Retention
	r.Journal = journal.NewAlone(w.Store, func() time.Time { return at }, id.New)
	r.Deploy = w.Deploy.With(func(d *deployment.Deps) { d.Journal = r.Journal })
	return &r
}

// DeployBy returns the services of deployments as they go by a clock. Who follows them hears nothing of what they
// change.
func (w *World) DeployBy(now func() time.Time) *deployment.Services {
	return w.Deploy.With(func(d *deployment.Deps) { d.Journal = journal.NewAlone(w.Store, now, id.New) })
}

// Rows counts the rows of every table, whosever they are, by one statement: SQLite opens the file for each.
func (w *World) Rows(t testing.TB) map[string]int {
	t.Helper()
	counted, err := w.Raw(t, w.Acme).QueryContext(t.Context(), countRows())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = counted.Close() }()

	rows := map[string]int{}
	for counted.Next() {
		var table string
		var n int
		if err := counted.Scan(&table, &n); err != nil {
			t.Fatal(err)
		}
		rows[table] = n
	}

	if err := counted.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

var countRows = sync.OnceValue(func() string {
	counts := make([]string, len(entmigrate.Tables))
	for i, table := range entmigrate.Tables {
		counts[i] = `SELECT '` + table.Name + `', count(*) FROM "` + table.Name + `"`
	}
	return strings.Join(counts, " UNION ALL ")
})
