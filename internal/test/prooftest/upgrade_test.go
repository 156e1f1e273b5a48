package prooftest_test

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/sqltool"

	"slipway/internal/base/actor"
	"slipway/internal/data/store/migrate/lint"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// longestGap is how long a client may wait for an answer while the database is migrated.
const longestGap = 200 * time.Millisecond

// programs are versions of the program: each has migrations that the one before has not, the second those that
// the first may go on with, and the third those that it may not. The short form does without the third.
type programs struct{ old, compatible, incompatible string }

func builds(t *testing.T) programs {
	t.Helper()
	p := programs{old: built.Path(t), compatible: build(t, "-overlay", overlay(t, "compatible"))}
	if testkit.Proving() {
		p.incompatible = build(t, "-overlay", overlay(t, "compatible", "incompatible"))
	}
	return p
}

// overlay returns a file that has go build find the migrations of testdata's folders among those of the program.
func overlay(t *testing.T, folders ...string) string {
	t.Helper()
	replace := map[string]string{}
	for _, folder := range folders {
		for _, dialect := range []string{"postgres", "sqlite"} {
			for _, file := range extra(t, folder, dialect) {
				replace[absolute(t, filepath.Join("..", "..", "..", "ent", "migrate", dialect, filepath.Base(file)))] = absolute(t, file)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(path, mustJSON(map[string]any{"Replace": replace}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// extra returns the migrations of one of testdata's folders.
func extra(t *testing.T, folder, dialect string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "upgrade", folder, dialect, "*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has %d migrations for %s: %v", folder, len(files), dialect, err)
	}
	return files
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// What the proof migrates by is what the linter lets through.
func TestUpgradeIsOfMigrationsThatTheLinterLetsThrough(t *testing.T) {
	t.Parallel()
	own, err := filepath.Glob(filepath.Join("..", "..", "..", "ent", "migrate", "postgres", "*.sql"))
	if err != nil {
		t.Fatal(err)
	}
	var files []migrate.File
	for _, path := range append(own, append(extra(t, "compatible", "postgres"), extra(t, "incompatible", "postgres")...)...) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, &sqltool.GooseFile{LocalFile: migrate.NewLocalFile(filepath.Base(path), text)})
	}
	if problems, err := lint.Postgres(files); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

func TestUpgradeBesideAServerShowsNoError(t *testing.T) {
	t.Parallel()
	p := builds(t)
	t.Run("sqlite, one server", func(t *testing.T) {
		t.Parallel()
		w := worldtest.New(t, worldtest.SQLite(t))
		begun, id := time.Now(), targets(t, w, 1)[0]
		if err := w.Store.Close(); err != nil { // the file is to be the processes' alone
			t.Fatal(err)
		}
		c, server := newClient(t, w.Acme.Tokens[actor.Developer], 1), serve(t, p.old, w.DatabaseURL)
		upgrade(t, p.compatible, w.DatabaseURL, nil)
		for range 2 {
			mustAnswer(t, c, server, id)
			server.Kill()
			server = serve(t, p.old, w.DatabaseURL)
		}
		server.Kill()
		taken(t, p, w.DatabaseURL)
		proved.note(t, begun, "the old program serves on and restarts; refuses after a migration that it is not compatible with")
	})
	t.Run("postgres, two servers", func(t *testing.T) {
		t.Parallel()
		upgraded(t, p, worldtest.New(t, worldtest.Postgres(t)))
	})
}

// upgraded migrates a database beside a server that many ask.
func upgraded(t *testing.T, p programs, w *worldtest.World) {
	t.Helper()
	sources := targets(t, w, testkit.Often(4, 16)+1)
	apart, sources := sources[0], sources[1:]
	rows := testkit.Often(2_000, 400_000)
	fill(t, w, apart, rows)
	c := newClient(t, w.Acme.Tokens[actor.Developer], len(sources))
	first, second := serve(t, p.old, w.DatabaseURL), serve(t, p.old, w.DatabaseURL)
	begun, load := time.Now(), visit(t, c, first.API, sources)
	before := load.round(t)
	// A long transaction has read the table, and ends once a migration has found it locked.
	long, err := w.Raw(t, w.Acme).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := long.ExecContext(t.Context(), "SELECT count(*) FROM deployments"); err != nil {
		t.Fatal(err)
	}
	retried := false
	upgrade(t, p.compatible, w.DatabaseURL, func(line string) {
		if !retried && strings.Contains(line, "found a table locked") {
			retried = true
			if err := long.Rollback(); err != nil {
				t.Error(err)
			}
		}
	})
	if !retried {
		t.Error("no migration says that it found a table locked")
	}
	during := load.round(t)
	// What may restart meanwhile: an older server, and one of the new version.
	second.Kill()
	for _, program := range []string{p.old, p.compatible} {
		mustAnswer(t, c, serve(t, program, w.DatabaseURL), apart)
	}
	load.end(t)
	// On a machine that has other work clients wait without a migration too.
	if most := max(longestGap, before.longest); testkit.Proving() && during.longest > most {
		t.Errorf("a client waited for %s, want no more than %s", during.longest, most)
	}
	taken(t, p, w.DatabaseURL)
	proved.note(t, begun, "%d rows, %d clients: %d answers meanwhile, %d errors, longest gap %s (%s before)",
		rows, len(sources), during.answers, load.failures.Load(), during.longest.Round(time.Millisecond), before.longest.Round(time.Millisecond))
}

// upgrade migrates a database by a program, and calls heard with each line that it logs meanwhile.
func upgrade(t *testing.T, program, database string, heard func(line string)) {
	t.Helper()
	c := exec.CommandContext(t.Context(), program, "migrate", "up", "--database", database)
	c.Env = []string{}
	var out bytes.Buffer
	c.Stdout = &out
	stderr, err := c.StderrPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines, logged := bufio.NewScanner(stderr), ""
	for lines.Scan() {
		logged += lines.Text() + "\n"
		if heard != nil {
			heard(lines.Text())
		}
	}
	if err := c.Wait(); err != nil || !strings.HasPrefix(out.String(), "applied ") || strings.HasPrefix(out.String(), "applied 0") {
		t.Fatalf("migrate up: %v, %s%s", err, out.String(), logged)
	}
}

// taken migrates by what older programs are not compatible with, and wants them to refuse the database.
func taken(t *testing.T, p programs, database string) {
	t.Helper()
	if p.incompatible == "" {
		return
	}
	upgrade(t, p.incompatible, database, nil)
	for _, program := range []string{p.old, p.compatible} {
		c := exec.CommandContext(t.Context(), program, "serve", "--database", database, "--listen", "127.0.0.1:0", "--admin-listen", "")
		c.Env = []string{}
		text, err := c.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(text), "its migration 29990102000000 needs a program that has migration 29990102000000") {
			t.Errorf("serve of an older version: %v, %s", err, text)
		}
	}
	c := serve(t, p.incompatible, database)
	c.Kill()
}

// mustAnswer wants a server to read a deployment and to make one.
func mustAnswer(t *testing.T, c *client, server *testkit.Server, id string) {
	t.Helper()
	v := visitor{client: c, url: server.API, source: id}
	for range visits {
		if err := v.next(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// fill makes rows like a deployment, each older than the one before.
func fill(t *testing.T, w *worldtest.World, id string, rows int) {
	t.Helper()
	db := w.Raw(t, w.Acme)
	_, err := db.ExecContext(t.Context(), `
		INSERT INTO deployments (id, created_at, updated_at, completed_at, organization_id, deployment_type, trigger_source, status, created_by,
			project_id, environment_id, module_instance_id, release_id)
		SELECT 'dep_' || lpad(i::text, 26, '0'), created_at - make_interval(secs => i), updated_at, completed_at, organization_id, deployment_type,
			trigger_source, status, created_by, project_id, environment_id, module_instance_id, release_id
		FROM deployments, generate_series(1, $2::int) i WHERE id = $1`, id, rows)
	if err == nil {
		// A vacuum would soon do so by itself, in the middle of what is to be measured.
		_, err = db.ExecContext(t.Context(), "VACUUM ANALYZE deployments")
	}
	if err != nil {
		t.Fatal(err)
	}
}
