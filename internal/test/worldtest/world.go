// Package worldtest gives tests a whole Slipway of their own: a migrated database, the API on it, and
// organizations with a token for each role.
package worldtest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	entmigrate "slipway/ent/migrate"
	"slipway/internal/base/actor"
	"slipway/internal/data/store"
	"slipway/internal/data/store/migrate"
	"slipway/internal/server"
	"slipway/internal/service/account"
	"slipway/internal/test/pgtest"
	"slipway/internal/test/testkit"
)

// World is one Slipway.
type World struct {
	// URL is the base URL of the API.
	URL string
	// DatabaseURL opens the same database once more.
	DatabaseURL string
	Store       *store.Store
	*server.Services
	// Acme and Globex are two organizations that must never see each other.
	Acme, Globex *Org
	// Superadmin is the token of a superadmin.
	Superadmin string

	server     *server.Server
	canaries   *canaries
	statements *statements
	raw        *rawDatabases
	// services are the instances that have the service of Data, by their organizations.
	services *sync.Map
	// organization is what the requests name in Slipway-Organization, nothing if it is empty.
	organization string
}

// Org is an organization and a token for each of its roles.
type Org struct {
	ID, Slug string
	Tokens   map[actor.Role]string
	actors   map[actor.Role]*actor.Actor
}

// As returns a context in which the organization's actor of the role acts.
func (o *Org) As(role actor.Role) context.Context {
	return actor.With(context.Background(), o.actors[role])
}

// Each runs a test against a world on SQLite and, where there is a cluster for tests, against one on
// PostgreSQL.
func Each(t *testing.T, test func(t *testing.T, w *World)) {
	t.Helper()
	for name, database := range Databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, New(t, database(t)))
		})
	}
}

// Databases returns the URL of a fresh, migrated database of each kind.
var Databases = map[string]func(testing.TB) string{"sqlite": SQLite, "postgres": Postgres}

// SQLite returns the URL of a fresh, migrated SQLite database.
func SQLite(t testing.TB) string {
	t.Helper()
	content, err := migratedSQLite()
	path := filepath.Join(t.TempDir(), "slipway.db")
	if err == nil {
		err = os.WriteFile(path, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return "sqlite:" + path
}

// migratedSQLite returns the content of a migrated SQLite database, which each test copies.
var migratedSQLite = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "slipway-migrated-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "slipway.db")
	if _, err := migrate.Up(context.Background(), "sqlite:"+path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// Postgres returns the URL of a fresh, migrated PostgreSQL database; if there is no cluster for tests
// the test is skipped.
func Postgres(t testing.TB) string {
	t.Helper()
	return pgtest.Template(t, "migrated "+migrations(t), func(url string) error {
		_, err := migrate.Up(context.Background(), url)
		return err
	})
}

// migrations is a digest of PostgreSQL's migrations.
func migrations(t testing.TB) string {
	t.Helper()
	sum, err := fs.ReadFile(entmigrate.Files, "postgres/atlas.sum")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(sum))
}

// New makes a world on a migrated, empty database. The options change how the database is opened.
func New(t testing.TB, databaseURL string, options ...func(*store.Config)) *World {
	t.Helper()
	w := Another(t, databaseURL, options...)
	w.Acme, w.Globex = w.makeOrganization(t, "acme"), w.makeOrganization(t, "globex")
	root := &actor.Actor{Name: "test", Role: actor.System, Channel: actor.CLI}
	w.Superadmin, _ = w.token(t, root, account.NewToken{Name: string(actor.Superadmin), Role: actor.Superadmin})
	return w
}

// Another makes one more API on a database, as another server process would be; it has no organizations
// of its own.
func Another(t testing.TB, databaseURL string, options ...func(*store.Config)) *World {
	t.Helper()
	var ran statements
	watch := newCanaries(t)

	config := store.Config{URL: databaseURL, MaxConns: 8, Trace: ran.record, PoisonUnread: true, Log: watch.logger()}
	for _, change := range options {
		change(&config)
	}

	s, err := store.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	api, url := listen(t, s, watch.serverConfig())
	raw := &rawDatabases{of: map[string]*sql.DB{}}
	t.Cleanup(raw.close)

	return &World{
		URL: url, DatabaseURL: databaseURL, Store: s, Services: api.Services,
		server: api, canaries: watch, statements: &ran, raw: raw, services: &sync.Map{},
	}
}

// Serving returns the same world behind an API of another configuration.
func (w *World) Serving(t testing.TB, change func(*server.Config)) *World {
	t.Helper()
	c := w.canaries.serverConfig()
	change(&c)
	api, url := listen(t, w.Store, c)
	other := *w
	other.URL, other.Services, other.server = url, api.Services, api
	return &other
}

// listen starts an API. With the test, its streams and what waits there end first, as where a server is shut down.
func listen(t testing.TB, s *store.Store, c server.Config) (api *server.Server, url string) {
	t.Helper()
	api = server.New(s, c)
	listening := httptest.NewServer(api)
	t.Cleanup(func() {
		ended, cancel := context.WithTimeout(context.Background(), testkit.Patience)
		defer cancel()
		_ = api.Shutdown(ended) // what is still open then holds Close up, which says so
		listening.Close()
	})
	return api, listening.URL
}

// Handler returns the API without a listener.
func (w *World) Handler() http.Handler { return w.server }

// Metrics returns the metrics of the API as Prometheus reads them, by their names with their labels, once it has asked
// the database.
func (w *World) Metrics(t testing.TB) map[string]float64 {
	t.Helper()
	w.server.Metrics.AskDatabase(
		t.Context(), w.server.Asking(server.Offset{Database: w.Store.Clock, Now: store.Now}.Measure),
	)
	answer := httptest.NewRecorder()
	w.server.Metrics.Handler().ServeHTTP(
		answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil),
	)
	w.canaries.checkText("/metrics", answer.Body.Bytes())
	found := map[string]float64{}
	for line := range strings.Lines(answer.Body.String()) {
		at := strings.LastIndexByte(line, ' ')
		if value, err := strconv.ParseFloat(strings.TrimSpace(line[at+1:]), 64); err == nil && line[0] != '#' {
			found[line[:at]] = value
		}
	}
	return found
}

// In returns the same world, whose requests name an organization by its id or slug, or global.
func (w *World) In(organization string) *World {
	other := *w
	other.organization = organization
	return &other
}

// serverConfig is the configuration of a world.
func (c *canaries) serverConfig() server.Config {
	return server.Config{Introspection: true, Log: c.logger()}
}

func (w *World) makeOrganization(t testing.TB, slug string) *Org {
	t.Helper()
	root := &actor.Actor{Name: "test", Role: actor.System, Channel: actor.CLI}
	made, err := w.Accounts.CreateOrganization(actor.With(t.Context(), root), slug, slug)
	if err != nil {
		t.Fatal(err)
	}
	o := &Org{ID: made.ID, Slug: slug, Tokens: map[actor.Role]string{}, actors: map[actor.Role]*actor.Actor{}}
	for _, role := range actor.Roles {
		if role == actor.Superadmin { // no organization has one
			continue
		}
		o.Tokens[role], o.actors[role] = w.token(t, root.In(o.ID), account.NewToken{Name: string(role), Role: role})
	}
	return o
}

// Token makes one more token of an organization.
func (w *World) Token(t testing.TB, o *Org, in account.NewToken) string {
	t.Helper()
	root := &actor.Actor{Name: "test", Role: actor.System, Channel: actor.CLI}
	secret, _ := w.token(t, root.In(o.ID), in)
	return secret
}

func (w *World) token(t testing.TB, by *actor.Actor, in account.NewToken) (string, *actor.Actor) {
	t.Helper()
	made, secret, err := w.Accounts.CreateToken(actor.With(t.Context(), by), in)
	if err != nil {
		t.Fatal(err)
	}
	return secret.Reveal(), account.ActorOf(made).Via(actor.GraphQL)
}
