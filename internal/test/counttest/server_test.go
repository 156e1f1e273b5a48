package counttest_test

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/data/store"
	"slipway/internal/edge/jsonlog"
	"slipway/internal/edge/quota"
	"slipway/internal/server"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

const (
	// warmups fill what is kept between requests, and samples are those of which the median counts.
	warmups = 8
	samples = 9
)

// counted is a server whose use of its database is counted.
type counted struct {
	*worldtest.World
	rows

	statements, roundTrips, databaseBytes atomic.Int64
}

func newServer(t *testing.T, database string) *counted {
	t.Helper()
	s := &counted{}
	url := worldtest.Databases[database](t)
	w := worldtest.New(t, url, func(c *store.Config) {
		c.Trace = func(string, []any) { s.statements.Add(1) }
		if database == "postgres" {
			_, c.URL = testkit.NewProxy(t, url, s.accept)
		}
		// Every statement goes over the same connection, whose statements are prepared after the first requests.
		c.MaxConns = 1
		// Only tests have columns poisoned, and it allocates.
		c.PoisonUnread = false
	})
	at := time.Date(2030, 1, 1, 0, 0, 0, 123_000_000, time.UTC)
	s.World = w.Serving(t, func(c *server.Config) {
		// As the program is by default, but for the time, which stands still: what is kept stays, and texts of
		// times are of one length.
		c.Now = func() time.Time { return at }
		c.Log = slog.New(jsonlog.New(io.Discard, slog.LevelInfo))
		c.Bucket = quota.Bucket{Capacity: 1 << 30, PerSecond: 1 << 20}
		c.MaxRequests = 64
	})
	s.rows = s.fill(t, at)
	return s
}

// accept passes everything on between the program and PostgreSQL, and counts it, but for the notifications of other
// servers: they go out some time after the request, several of them as one, and come back to who listens at any time.
func (s *counted) accept(net.Conn) (toServer, toClient testkit.Pass) {
	// isAnswered is whether the last bytes of the connection came from PostgreSQL, and isOfFeed whether the last ones
	// from the program were a notification, or asked for those of others: both name the channel.
	var isAnswered, isOfFeed atomic.Bool
	toServer = func(to net.Conn, b []byte) bool {
		isOfFeed.Store(bytes.Contains(b, []byte("slipway_changes")))
		if !isOfFeed.Load() && isAnswered.Swap(false) {
			s.roundTrips.Add(1)
		}
		return testkit.PassAll(to, b)
	}
	toClient = func(to net.Conn, b []byte) bool {
		if !isOfFeed.Load() {
			isAnswered.Store(true)
			s.databaseBytes.Add(int64(len(b)))
		}
		return testkit.PassAll(to, b)
	}
	return toServer, toClient
}

// count sends a request many times and returns the median of each count.
func (s *counted) count(t *testing.T, r request) counts {
	t.Helper()
	// What is kept for the next use is kept for each processor, and thrown away by the garbage collector.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for range warmups {
		s.send(t, r)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var all [samples]counts
	for i := range all {
		all[i] = s.send(t, r)
	}
	median := func(of func(counts) int) int {
		var values []int
		for _, c := range all {
			values = append(values, of(c))
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	return counts{
		Statements:     median(func(c counts) int { return c.Statements }),
		RoundTrips:     median(func(c counts) int { return c.RoundTrips }),
		DatabaseBytes:  median(func(c counts) int { return c.DatabaseBytes }),
		Allocations:    median(func(c counts) int { return c.Allocations }),
		AllocatedBytes: median(func(c counts) int { return c.AllocatedBytes }),
		AnswerBytes:    median(func(c counts) int { return c.AnswerBytes }),
	}
}

// send sends a request, which must succeed, and returns what it took.
func (s *counted) send(t *testing.T, r request) counts {
	t.Helper()
	sent := httptest.NewRequestWithContext(t.Context(), r.method, r.path, strings.NewReader(r.body))
	sent.Header.Set("Authorization", "Bearer "+s.Acme.Tokens[actor.Developer])
	if r.body != "" {
		sent.Header.Set("Content-Type", "application/json")
	}
	answered := &answer{header: make(http.Header, 16), body: make([]byte, 0, 1<<20)}
	handler := s.Handler()
	s.statements.Store(0)
	s.roundTrips.Store(0)
	s.databaseBytes.Store(0)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	handler.ServeHTTP(answered, sent)
	runtime.ReadMemStats(&after)
	took := counts{
		Statements: int(s.statements.Load()), RoundTrips: int(s.roundTrips.Load()), DatabaseBytes: int(s.databaseBytes.Load()),
		Allocations: int(after.Mallocs - before.Mallocs), AllocatedBytes: int(after.TotalAlloc - before.TotalAlloc),
		AnswerBytes: len(answered.body),
	}
	text := string(answered.body)
	if answered.status != r.status || strings.Contains(text, `"errors"`) || strings.Count(text, `"cursor":`) != r.cursors {
		t.Fatalf("%s: %d with %d cursors: %.500s", r.name, answered.status, strings.Count(text, `"cursor":`), text)
	}
	if r.undo != nil {
		r.undo(t, answered.body)
	}
	return took
}

// answer keeps an answer without allocating, as a connection takes it.
type answer struct {
	header http.Header
	status int
	body   []byte
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	a.body = append(a.body, b...)
	return len(b), nil
}

// Flush implements http.Flusher.
func (a *answer) Flush() {}

// SetWriteDeadline is for http.ResponseController.
func (a *answer) SetWriteDeadline(time.Time) error { return nil }
