package prooftest_test

import (
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"slipway/internal/actor"
	"slipway/internal/pgtest/cluster"
	"slipway/internal/store"
	"slipway/internal/worldtest"
)

func TestOutageOfServerAndDatabaseStopsNothingThatRuns(t *testing.T) {
	t.Parallel()
	begun, programs, away := time.Now(), size(4, 20), size(0, 2*time.Minute)
	primary, standby := replicated(t)
	hosts := fmt.Sprintf("postgres://slipway@%s,%s/slipway?sslmode=disable&target_session_attrs=read-write", address(t, primary), address(t, standby))
	w := worldtest.New(t, fmt.Sprintf("postgres://slipway@%s/slipway?sslmode=disable", address(t, primary)))
	p := w.Place(t, w.Acme, "web")
	ids := make([]string, programs)
	for i := range ids {
		ids[i] = p.Deploy(t, p.NewInstance(t, fmt.Sprint("n", i)).ID, `{"image":"web:1"}`).ID
	}
	token := w.Acme.Tokens[actor.Runner]
	if err := w.Store.Close(); err != nil {
		t.Fatal(err)
	}
	program, folder := build(t), t.TempDir()
	first := serve(t, program, hosts)
	gate := newGate(t, first.url)
	startRunner(t, runnerOrder{
		Server: gate.url, Token: token, WorkDir: filepath.Join(folder, "runner"), Parallel: programs,
		Program: programOrder{Folder: folder, Linger: -1},
	})
	for _, id := range ids {
		eventually(t, "every program runs", func() bool { return there(folder, "began-"+id) })
	}

	// The server is away.
	first.kill(t)
	wait := time.After(away)
	failed := gate.failed.Load()
	eventually(t, "it is asked in vain", func() bool { return gate.failed.Load() > failed+int32(programs) })
	<-wait
	gate.lead(t, serve(t, program, hosts).url)
	answered := gate.answered.Load()
	eventually(t, "it is asked again", func() bool { return gate.answered.Load() > answered+int32(programs) })

	// The database fails over.
	if err := primary.Stop(); err != nil {
		t.Error(err)
	}
	failed = gate.failed.Load()
	eventually(t, "the database is missed", func() bool { return gate.failed.Load() > failed })
	if err := standby.Promote(); err != nil {
		t.Fatal(err)
	}
	answered = gate.answered.Load()
	eventually(t, "it is back", func() bool { return gate.answered.Load() > answered+int32(programs) })

	for _, id := range ids {
		if err := note(folder, "finish-"+id, ""); err != nil {
			t.Error(err)
		}
	}
	db := open(t, fmt.Sprintf("postgres://postgres@%s/slipway?sslmode=disable", address(t, standby)))
	succeeded := 0
	eventually(t, "all have succeeded", func() bool {
		err := db.QueryRow(`SELECT count(*) FROM deployments WHERE status = 'SUCCEEDED'`).Scan(&succeeded)
		return err == nil && succeeded == programs
	})
	stopped, err := os.ReadFile(filepath.Join(folder, "stopped"))
	if !os.IsNotExist(err) {
		t.Errorf("%v, these were stopped: %s", err, stopped)
	}
	proved.note(t, begun, "server away %s, database failed over: of %d programs %d stopped, %d SUCCEEDED", away, programs, len(stopped), succeeded)
}

// replicated starts a cluster with an empty database and one that follows it.
func replicated(t *testing.T) (primary, standby *cluster.Cluster) {
	t.Helper()
	worldtest.Postgres(t) // says where there is none
	bin, err := cluster.Find(cluster.Packages)
	if err != nil {
		t.Fatal(err)
	}
	if primary, err = cluster.Start(bin); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = primary.Stop() })
	db := open(t, primary.URL)
	for _, statement := range []string{"CREATE ROLE slipway LOGIN", "CREATE DATABASE slipway OWNER slipway"} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Migrate(t.Context(), fmt.Sprintf("postgres://slipway@%s/slipway?sslmode=disable", address(t, primary))); err != nil {
		t.Fatal(err)
	}
	if standby, err = primary.Standby(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = standby.Stop() })
	return primary, standby
}

func open(t *testing.T, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open("postgres", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// address is the host and port of a cluster.
func address(t *testing.T, c *cluster.Cluster) string {
	t.Helper()
	u, err := url.Parse(c.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}
