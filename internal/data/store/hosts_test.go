package store_test

import (
	"context"
	"net/url"
	"testing"
	"time"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/test/pgtest"
	"slipway/internal/test/worldtest"
)

// several returns the URL of one database through several proxies, of which a server takes that which writes.
func several(t *testing.T, database string, through ...string) string {
	t.Helper()
	u, err := url.Parse(database)
	must(t, err)
	u.Host = ""
	for _, each := range through {
		one, err := url.Parse(each)
		must(t, err)
		if u.Host != "" {
			u.Host += ","
		}
		u.Host += one.Host
	}
	query := u.Query()
	query.Set("target_session_attrs", "read-write")
	u.RawQuery = query.Encode()
	return u.String()
}

func TestServerThatWasGoodLastIsAskedFirst(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t))
	first, a := newProxy(t, w.DatabaseURL)
	second, b := newProxy(t, w.DatabaseURL)
	first.refuse(everyone)
	far := worldtest.Another(t, several(t, w.DatabaseURL, a, b))
	asked := first.accepted.Load()
	if asked == 0 {
		t.Error("the first server was not asked first")
	}
	read := func() {
		t.Helper()
		if _, err := far.Store.Client.Project.Query().All(w.Acme.As(actor.Viewer)); err != nil {
			t.Error(err)
		}
	}
	for range 3 {
		second.Cut()
		read()
	}
	if n := first.accepted.Load(); n != asked {
		t.Errorf("a server that is away was asked %d times more", n-asked)
	}
	first.refuse(0)
	second.refuse(everyone)
	read()
	if first.accepted.Load() == asked {
		t.Error("the other server was not asked")
	}
}

func TestNoServerThatWritesIsUnavailableUntilOneDoes(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t))
	first, a := newProxy(t, w.DatabaseURL)
	second, b := newProxy(t, w.DatabaseURL)
	far := worldtest.Another(t, several(t, w.DatabaseURL, a, b))
	u, err := url.Parse(w.DatabaseURL)
	must(t, err)
	alter := func(what string) {
		t.Helper()
		_, err := pgtest.Superuser(t).ExecContext(t.Context(), "ALTER DATABASE "+u.Path[1:]+what)
		must(t, err)
	}
	alter(" SET default_transaction_read_only = on")
	calls := func(within time.Duration) map[string]error {
		first.Cut()
		second.Cut()
		readBy, end := context.WithTimeout(w.Acme.As(actor.Admin), within)
		defer end()
		_, err := far.Store.Client.Project.Query().All(readBy)
		writeBy, end := context.WithTimeout(w.Acme.As(actor.Admin), within)
		defer end()
		return map[string]error{"read": err, "write": far.Store.Tx(writeBy, never, func(ctx context.Context, tx *ent.Tx) error {
			return newProject(ctx, tx, w.Acme.ID, "web")
		})}
	}
	before := first.accepted.Load()
	for name, err := range calls(5 * time.Second) {
		if !fault.Is(err, fault.ServerUnavailable) {
			t.Errorf("%s: %v, want ServerUnavailable", name, err)
		}
	}
	if n := first.accepted.Load() - before; n < 4 {
		t.Errorf("a server was asked %d times, want at least twice for each", n)
	}
	alter(" RESET default_transaction_read_only")
	for name, err := range calls(time.Minute) {
		if err != nil {
			t.Errorf("%s, when one writes again: %v", name, err)
		}
	}
}
