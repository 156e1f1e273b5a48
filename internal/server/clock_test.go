package server_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"slipway/internal/server"
)

// clocks are those of a server and of its database, which takes its time to answer.
type clocks struct {
	ahead, takes time.Duration
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func (c *clocks) offset() server.Offset {
	at := noon
	return server.Offset{
		Now: func() time.Time { return at.Add(c.ahead) },
		Database: func(context.Context) (time.Time, error) {
			said := at.Add(c.takes / 2)
			at = at.Add(c.takes)
			return said, nil
		},
	}
}

func TestTheOffsetOfTheClockIsToldAndKeepsAServerFromBeingReady(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ahead  time.Duration
		status int
		text   string
	}{
		{0, 200, "ok"},
		{30 * time.Second, 200, "ok"},
		{-30 * time.Second, 200, "ok"},
		{30*time.Second + time.Millisecond, 503, "the server's clock differs from the database's: it is 30.001s ahead of it, and not ready over 30s"},
		{-time.Hour, 503, "the server's clock differs from the database's: it is 1h0m0s behind it, and not ready over 30s"},
	} {
		o := (&clocks{ahead: c.ahead, takes: time.Second}).offset()
		health := &server.Health{Ping: func(context.Context) error { return nil }, Offset: o.Measure}
		answered := httptest.NewRecorder()
		health.Handler().ServeHTTP(answered, httptest.NewRequestWithContext(t.Context(), "GET", "/readyz", nil))
		if text := strings.TrimSpace(answered.Body.String()); answered.Code != c.status || text != c.text {
			t.Errorf("%s ahead: %d %s", c.ahead, answered.Code, text)
		}
	}
}

func TestAnOffsetOverTwoSecondsIsLogged(t *testing.T) {
	t.Parallel()
	for ahead, want := range map[time.Duration]bool{
		2 * time.Second: false, -2 * time.Second: false, 2*time.Second + time.Millisecond: true, -time.Minute: true,
	} {
		var log bytes.Buffer
		ctx, stop := context.WithCancel(t.Context())
		o := (&clocks{ahead: ahead}).offset()
		ask := o.Database
		o.Database = func(ctx context.Context) (time.Time, error) {
			defer stop()
			return ask(ctx)
		}
		o.Watch(ctx, slog.New(slog.NewTextHandler(&log, nil)))
		if got := strings.Contains(log.String(), "level=WARN") && strings.Contains(log.String(), "the server's clock differs"); got != want {
			t.Errorf("%s ahead: %q", ahead, log.String())
		}
	}
}

func TestADatabaseWithoutAClockMakesNoOffset(t *testing.T) {
	t.Parallel()
	o := server.Offset{Now: time.Now, Database: func(context.Context) (time.Time, error) { return time.Time{}, nil }}
	if offset, err := o.Measure(t.Context()); offset != 0 || err != nil {
		t.Errorf("%s, %v", offset, err)
	}
}
