package store_test

import (
	"errors"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/store"
	"slipway/internal/data/store/migrate"
	"slipway/internal/test/pgtest"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// settings are those that a server sends, as PostgreSQL shows them, in the filter isolation.
var settings = map[string]string{
	"app.isolation": "filter", "idle_in_transaction_session_timeout": "5s", "jit": "off", "random_page_cost": "1", "statement_timeout": "1s",
}

func TestADatabaseWhosePoolerDropsSettingsIsNotOpened(t *testing.T) {
	t.Parallel()
	url := worldtest.Postgres(t)
	p, through := testkit.NewForgetful(t, url)
	p.Drops.Store(true)
	_, err := store.Open(t.Context(), store.Config{URL: through})
	lacking, ok := errors.AsType[*store.SettingsError](err)
	if !ok {
		t.Fatalf("%v, want a SettingsError", err)
	}
	if len(lacking.Want) != len(settings) {
		t.Errorf("lacks %v, want all of %v", lacking.Want, settings)
	}
	for _, s := range lacking.Want {
		statement := `ALTER ROLE "` + lacking.Role + `" SET ` + s.Name + ` = '` + s.Value + `';`
		if settings[s.Name] != s.Value || !strings.Contains(err.Error(), statement) {
			t.Errorf("%s = %s, want %q and %q in: %v", s.Name, s.Value, settings[s.Name], statement, err)
		}
	}
	if !strings.Contains(err.Error(), "let the pooler reconnect") {
		t.Error(err)
	}

	superuser := pgtest.Superuser(t)
	for _, s := range lacking.Want {
		if _, err := superuser.ExecContext(t.Context(), `ALTER DATABASE "`+nameOf(url)+`" SET `+s.Name+` = '`+s.Value+`'`); err != nil {
			t.Fatal(err)
		}
	}
	s, err := store.Open(t.Context(), store.Config{URL: through})
	if err != nil {
		t.Fatalf("with the settings in the database: %v", err)
	}
	must(t, s.Close())
}

// nameOf returns the name of the database of a URL.
func nameOf(url string) string {
	name, _, _ := strings.Cut(url[strings.LastIndex(url, "/")+1:], "?")
	return name
}

func TestEachSettingThatIsSentIsReadBack(t *testing.T) {
	t.Parallel()
	p, through := testkit.NewForgetful(t, worldtest.Postgres(t))
	for _, sent := range []string{
		"&options=-c%20work_mem%3D7MB", "&options=--work-mem%3D7MB", "&work_mem=7168", "&options=-cwork_mem%3D7MB%20-c%20search_path%3Dpublic,%5C%20x",
	} {
		p.Drops.Store(false)
		s, err := store.Open(t.Context(), store.Config{URL: through + sent})
		if err != nil {
			t.Errorf("%s: %v", sent, err)
			continue
		}
		must(t, s.Close())
		p.Drops.Store(strings.Contains(sent, "options"))
		_, err = store.Open(t.Context(), store.Config{URL: through + sent})
		if want := `SET work_mem = '7MB';`; p.Drops.Load() && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s dropped: %v, want %q", sent, err, want)
		}
	}
}

func isUnavailable(err error) bool {
	f, ok := errors.AsType[*fault.Error](err)
	return ok && f.Code == fault.ServerUnavailable
}

func TestAServerClosesConnectionsWithoutItsSettingsAndIsUnfitMeanwhile(t *testing.T) {
	t.Parallel()
	url := worldtest.Postgres(t)
	p, through := testkit.NewForgetful(t, url)
	w := worldtest.New(t, url)
	far := worldtest.Another(t, through, oneConnection)
	ctx := w.Acme.As(actor.Viewer)
	withProjects(t, w, 3, 10)
	expect := func(n int, unfit bool) {
		t.Helper()
		found, err := far.Store.Client.Project.Query().Count(ctx)
		if found != n || isUnavailable(err) != unfit || !unfit && err != nil {
			t.Errorf("%d projects, %v", found, err)
		}
		why := far.Store.CheckFit(t.Context())
		if _, ok := errors.AsType[*store.SettingsError](why); ok != unfit || !unfit && why != nil {
			t.Errorf("fit: %v", why)
		}
	}
	expect(3, false)
	p.Drops.Store(true)
	p.Cut()
	expect(0, true)
	expect(0, true)
	p.Drops.Store(false)
	if err := far.Store.CheckFit(t.Context()); err != nil {
		t.Errorf("with the settings again: %v", err)
	}
	expect(3, false)
}

func TestAReadInASessionWithoutSettingsIsAnErrorAndNoEmptyList(t *testing.T) {
	t.Parallel()
	for name, isolation := range isolations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Postgres(t))
			withProjects(t, w, 3, 10)
			far := worldtest.Another(t, w.DatabaseURL, func(c *store.Config) { c.Isolation, c.MaxConns = isolation, 1 })
			ctx := w.Acme.As(actor.Admin)
			count := func() (int, error) { return far.Store.Client.Project.Query().Count(ctx) }
			if n, err := count(); n != 3 || err != nil {
				t.Fatal(n, err)
			}
			// As if the next statement met another session than the one that was asked.
			for _, unset := range []string{"SET app.isolation = ''; SET statement_timeout = 0", "SET app.isolation = 'other'; SET idle_in_transaction_session_timeout = 0"} {
				must(t, far.Store.InSession(t.Context(), unset))
				n, err := count()
				if isolation == store.Strict && (n != 3 || err != nil) || isolation == store.Filter && (n != 0 || !isUnavailable(err)) {
					t.Errorf("after %s: %d, %v", unset, n, err)
				}
				if n, err := count(); n != 3 || err != nil {
					t.Errorf("the connection was kept: %d, %v", n, err)
				}

				must(t, far.Store.InSession(t.Context(), unset))
				if got := alone(ctx, far.Store, "SELECT concat_ws(' ', current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout'), count(*)) FROM projects"); got != "1s 5s 3" {
					t.Errorf("a transaction after %s has %q, want its limits of time and its rows", unset, got)
				}
			}
		})
	}
}

func TestMigrationsThroughAPoolerThatDropsSettingsAreRefused(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	p, through := testkit.NewForgetful(t, url)
	p.Drops.Store(true)
	n, err := migrate.Up(t.Context(), through)
	for _, want := range []string{"--database-direct", "SET lock_timeout = '100ms';", "let the pooler reconnect"} {
		if n != 0 || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d applied, %v, want %q", n, err, want)
		}
	}
	p.Drops.Store(false)
	if n, err := migrate.Up(t.Context(), through); n == 0 || err != nil {
		t.Errorf("%d applied, %v", n, err)
	}
}
