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
	entmigrate "slipway/ent/migrate"
	"slipway/internal/actor"
)

// rawDatabases are the connections of a world beside its store, by organization.
type rawDatabases struct {
	mu sync.Mutex
	of map[string]*sql.DB
}

func (r *rawDatabases) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, db := range r.of {
		_ = db.Close()
	}
}

// Raw returns the world's database beside the store, for what the services do not do. It reads
// everything; what it writes is the organization's. It is closed with the world.
func (w *World) Raw(t testing.TB, o *Org) *sql.DB {
	t.Helper()
	w.raw.mu.Lock()
	defer w.raw.mu.Unlock()
	if db := w.raw.of[o.ID]; db != nil {
		return db
	}
	driver, dsn := "postgres", ""
	if path, ok := strings.CutPrefix(w.DatabaseURL, "sqlite:"); ok {
		driver, dsn = "sqlite", "file:"+path+"?_pragma=busy_timeout(5000)"
	} else {
		dsn = scoped(t, w.DatabaseURL, o.ID)
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	w.raw.of[o.ID] = db
	return db
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
		return tx.LeaseSweep.Update().SetWorkedAt(worked).SetResumedAt(resumed).Exec(ctx)
	})
}

// Rows counts the rows of every table, whosever they are.
func (w *World) Rows(t testing.TB) map[string]int {
	t.Helper()
	db := w.Raw(t, w.Acme)
	rows := map[string]int{}
	for _, table := range entmigrate.Tables {
		var n int
		if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM "`+table.Name+`"`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		rows[table.Name] = n
	}
	return rows
}
