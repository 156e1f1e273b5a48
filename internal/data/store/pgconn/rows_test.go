package pgconn_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestBytesOfOneAnswerOutliveTheNext(t *testing.T) {
	t.Parallel()
	w := newWorld(t, some)
	const statement = "SELECT convert_to(repeat($1, 20), 'UTF8'), i FROM generate_series(1, $2) i"
	var kept [][]byte
	for i := range 6 {
		rows, err := w.QueryContext(t.Context(), statement, string(rune('a'+i)), 50)
		must(t, err)
		for rows.Next() {
			var b []byte
			var n int
			must(t, rows.Scan(&b, &n))
			kept = append(kept, b)
		}
		must(t, rows.Err())
		must(t, rows.Close())
	}
	for i, b := range kept {
		if want := bytes.Repeat([]byte{byte('a' + i/50)}, 20); !bytes.Equal(b, want) {
			t.Fatalf("row %d of answer %d is %q now, want %q", i%50, i/50, b, want)
		}
	}
	if len(kept) != 300 {
		t.Errorf("%d rows", len(kept))
	}
}

func TestAnswersOfOneTransactionMayBeReadByTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, some)
	for range 3 {
		tx, err := w.BeginTx(t.Context(), nil)
		must(t, err)
		outer, err := tx.QueryContext(t.Context(), "SELECT i, convert_to('outer' || i, 'UTF8') FROM generate_series(1, $1) i", 20)
		must(t, err)
		n := 0
		for outer.Next() {
			n++
			var i int
			var text []byte
			must(t, outer.Scan(&i, &text))
			got, err := values(t.Context(), tx, "SELECT convert_to('inner' || $1::int8, 'UTF8')", i)
			if inner, ok := got[0].([]byte); err != nil || !ok || string(inner) != fmt.Sprint("inner", n) || string(text) != fmt.Sprint("outer", n) {
				t.Fatalf("row %d: %q %q, %v", n, text, got, err)
			}
		}
		must(t, outer.Err())
		must(t, outer.Close())
		must(t, tx.Commit())
	}
}

func TestStatementIsRefusedWhileALargeAnswerIsRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, some)
	const large = "SELECT i, repeat('x', $1) FROM generate_series(1, 200) i"
	for range 3 {
		tx, err := w.BeginTx(t.Context(), nil)
		must(t, err)
		rows, err := tx.QueryContext(t.Context(), large, 1000)
		must(t, err)
		if got, err := values(t.Context(), tx, "SELECT $1::text", "x"); err == nil {
			t.Errorf("%v was read among the rows of another statement", got)
		}
		n := 0
		for rows.Next() {
			n++
			var i int
			var text string
			must(t, rows.Scan(&i, &text))
			if i != n || len(text) != 1000 {
				t.Fatalf("row %d is %d with %d characters", n, i, len(text))
			}
		}
		must(t, rows.Err())
		must(t, rows.Close())
		if n != 200 {
			t.Errorf("%d rows", n)
		}
		if got, err := values(t.Context(), tx, "SELECT $1::text", "x"); err != nil || got[0] != "x" {
			t.Error(got, err)
		}
		must(t, tx.Commit())
	}
}

//nolint:paralleltest // it counts the memory of the process, so nothing may run beside it
func TestRowsThatNobodyReadsAreNotHeld(t *testing.T) {
	w := newWorld(t, some)
	closed := func(of func() error) int {
		before, after := new(runtime.MemStats), new(runtime.MemStats)
		runtime.ReadMemStats(before)
		must(t, of())
		runtime.ReadMemStats(after)
		return int(after.TotalAlloc - before.TotalAlloc)
	}
	for range 3 {
		tx, err := w.BeginTx(t.Context(), nil)
		must(t, err)
		rows, err := tx.QueryContext(t.Context(), "SELECT repeat('x', $1), i FROM generate_series(1, 50) i", 1_000_000)
		must(t, err)
		if !rows.Next() {
			t.Fatal(rows.Err())
		}
		if took, most := closed(rows.Close), 500_000; took > most {
			t.Errorf("closing took %d bytes for 49 rows of 1 MB, at most %d", took, most)
		}
		if got, err := values(t.Context(), tx, "SELECT $1::text", "x"); err != nil || got[0] != "x" {
			t.Error(got, err)
		}
		must(t, tx.Commit())
	}
}

// lib/pq has read such an answer to its end, so that nothing more arrives.
func TestAnAnswerWithoutColumnsIsClosedWithoutWaiting(t *testing.T) {
	t.Parallel()
	w := newWorld(t, some)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // only if it waits
	defer cancel()
	for range 3 {
		rows, err := w.QueryContext(ctx, "SET application_name = 'none'")
		must(t, err)
		must(t, rows.Close())
		must(t, rows.Err())
	}
	if got, err := values(ctx, w, "SELECT $1::text", "x"); err != nil || got[0] != "x" {
		t.Error(got, err)
	}
}

func TestWhatFailsAmongRowsThatNobodyReadsIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, some)
	for range 3 {
		rows, err := w.QueryContext(t.Context(), "SELECT repeat('x', $1), 1 / (200 - i) FROM generate_series(1, 300) i", 10_000)
		must(t, err)
		if !rows.Next() {
			t.Fatal(rows.Err())
		}
		if err := rows.Close(); err == nil || !strings.Contains(err.Error(), "division by zero") {
			t.Errorf("closing returns %v", err)
		}
		if got, err := values(t.Context(), w, "SELECT $1::text", "x"); err != nil || got[0] != "x" {
			t.Error(got, err)
		}
	}
}

//nolint:paralleltest // it counts the allocations of the process, so nothing may run beside it
func TestReadByIDAllocatesLittle(t *testing.T) {
	w := newWorld(t, some)
	w.other(t, "CREATE TABLE t AS SELECT i::text AS id, 'name' || i AS name, now() AS at, ('{\"n\": ' || i || '}')::jsonb AS data FROM generate_series(1, 100) i")
	read := func() {
		rows, err := w.QueryContext(t.Context(), "SELECT id, name, data FROM t WHERE id = $1", "7")
		must(t, err)
		var id, name string
		var data []byte
		for rows.Next() {
			must(t, rows.Scan(&id, &name, &data))
		}
		must(t, rows.Err())
		must(t, rows.Close())
		if id != "7" || name != "name7" || string(data) != `{"n": 7}` {
			t.Fatal(id, name, string(data))
		}
	}
	for range 3 {
		read()
	}
	const most = 30 // half of them database/sql's
	if n := testing.AllocsPerRun(200, read); n > most {
		t.Errorf("%.0f allocations, at most %d", n, most)
	}
}
