package pgconn_test

import (
	"context"
	"database/sql"
	"slices"
	"testing"
	"time"

	"github.com/lib/pq"

	"slipway/internal/data/store/pgconn"
	"slipway/internal/test/pgtest"
)

// pools returns pools to one database: as lib/pq is by itself, without statements that are kept, and with.
func pools(b *testing.B) map[string]*sql.DB {
	b.Helper()
	url := pgtest.URL(b)
	config, err := pq.NewConfig(url)
	must(b, err)
	config.BinaryParameters = true
	plain, err := pq.NewConnectorConfig(config)
	must(b, err)
	all := map[string]*sql.DB{
		"lib-pq": sql.OpenDB(plain), "unwatched": open(b, url, pgconn.Cache{}), "prepared": open(b, url, pgconn.Cache{Capacity: 256}),
	}
	b.Cleanup(func() { _ = all["lib-pq"].Close() })
	_, err = all["lib-pq"].ExecContext(b.Context(), `CREATE TABLE t AS SELECT i::text AS id, 'acme' AS organization_id, 'p' || i AS project_id, 'e' || i % 50 AS environment_id,
		'SUCCEEDED' AS status, 'ROLLBACK' AS kind, now() AS created_at, now() AS updated_at, NULL::timestamptz AS started_at, 1::int8 AS version,
		'{"a": 1}'::json AS data, 'n' || i AS name FROM generate_series(1, 10000) i; ALTER TABLE t ADD PRIMARY KEY (id); ANALYZE t`)
	must(b, err)
	return all
}

const readByID = `SELECT id, organization_id, project_id, environment_id, status, kind, created_at, updated_at, started_at, version, data, name
	FROM t WHERE id = $1 AND organization_id = $2 LIMIT 2`

// inTurn runs functions in turn, so that what else the machine does meets all of them, and reports how long the median
// run of each took, and how many times as long as the last one's.
func inTurn(b *testing.B, names []string, run func(name string) error) {
	b.Helper()
	took := map[string][]time.Duration{}
	for b.Loop() {
		for _, name := range names {
			begin := time.Now()
			if err := run(name); err != nil {
				b.Fatal(err)
			}
			took[name] = append(took[name], time.Since(begin))
		}
	}
	median := func(name string) float64 {
		slices.Sort(took[name])
		return float64(took[name][len(took[name])/2].Microseconds())
	}
	last := median(names[len(names)-1])
	for _, name := range names {
		b.ReportMetric(median(name), name+"-µs")
		b.ReportMetric(median(name)/last, name+"-x")
		b.ReportMetric(testing.AllocsPerRun(100, func() { _ = run(name) }), name+"-allocs")
	}
}

func BenchmarkReadByID(b *testing.B) {
	all := pools(b)
	watched, cancel := context.WithCancel(b.Context())
	defer cancel()
	inTurn(b, []string{"lib-pq", "unwatched", "prepared"}, func(name string) error {
		ctx := watched
		if name != "lib-pq" {
			ctx = pgconn.Unwatched(ctx)
		}
		_, err := values(ctx, all[name], readByID, "77", "acme")
		return err
	})
}

// BenchmarkTransaction begins a transaction with a setting, reads four times in it and commits.
func BenchmarkTransaction(b *testing.B) {
	all := pools(b)
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	run := map[string]func(context.Context, *sql.DB) error{"lib-pq": asLibPQ, "prepared": asPrepared}
	inTurn(b, []string{"lib-pq", "prepared"}, func(name string) error { return run[name](ctx, all[name]) })
}

func asLibPQ(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if _, err := values(ctx, tx, "SELECT set_config('app.org_id', $1, true), clock_timestamp()", "acme"); err != nil {
		return err
	}
	for range 4 {
		if _, err := values(ctx, tx, readByID, "77", "acme"); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func asPrepared(ctx context.Context, db *sql.DB) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	under := func(f func(*pgconn.Conn) error) error {
		return conn.Raw(func(c any) error { return f(c.(*pgconn.Conn)) })
	}
	ctx = pgconn.Unwatched(ctx)
	err = under(func(c *pgconn.Conn) error {
		return c.BeginWith(ctx, false, "SELECT clock_timestamp(), set_config('app.org_id', $1, true)", "acme")
	})
	if err != nil {
		return err
	}
	for left := 3; left >= 0; left-- {
		if left == 0 {
			_ = under(func(c *pgconn.Conn) error {
				c.CommitWith()
				return nil
			})
		}
		if _, err := values(ctx, conn, readByID, "77", "acme"); err != nil {
			return err
		}
	}
	return under((*pgconn.Conn).Commit)
}
