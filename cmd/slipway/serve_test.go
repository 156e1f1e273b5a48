package main_test

import (
	"bufio"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"slipway/internal/test/testkit"
)

func TestServeMakesItsDatabaseAndTellsHowToBegin(t *testing.T) {
	t.Parallel()
	url := file(t)
	s := serve(t, "--database", url)
	for path, want := range map[string]int{
		s.Health + "/healthz": 200, s.Health + "/readyz": 200,
		s.API + "/module-definitions": 200, s.API + "/playground": 200, s.API + "/deployments/x": 401,
	} {
		if got := status(t, path, ""); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	command := "slipway init --org acme --server " + s.API
	if strings.Count(s.Log, command) != 1 {
		t.Errorf("not once %q: %s", command, s.Log)
	}
	must(t, "org", "create", "--database", url, "--name", "Acme", "--slug", "acme")
	s.stop()
	if code := <-s.done; code != 0 {
		t.Errorf("exit code %d", code)
	}
	if again := serve(t, "--database", url); strings.Contains(again.Log, "slipway init") {
		t.Error("tells how to begin where there is an organization")
	}
}

func TestServeWithoutPlaygroundAndHealthHasNeither(t *testing.T) {
	t.Parallel()
	s := serve(t, "--database", file(t), "--playground=false", "--admin-listen", "")
	if got := status(t, s.API+"/playground", ""); got != 404 {
		t.Errorf("/playground: %d", got)
	}
	if s.Health != "" {
		t.Errorf("health is served at %s", s.Health)
	}
}

func TestServeDoesNotBegin(t *testing.T) {
	t.Parallel()
	nobody := testkit.ClosedAddress(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	newer, newerStill, half, open := migrated(t), migrated(t), file(t), migrated(t)
	for _, database := range []string{newer, newerStill} {
		execute(t, database, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99990101000000, 1)")
	}
	must(t, "migrate", "up", "--database", half)
	execute(t, half, "DELETE FROM goose_db_version WHERE version_id = (SELECT max(version_id) FROM goose_db_version)")
	serve(t, "--database", open)

	for name, c := range map[string]struct {
		says string
		args []string
	}{
		"port in use":            {"cannot listen on " + taken.Addr().String() + ", which --listen names: bind: address already in use", []string{"--database", file(t), "--listen", taken.Addr().String()}},
		"health's port in use":   {"which --admin-listen names: bind: address already in use", []string{"--database", file(t), "--listen", "127.0.0.1:0", "--admin-listen", taken.Addr().String()}},
		"profiles' port in use":  {"which --debug-listen names: bind: address already in use", []string{"--database", file(t), "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--debug-listen", taken.Addr().String()}},
		"unreachable PostgreSQL": {"cannot open the database postgres://me@" + nobody + "/x: dial tcp", []string{"--database", "postgres://me:secret@" + nobody + "/x?sslmode=disable"}},
		"directory missing":      {"cannot open", []string{"--database", file(t) + "/x.db"}},
		"newer database":         {"the database was migrated by a newer version of slipway", []string{"--database", newer}},
		"newer, not to migrate":  {"the database was migrated by a newer version of slipway", []string{"--database", newerStill, "--migrate=false"}},
		"failing migration":      {"cannot migrate the database sqlite:", []string{"--database", half}},
		"second server":          {"another server has " + open + " open; stop it, or use PostgreSQL for several servers", []string{"--database", open}},
		"pending migrations":     {"apply them with: slipway migrate up", []string{"--database", file(t), "--migrate=false"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mustFail(t, 1, c.says, append([]string{"serve"}, c.args...)...)
		})
	}
}

func TestToolsWorkOnNoOtherDatabaseThanAnUpToDateOne(t *testing.T) {
	t.Parallel()
	missing, empty := file(t), file(t)
	execute(t, empty, "PRAGMA user_version = 1")
	for _, command := range [][]string{{"org", "list"}, {"token", "list"}, {"org", "create", "--name", "a", "--slug", "a"}} {
		mustFail(t, 1, "there is no database "+missing, append(command, "--database", missing)...)
		mustFail(t, 1, "apply them with: slipway migrate up", append(command, "--database", empty)...)
	}
	mustFail(t, 1, "there is no database", "migrate", "status", "--database", missing)
}

func TestMigrateUpAppliesWhatStatusLists(t *testing.T) {
	t.Parallel()
	url := file(t)
	if first := must(t, "migrate", "up", "--database", url); first == "applied 0 migrations" {
		t.Error(first)
	}
	if again := must(t, "migrate", "up", "--database", url); again != "applied 0 migrations" {
		t.Error(again)
	}
	if list := must(t, "migrate", "status", "--database", url); !strings.Contains(list, "applied") || strings.Contains(list, "pending") {
		t.Error(list)
	}
}

func TestStoppingLetsARequestInFlightFinish(t *testing.T) {
	t.Parallel()
	s := serve(t, "--database", file(t))
	conn, answer := requestInFlight(t, s.API)
	s.stop()
	for status(t, s.Health+"/readyz", "") != 503 {
	}
	if got := status(t, s.Health+"/healthz", ""); got != 200 {
		t.Errorf("/healthz while stopping: %d", got)
	}
	if _, err := io.WriteString(conn, body); err != nil {
		t.Fatal(err)
	}
	last, err := http.ReadResponse(answer, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(last.Body)
	if err != nil || last.StatusCode != http.StatusOK || !strings.Contains(string(text), `"__typename":"Query"`) {
		t.Errorf("the request in flight: %v %d %s", err, last.StatusCode, text)
	}
	if code := <-s.done; code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestStoppingCutsARequestOffAfterTheTimeout(t *testing.T) {
	t.Parallel()
	s := serve(t, "--database", file(t), "--shutdown-timeout", "50ms")
	requestInFlight(t, s.API)
	s.stop()
	if code := <-s.done; code != 1 {
		t.Errorf("exit code %d", code)
	}
}

const body = `{"query":"{ __typename }"}`

// requestInFlight sends a request up to its body and comes back when the server asks for that.
func requestInFlight(t *testing.T, url string) (net.Conn, *bufio.Reader) {
	t.Helper()
	host := strings.TrimPrefix(url, "http://")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "POST /graphql HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json\r\n"+
		"Content-Length: %d\r\nExpect: 100-continue\r\n\r\n", host, len(body))
	if err != nil {
		t.Fatal(err)
	}
	answer := bufio.NewReader(conn)
	line, err := answer.ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "HTTP/1.1 100 ") {
		t.Fatalf("%v: %q", err, line)
	}
	if _, err := answer.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return conn, answer
}

func execute(t *testing.T, url, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", strings.TrimPrefix(url, "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
