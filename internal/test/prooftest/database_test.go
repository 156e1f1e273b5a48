package prooftest_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/store/migrate"
	"slipway/internal/server"
	"slipway/internal/test/pgtest/cluster"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// pair is a PostgreSQL server and its hot standby, of which there may be another.
type pair struct{ first, second, third *cluster.Cluster }

// newPair starts two servers that are the test's own, with a migrated, empty database.
func newPair(t *testing.T) *pair {
	t.Helper()
	bin, err := cluster.Find(cluster.Packages)
	if err != nil {
		t.Skip(err)
	}
	p := &pair{}
	for _, server := range []**cluster.Cluster{&p.first, &p.second} {
		if p.first == nil {
			*server, err = cluster.Start(bin)
		} else {
			*server, err = p.first.Standby()
		}
		if err != nil {
			t.Fatal(err)
		}
		stop := (*server).Stop
		t.Cleanup(func() {
			if err := stop(); err != nil {
				t.Error(err)
			}
		})
	}
	p.run(t, p.first, "CREATE ROLE slipway LOGIN NOSUPERUSER NOBYPASSRLS")
	p.run(t, p.first, "ALTER ROLE slipway SET synchronous_commit = on") // a crash is to lose nothing
	p.run(t, p.first, "CREATE DATABASE slipway OWNER slipway")
	if _, err := migrate.Up(t.Context(), p.url(t, p.first)); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *pair) run(t *testing.T, on *cluster.Cluster, statement string) {
	t.Helper()
	db, err := sql.Open("postgres", on.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := db.ExecContext(ctx, statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// url returns the URL of the database on those of several servers that take writes.
func (p *pair) url(t *testing.T, on ...*cluster.Cluster) string {
	t.Helper()
	var hosts []string
	for _, server := range on {
		u, err := url.Parse(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		hosts = append(hosts, u.Host)
	}
	return "postgres://slipway@" + strings.Join(hosts, ",") + "/slipway?sslmode=disable&target_session_attrs=read-write"
}

// switchOver has the standby take over. For a while both servers are standbys.
func (p *pair) switchOver(t *testing.T) {
	t.Helper()
	p.run(t, p.first, `DO $$ BEGIN
		WHILE NOT EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming') LOOP
			PERFORM pg_sleep(0.01), pg_stat_clear_snapshot();
		END LOOP;
	END $$`)
	p.first.ShutDown()
	for _, step := range []func() error{p.first.Demote, p.first.Restart, p.second.Promote} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
}

// withThird adds another standby to the first server.
func (p *pair) withThird(t *testing.T) {
	t.Helper()
	third, err := p.first.Standby()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := third.Stop(); err != nil {
			t.Error(err)
		}
	})
	p.third = third
}

// synchronous has the third server follow the second, which has taken over. What is acknowledged is on both their
// disks, and the third lags behind with all the rest.
func (p *pair) synchronous(t *testing.T) {
	t.Helper()
	second, err := url.Parse(p.second.URL)
	must(t, err)
	p.run(t, p.third, fmt.Sprintf("ALTER SYSTEM SET primary_conninfo = 'host=%s port=%s user=%s'", second.Hostname(), second.Port(), second.User))
	p.run(t, p.third, "ALTER SYSTEM SET recovery_min_apply_delay = '300ms'")
	p.run(t, p.second, "ALTER SYSTEM SET synchronous_standby_names = '*'")
	for _, server := range []*cluster.Cluster{p.third, p.second} {
		p.run(t, server, "SELECT pg_reload_conf()")
	}
	p.run(t, p.second, `DO $$ BEGIN
		WHILE NOT EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync') LOOP
			PERFORM pg_sleep(0.01), pg_stat_clear_snapshot();
		END LOOP;
	END $$`)
}

// killBackend ends one process that serves a connection by SIGKILL, upon which the server ends all others and
// recovers.
func (p *pair) killBackend(t *testing.T) {
	t.Helper()
	var pid int
	if err := opened(t, p.first.URL).QueryRowContext(t.Context(), "SELECT pid FROM pg_stat_activity WHERE usename = 'slipway' LIMIT 1").Scan(&pid); err != nil {
		t.Fatal(err)
	}
	must(t, syscall.Kill(pid, syscall.SIGKILL))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// counter counts what clients have been answered.
type counter struct {
	mu   sync.Mutex
	n    int
	more chan struct{} // is closed with the next
}

func newCounter() *counter { return &counter{more: make(chan struct{})} }

func (c *counter) add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	close(c.more)
	c.more = make(chan struct{})
}

func (c *counter) count() (int, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n, c.more
}

// another waits for n more.
func (c *counter) another(t *testing.T, n int) {
	t.Helper()
	began, _ := c.count()
	late := time.After(time.Minute)
	for {
		now, more := c.count()
		if now >= began+n {
			return
		}
		select {
		case <-more:
		case <-late:
			t.Fatalf("%d answers in a minute, want %d", now-began, n)
		}
	}
}

// readAll reads one deployment and lists again and again until it is to stop; none may fail.
func readAll(t *testing.T, w *worldtest.World, source string, stop <-chan struct{}, answered func()) {
	token := w.Acme.Tokens[actor.Viewer]
	for {
		select {
		case <-stop:
			return
		default:
		}
		for _, r := range []worldtest.Response{
			w.REST(t, http.MethodGet, "/deployments/"+source, token, "", nil),
			w.GraphQL(t, token, `query($id: ID!) { node(id: $id) { id } deployments(first: 20) { totalCount nodes { id status release { id } } } }`,
				map[string]any{"id": source}),
		} {
			if r.Status != http.StatusOK || r.Code(t) != "" {
				t.Errorf("a read was answered %d: %s", r.Status, r.Body)
				return
			}
			answered()
		}
	}
}

func TestFaultsOfTheDatabaseAreNotSeenAndLoseNothing(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.withThird(t)
	near := worldtest.New(t, p.url(t, p.first))
	far := worldtest.Another(t, p.url(t, p.first, p.second, p.third))
	far.Acme = near.Acme
	writers, readers, times := testkit.Often(4, 16), testkit.Often(4, 16), testkit.Often(1, 5)
	sources := targets(t, near, writers)
	writes, reads, stop := newCounter(), newCounter(), make(chan struct{})
	var all sync.WaitGroup
	clients := make([]*roller, writers)
	for i, source := range sources {
		clients[i] = &roller{client: newClient(t, near.Acme.Tokens[actor.Developer], 1), number: i, source: source}
		all.Go(func() { clients[i].work(t, []string{far.URL}, stop, writes.add) })
	}
	for i := range readers {
		all.Go(func() { readAll(t, far, sources[i%len(sources)], stop, reads.add) })
	}
	begun := time.Now()
	goOn := func() {
		t.Helper()
		writes.another(t, 3*writers)
		reads.another(t, 3*readers)
	}
	restart := func(end func()) func() {
		return func() {
			end()
			if err := p.first.Restart(); err != nil {
				t.Fatal(err)
			}
		}
	}
	goOn()
	for range times {
		for _, fail := range []func(){
			func() {
				p.run(t, p.first, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'slipway'")
			},
			func() { p.killBackend(t) },
			restart(p.first.ShutDown),
			restart(p.first.Crash),
			restart(func() { must(t, p.first.KillServer()) }),
		} {
			fail()
			goOn()
		}
	}
	p.switchOver(t)
	goOn()
	p.synchronous(t)
	goOn()
	p.second.Crash()
	must(t, p.third.Promote())
	goOn()
	close(stop)
	all.Wait()
	after := *near
	after.DatabaseURL = p.url(t, p.third)
	found := whole(t, &after, clients)
	acknowledged := 0
	for _, c := range clients {
		acknowledged += len(c.acknowledged)
		if c.unanswered > 0 {
			t.Errorf("%d requests were not answered", c.unanswered)
		}
	}
	read, _ := reads.count()
	proved.note(t, begun, "%d x (connections ended, kill -9 of one and of all, restart, crash), a switchover and a failover: %d reads, %d rollbacks acknowledged, %d in the database",
		times, read, acknowledged, found)
}

func TestDatabaseThatIsAwayOrFrozenIsUnavailableBeforeTimeRunsOut(t *testing.T) {
	t.Parallel()
	t.Run("away", func(t *testing.T) {
		t.Parallel()
		p := newPair(t)
		isUnavailable(t, p.url(t, p.first, p.second), func() (back func() error) {
			p.second.Crash()
			p.first.Crash()
			return p.first.Restart
		})
	})
	t.Run("frozen", func(t *testing.T) {
		t.Parallel()
		p := newPair(t)
		isUnavailable(t, p.url(t, p.first), func() (back func() error) {
			thaw, err := p.first.Freeze()
			must(t, err)
			return thaw
		})
	})
}

// isUnavailable wants every call to be answered with 503 while a database fails, and to go on when it is back.
func isUnavailable(t *testing.T, database string, fail func() (back func() error)) {
	t.Helper()
	w := worldtest.New(t, database).Serving(t, func(c *server.Config) { c.Timeout = 6 * time.Second })
	source := targets(t, w, 1)[0]
	known := w.Acme.Tokens[actor.Developer]
	rollback := fmt.Sprintf(`mutation { rollbackDeployment(input: {id: %q}) { deployment { id } } }`, source)
	calls := map[string]func() worldtest.Response{
		"GET": func() worldtest.Response { return w.REST(t, http.MethodGet, "/deployments/"+source, known, "", nil) },
		"GET, a new token": func() worldtest.Response {
			return w.REST(t, http.MethodGet, "/deployments/"+source, w.Acme.Tokens[actor.Viewer], "", nil)
		},
		"POST": func() worldtest.Response {
			return w.REST(t, http.MethodPost, "/deployments/"+source+"/rollback", known, "", nil)
		},
		"query":    func() worldtest.Response { return w.GraphQL(t, known, `{ deployments { nodes { id } } }`, nil) },
		"mutation": func() worldtest.Response { return w.GraphQL(t, known, rollback, nil) },
		"query, a new token": func() worldtest.Response {
			return w.GraphQL(t, w.Acme.Tokens[actor.Admin], `{ deployments { nodes { id } } }`, nil)
		},
	}
	if r := calls["GET"](); r.Status != http.StatusOK {
		t.Fatalf("%d %s", r.Status, r.Body)
	}
	back := fail()
	var all sync.WaitGroup
	for name, call := range calls {
		all.Go(func() {
			r := call()
			metadata, _ := r.Refusal(t)["metadata"].(map[string]any)
			if r.Code(t) != string(fault.ServerUnavailable) || fmt.Sprint(metadata["retryAfterSeconds"]) != "5" {
				t.Errorf("%s: %d %s", name, r.Status, r.Body)
			}
			if r.Status != http.StatusOK && (r.Status != http.StatusServiceUnavailable || r.Header.Get("Retry-After") != "5") {
				t.Errorf("%s: %d, Retry-After %q", name, r.Status, r.Header.Get("Retry-After"))
			}
		})
	}
	all.Wait()
	must(t, back())
	for name, call := range calls {
		if r := call(); r.Code(t) != "" && r.Code(t) != string(fault.DeploymentInProgress) {
			t.Errorf("%s, when the database is back: %d %s", name, r.Status, r.Body)
		}
	}
}
