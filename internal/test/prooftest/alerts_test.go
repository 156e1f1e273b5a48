package prooftest_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// badHour is a server on PostgreSQL, one on SQLite on a small disk, and a Prometheus with the alerts that reads both.
type badHour struct {
	t          *testing.T
	pair       *pair
	prometheus string
	w          *worldtest.World // on the database of the first
	onDisk     *testkit.Server
	token      string // of the second
	folder     string // of its database
}

// watchedServer starts a server whose metrics are served.
func watchedServer(t *testing.T, program, database string) *testkit.Server {
	t.Helper()
	c := exec.CommandContext(t.Context(), program, "serve", "--database", database, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--log-format", "json")
	c.Env = []string{}
	return testkit.Serve(t, c)
}

// startPrometheus starts one with the rules of the guide over the servers, and returns its URL.
func startPrometheus(t *testing.T, servers ...*testkit.Server) string {
	t.Helper()
	program, err := exec.LookPath("prometheus")
	if err != nil {
		t.Skip("there is no prometheus")
	}
	rules, err := filepath.Abs("../../../deploy/prometheus/slipway.rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var targets []string
	for _, s := range servers {
		targets = append(targets, `"`+strings.TrimPrefix(s.Health, "http://")+`"`)
	}
	folder := t.TempDir()
	config := fmt.Sprintf("global: {scrape_interval: 5s, evaluation_interval: 5s}\nrule_files: [%q]\nscrape_configs:\n- job_name: slipway\n  static_configs: [{targets: [%s]}]\n",
		rules, strings.Join(targets, ", "))
	file := filepath.Join(folder, "prometheus.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	var said testkit.Log
	c := exec.CommandContext(context.Background(), program, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(folder, "data"), "--web.listen-address="+address)
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		_ = c.Wait()
		if t.Failed() {
			t.Log(said.String())
		}
	})
	return "http://" + address
}

// firing returns the names of the alerts that fire.
func (b *badHour) firing() (names []string) {
	answer, err := http.Get(b.prometheus + "/api/v1/alerts") //nolint:noctx // of this machine
	if err != nil {
		return nil
	}
	defer func() { _ = answer.Body.Close() }()
	var found struct {
		Data struct {
			Alerts []struct {
				State  string
				Labels struct{ Alertname string }
			}
		}
	}
	if err := json.NewDecoder(answer.Body).Decode(&found); err != nil {
		return nil
	}
	for _, a := range found.Data.Alerts {
		if a.State == "firing" {
			names = append(names, a.Labels.Alertname)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// fires waits until these alerts fire and no others.
func (b *badHour) fires(within time.Duration, want ...string) {
	b.t.Helper()
	begun := time.Now()
	for !slices.Equal(b.firing(), want) {
		if time.Since(begun) > within {
			b.t.Fatalf("after %s %q fire, want %q", within, b.firing(), want)
		}
		<-time.After(time.Second)
	}
	b.t.Logf("%q fire after %s", want, time.Since(begun).Round(time.Second))
}

func (b *badHour) raw(statement string, args ...any) {
	b.t.Helper()
	if _, err := b.w.Raw(b.t, b.w.Acme).ExecContext(b.t.Context(), statement, args...); err != nil {
		b.t.Fatal(err)
	}
}

// write writes to the server on the small disk, and reports whether it could.
func (b *badHour) write(slug string) bool {
	body := `{"query":"mutation { createProject(input: {name: \"` + strings.Repeat("x", 150) + `\", slug: \"` + slug + `\"}) { project { id } } }"}`
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.onDisk.API+"/graphql", strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+b.token)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	var found struct{ Errors []any }
	return json.NewDecoder(answer.Body).Decode(&found) == nil && found.Errors == nil
}

// follow follows the deployments by a server until the test ends: only where somebody does is the feed read.
func (b *badHour) follow(server *testkit.Server) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, server.API+"/graphql", strings.NewReader(`{"query":"subscription { deploymentsChanged { kind } }"}`))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+b.w.Acme.Tokens[actor.Viewer])
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = answer.Body.Close() })
	if answer.StatusCode != http.StatusOK {
		b.t.Fatalf("nobody follows: %s", answer.Status)
	}
}

// The database away, the disk full, a lease late, the feed behind: each alert fires and ends, under a Prometheus and with the
// rules as they are. That takes ten minutes, so only the full form does.
func TestAlertsFireInABadHour(t *testing.T) {
	if !testkit.Proving() {
		t.Skip("takes ten minutes; SLIPWAY_PROOF=full runs it")
	}
	t.Parallel()
	begun := time.Now()
	folder, fill, ok := testkit.SmallDisk(t, 16)
	if !ok {
		t.Skip("no disk may be mounted")
	}
	program := built.Path(t)
	run := func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return strings.TrimSpace(string(out))
	}
	onDisk := "sqlite:" + filepath.Join(folder, "slipway.db")
	run("migrate", "up", "--database", onDisk)
	run("org", "create", "--database", onDisk, "--name", "Acme", "--slug", "acme")
	b := &badHour{t: t, pair: newPair(t), folder: folder, token: run("token", "create", "--database", onDisk, "--org", "acme", "--role", "admin", "--name", "admin")}
	url := b.pair.url(t, b.pair.first)
	b.w = worldtest.New(t, url)
	b.onDisk = watchedServer(t, program, onDisk)
	first := watchedServer(t, program, url)
	b.prometheus = startPrometheus(t, first, b.onDisk)
	b.fires(time.Minute) // nothing

	// A transaction that has written stays open: changes behind it are not read.
	holder, err := sql.Open("postgres", url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Close() }()
	holding, err := holder.BeginTx(t.Context(), nil)
	if err == nil {
		_, err = holding.ExecContext(t.Context(), "SELECT txid_current()")
	}
	if err != nil {
		t.Fatal(err)
	}
	p := b.w.Fixture(t, b.w.Acme, "shop")
	late := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
	p.Claim(t, late)
	b.follow(first)
	// A lease has run out, and the record cannot be read by whoever would end it.
	b.raw(`UPDATE deployments SET lease_expires_at = now() - interval '1 hour', setbacks = '7' WHERE id = $1`, late.ID)
	b.raw(`UPDATE lease_sweeps SET resumed_at = '2000-01-01' WHERE id = 'leases'`)
	fill()
	if b.write("full") {
		t.Fatal("a full disk takes writes")
	}
	b.fires(9*time.Minute, "SlipwayDatabaseTakesNoWrites", "SlipwayFeedBehind", "SlipwayLeasesLate")

	if err := os.Remove(filepath.Join(folder, "full")); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "there is room again", func() bool { return b.write("room") })
	if err := holding.Rollback(); err != nil {
		t.Fatal(err)
	}
	b.raw(`UPDATE deployments SET setbacks = NULL WHERE id = $1`, late.ID)
	b.fires(2 * time.Minute)

	if err := b.pair.first.KillServer(); err != nil {
		t.Fatal(err)
	}
	b.fires(3*time.Minute, "SlipwayDatabaseAway")
	if err := b.pair.first.Restart(); err != nil {
		t.Fatal(err)
	}
	b.fires(3 * time.Minute)
	proved.note(t, begun, "disk full, feed behind, lease late and database away fired, and ended")
}
