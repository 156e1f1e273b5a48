package pgconn_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"slipway/internal/data/store/pgconn"
)

func TestStatementTakesOneRoundTripOnceItWasPrepared(t *testing.T) {
	t.Parallel()
	w := newWorld(t, some)
	must(t, w.PingContext(t.Context()))
	var took []int64
	run := func(q querier) {
		took = append(took, w.trips(func() {
			if got, err := values(t.Context(), q, "SELECT $1::text", "x"); err != nil || got[0] != "x" {
				t.Error(got, err)
			}
		}))
	}
	for range 4 {
		run(w)
	}
	tx, err := w.BeginTx(t.Context(), nil)
	must(t, err)
	run(tx)
	run(tx)
	took = append(took, w.trips(func() { _, err = tx.ExecContext(t.Context(), "SELECT $1::text", "x") }))
	must(t, err)
	must(t, tx.Commit())
	run(w)
	if want := []int64{1, 2, 1, 1, 1, 1, 1, 1}; !slices.Equal(took, want) {
		t.Errorf("took %d round trips, want %d", took, want)
	}
}

func TestStatementsAreBoundedOnTheServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, pgconn.Cache{Capacity: 4})
	for i := range 20 {
		expect(t, w, int64(i), fmt.Sprintf("SELECT $1::int8 + %d", i), 0)
	}
	if n := prepared(t, w); n != 4 {
		t.Errorf("the session has %d statements prepared, want 4", n)
	}
	for range 3 {
		expect(t, w, int64(19), "SELECT $1::int8 + 19", 0)
	}
	// More texts than it keeps, by turns: none is worth preparing.
	byTurns := func() {
		for i := range 5 {
			if got, err := values(t.Context(), w, fmt.Sprintf("SELECT $1::int8 * %d", i), 1); err != nil || got[0] != int64(i) {
				t.Error(got, err)
			}
		}
	}
	byTurns()
	if n := w.trips(func() { byTurns(); byTurns() }); n != 10 {
		t.Errorf("10 statements by turns took %d round trips", n)
	}
}

// change is what a migration may do to a table, or an administrator to a session, under a statement.
type change struct {
	name, before, statement string
	args                    []any
	// change is what another session does, and own what is done in this one.
	change, own string
	want        []any
}

var changes = []change{
	{
		name: "another column", before: "CREATE TABLE t AS SELECT 1::int8 AS id", statement: "SELECT * FROM t WHERE id = $1", args: []any{1},
		change: "ALTER TABLE t ADD COLUMN more text DEFAULT 'x'", want: []any{int64(1), "x"},
	},
	{
		name: "a column less", before: "CREATE TABLE t AS SELECT 1::int8 AS id, 2::int8 AS less", statement: "SELECT * FROM t WHERE id = $1", args: []any{1},
		change: "ALTER TABLE t DROP COLUMN less", want: []any{int64(1)},
	},
	{
		name: "the type of what is read", before: "CREATE TABLE t AS SELECT 1::int8 AS id, 2::int4 AS n", statement: "SELECT n FROM t WHERE id = $1", args: []any{1},
		change: "ALTER TABLE t ALTER COLUMN n TYPE text", want: []any{"2"},
	},
	{
		name: "the type of what is asked for", before: "CREATE TABLE t AS SELECT 1::int8 AS id", statement: "SELECT 'x' FROM t WHERE id = $1", args: []any{"1"},
		change: "ALTER TABLE t ALTER COLUMN id TYPE text", want: []any{"x"},
	},
	{
		name: "another table of the name", before: "CREATE TABLE t AS SELECT 1::int8 AS id", statement: "SELECT * FROM t WHERE id = $1", args: []any{2},
		change: "DROP TABLE t; CREATE TABLE t AS SELECT 'y' AS no, 2::int8 AS id", want: []any{"y", int64(2)},
	},
	{
		name: "a session that was discarded", before: "CREATE TABLE t AS SELECT 1::int8 AS id", statement: "SELECT * FROM t WHERE id = $1", args: []any{1},
		own: "DISCARD ALL", want: []any{int64(1)},
	},
	{
		name: "statements that were deallocated", before: "CREATE TABLE t AS SELECT 1::int8 AS id", statement: "SELECT * FROM t WHERE id = $1", args: []any{1},
		own: "DEALLOCATE ALL", want: []any{int64(1)},
	},
}

func TestStatementIsRunAnewAfterAChange(t *testing.T) {
	t.Parallel()
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, some)
			w.other(t, c.before)
			for range 3 {
				_, err := values(t.Context(), w, c.statement, c.args...)
				must(t, err)
			}
			if prepared(t, w) != 1 {
				t.Fatal("the statement is not prepared")
			}
			c.apply(t, w)
			for range 3 {
				got, err := values(t.Context(), w, c.statement, c.args...)
				if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
					t.Errorf("%v %s", err, diff)
				}
			}
			c.expectLeft(t, w)
		})
	}
}

// expectLeft expects that the server has no statement any more that was prepared before the change.
func (c change) expectLeft(t *testing.T, w *world) {
	t.Helper()
	want := int64(1)
	if c.own != "" {
		want = 0 // none is prepared in a session that somebody else uses
	}
	if n := prepared(t, w); n != want {
		t.Errorf("%d statements are prepared, want %d", n, want)
	}
}

func TestTransactionIsStaleAfterAChangeAndRightWhenItIsRunAgain(t *testing.T) {
	t.Parallel()
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, some)
			w.other(t, c.before)
			for range 3 {
				_, err := values(t.Context(), w, c.statement, c.args...)
				must(t, err)
			}
			c.apply(t, w)
			for run := range 4 {
				tx, err := w.BeginTx(t.Context(), nil)
				must(t, err)
				got, err := values(t.Context(), tx, c.statement, c.args...)
				if run == 0 {
					if !errors.Is(err, pgconn.ErrStale) {
						t.Errorf("%v, %v, want ErrStale", got, err)
					}
					must(t, tx.Rollback())
					continue
				}
				if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
					t.Errorf("%v %s", err, diff)
				}
				must(t, tx.Commit())
			}
			c.expectLeft(t, w)
		})
	}
}

func (c change) apply(t *testing.T, w *world) {
	t.Helper()
	if c.change != "" {
		w.other(t, c.change)
	}
	if c.own != "" {
		_, err := w.ExecContext(t.Context(), c.own)
		must(t, err)
	}
}

func TestStatementThatCannotBePreparedIsNotKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, some)
	for range 3 {
		if _, err := values(t.Context(), w, "SELECT id FROM later WHERE id = $1", 1); pq.As(err, pqerror.UndefinedTable) == nil {
			t.Errorf("%v", err)
		}
	}
	tx, err := w.BeginTx(t.Context(), nil)
	must(t, err)
	for range 3 { // in a transaction that has failed nothing can be prepared
		_, err = values(t.Context(), tx, "SELECT 1 / $1::int8", 0)
	}
	if pq.As(err, pqerror.InFailedSQLTransaction) == nil || errors.Is(err, pgconn.ErrStale) {
		t.Error(err)
	}
	must(t, tx.Rollback())
	if n := prepared(t, w); n != 0 {
		t.Errorf("%d statements are prepared", n)
	}
	w.other(t, "CREATE TABLE later AS SELECT 1::int8 AS id")
	expect(t, w, int64(1), "SELECT id FROM later WHERE id = $1", 1)
	expect(t, w, int64(1), "SELECT 1 / $1::int8", 1)
}

func TestStatementThatFailsByItselfIsSentOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, some)
	expect(t, w, int64(1), "SELECT 1 / $1::int8", 1)
	n := w.trips(func() {
		if _, err := values(t.Context(), w, "SELECT 1 / $1::int8", 0); pq.As(err, pqerror.DivisionByZero) == nil {
			t.Error(err)
		}
	})
	if n != 1 {
		t.Errorf("it took %d round trips", n)
	}
	expect(t, w, int64(1), "SELECT 1 / $1::int8", 1)
}

func TestStatementsGoWithTheirConnection(t *testing.T) {
	t.Parallel()
	w := newWorld(t, some)
	expect(t, w, "x", "SELECT $1::text", "x")
	w.proxy.Cut()
	for range 10 { // database/sql asks for another connection by itself
		if _, err := values(t.Context(), w, "SELECT $1::text", "x"); err == nil {
			break
		}
	}
	expect(t, w, "x", "SELECT $1::text", "x")
	if n := prepared(t, w); n != 1 {
		t.Errorf("%d statements are prepared", n)
	}
}

func TestValuesAreTheSameWhetherPreparedOrNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t, some)
	const statement = `SELECT $1::int2, $2::int4, $3::int8, $4::bool, $5::text, $6::bytea, $7::json, $8::jsonb, $9::timestamptz,
		$10::float8, $11::text[], $12::uuid, $13::numeric, $14::bytea, $15::bytea, $16::text, $17::varchar(10), $18::text = ANY($19)`
	at := time.Date(2026, 3, 4, 5, 6, 7, 891_000, time.UTC)
	args := []any{
		1, -2, int64(1) << 40, true, "tëxt\\'", []byte{0, 1, 0xFF}, `{"b": 1,"a":2}`, `{"b": 1, "a": 2}`, at,
		1.5, pq.Array([]string{"a", `b"\`}), "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "1.20", []byte{}, nil, nil, "short", "b", pq.Array([]string{"a", "b"}),
	}
	first, err := values(t.Context(), w, statement, args...)
	must(t, err)
	for range 3 {
		got, err := values(t.Context(), w, statement, args...)
		must(t, err)
		if diff := cmp.Diff(first, got); diff != "" {
			t.Error(diff)
		}
	}
	if prepared(t, w) != 1 {
		t.Error("the statement is not prepared")
	}
	want := []any{int64(1), int64(-2), int64(1) << 40, true, "tëxt\\'", []byte{0, 1, 0xFF}}
	if diff := cmp.Diff(want, first[:6]); diff != "" {
		t.Error(diff)
	}
	if empty, ok := first[13].([]byte); !ok || empty == nil || len(empty) != 0 || first[14] != nil || first[17] != true {
		t.Errorf("%#v", first[13:])
	}
}

func TestConnectionsOfAPoolPrepareEachForItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t, pgconn.Cache{Capacity: 8})
	w.SetMaxOpenConns(4)
	w.SetMaxIdleConns(4)
	w.other(t, "CREATE TABLE t AS SELECT i::int8 AS id FROM generate_series(0, 19) i")
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for i := range 200 {
				id := int64((i + n) % 20)
				got, err := values(context.Background(), w, fmt.Sprintf("SELECT id + %d FROM t WHERE id = $1", i%12), id)
				if err != nil || got[0] != id+int64(i%12) {
					t.Error(got, err)
					return
				}
				if i == 100 && n == 0 {
					w.other(t, "ALTER TABLE t ALTER COLUMN id TYPE numeric; ALTER TABLE t ALTER COLUMN id TYPE int8")
				}
			}
		})
	}
	all.Wait()
}
