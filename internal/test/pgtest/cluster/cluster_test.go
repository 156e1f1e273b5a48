//go:build unix

package cluster_test

import (
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slipway/internal/test/pgtest/cluster"
	"slipway/internal/test/testkit"
)

func TestStoppedClusterLeavesNothing(t *testing.T) {
	t.Parallel()
	bin, err := cluster.Find(cluster.Packages)
	if err != nil {
		t.Skip(err)
	}
	c, err := cluster.Start(bin)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("postgres", c.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var data string
	if err := db.QueryRowContext(t.Context(), "SHOW data_directory").Scan(&data); err != nil {
		t.Fatal(err)
	}
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(data)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", data, err)
	}
	if err := db.PingContext(t.Context()); err == nil {
		u, _ := url.Parse(c.URL)
		t.Errorf("%s still answers", u.Host)
	}
}

func TestStandbyTakesOverWhatItsServerHas(t *testing.T) {
	t.Parallel()
	bin, err := cluster.Find(cluster.Packages)
	if err != nil {
		t.Skip(err)
	}
	first, err := cluster.Start(bin)
	must(t, err)
	defer func() { must(t, first.Stop()) }()
	run(t, first, "CREATE TABLE item AS SELECT 1 AS n")
	second, err := first.Standby()
	must(t, err)
	defer func() { must(t, second.Stop()) }()
	run(t, first, "INSERT INTO item VALUES (2)")
	first.ShutDown()
	must(t, second.Promote())
	run(t, second, "DO $$ BEGIN ASSERT (SELECT count(*) = 2 FROM item); END $$")
	must(t, first.Demote())
	must(t, first.Restart())
	run(t, first, "DO $$ BEGIN ASSERT pg_is_in_recovery(); END $$")
	second.Crash()
	must(t, second.Restart())
	run(t, second, "INSERT INTO item VALUES (3)")
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, c *cluster.Cluster, statement string) {
	t.Helper()
	db, err := sql.Open("postgres", c.URL)
	must(t, err)
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func TestServerThatCannotStartSaysWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ initdb, postgres, want string }{
		"initdb fails":   {"echo no space; exit 1", "exit 0", "no space"},
		"server fails":   {"exit 0", "echo bad setting >&2; exit 1", "it ended by itself\nbad setting"},
		"nothing to run": {"exit 0", "", "start the server"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bin := programs(t, map[string]string{"initdb": c.initdb, "postgres": c.postgres})
			if _, err := cluster.Start(bin); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestNewestWholeVersionIsFound(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	packages := t.TempDir()
	for version, names := range map[string][]string{
		"9.6": {"initdb", "postgres"}, "15": {"initdb", "postgres"}, "9": {"initdb", "postgres"}, "17": {"psql"},
	} {
		for _, name := range names {
			write(t, filepath.Join(packages, version, "bin", name), "exit 0")
		}
	}
	if bin, err := cluster.Find(packages); err != nil || bin != filepath.Join(packages, "15", "bin") {
		t.Errorf("found %q, error %v", bin, err)
	}
	if bin, err := cluster.Find(t.TempDir()); !errors.Is(err, cluster.ErrNotFound) {
		t.Errorf("found %q, error %v where there is none", bin, err)
	}
}

func TestServerInPathGoesFirst(t *testing.T) {
	inPath := programs(t, map[string]string{"initdb": "exit 0", "postgres": "exit 0"})
	t.Setenv("PATH", inPath)
	if bin, err := cluster.Find(cluster.Packages); err != nil || bin != inPath {
		t.Errorf("found %q, error %v", bin, err)
	}
}

// programs makes a directory of shell scripts, leaving out those without a text. Any user can run them.
func programs(t *testing.T, scripts map[string]string) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "slipway-programs-") //nolint:usetesting // another user is to reach it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, script := range scripts {
		if script != "" {
			write(t, filepath.Join(dir, name), script)
		}
	}
	return dir
}

func write(t *testing.T, path, script string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	testkit.Script(t, path, script)
}
