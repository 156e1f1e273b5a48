package pgconn_test

import (
	"testing"

	"github.com/lib/pq"

	"slipway/internal/data/store/pgconn"
)

func TestStatementsArePreparedOnTheServerItself(t *testing.T) {
	t.Parallel()
	// The proxy of the test, which passes bytes on, is no pooler.
	w := newWorld(t, pgconn.Cache{Capacity: 4, Detect: true, OnPooler: func() { t.Error("a pooler was found") }})
	expect(t, w, "x", "SELECT $1::text", "x")
	if n := prepared(t, w); n != 1 {
		t.Errorf("%d statements are prepared, want 1", n)
	}
}

func TestNoneIsPreparedWhereTheCacheHasNoPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, pgconn.Cache{})
	expect(t, w, "x", "SELECT $1::text", "x")
	if n := prepared(t, w); n != 0 {
		t.Errorf("%d statements are prepared, want none", n)
	}
}

func TestCacheIsTakenOutOfTheConfiguration(t *testing.T) {
	t.Parallel()
	for parameter, want := range map[string]pgconn.Cache{
		"":                            {Capacity: pgconn.DefaultCapacity, Detect: true},
		"statement_cache_capacity=0":  {},
		"statement_cache_capacity=64": {Capacity: 64},
	} {
		c, err := pq.NewConfig("host=localhost search_path=own " + parameter)
		must(t, err)
		got, err := pgconn.TakeCache(&c)
		if err != nil || got.Capacity != want.Capacity || got.Detect != want.Detect || len(c.Runtime) != 1 {
			t.Errorf("%q: %+v, %v, left are %v", parameter, got, err, c.Runtime)
		}
	}
	for _, value := range []string{"''", "x", "-1", "1000000", "1.5"} {
		c, err := pq.NewConfig("host=localhost statement_cache_capacity=" + value)
		must(t, err)
		if got, err := pgconn.TakeCache(&c); err == nil {
			t.Errorf("%s: %+v", value, got)
		}
	}
}
