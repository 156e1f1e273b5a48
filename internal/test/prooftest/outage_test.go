package prooftest_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

func TestOutageOfServerAndDatabaseStopsNothingThatRuns(t *testing.T) {
	t.Parallel()
	begun, programs, away := time.Now(), testkit.Often(4, 20), testkit.Often(0, 2*time.Minute)
	worldtest.Postgres(t) // says where there is none
	servers := newPair(t)
	hosts := servers.url(t, servers.first, servers.second)
	w := worldtest.New(t, servers.url(t, servers.first))
	p := w.Fixture(t, w.Acme, "web")
	ids := make([]string, programs)
	for i := range ids {
		ids[i] = p.Deploy(t, p.NewInstance(t, fmt.Sprint("n", i)).ID, `{"image":"web:1"}`).ID
	}
	token := w.Acme.Tokens[actor.Runner]
	if err := w.Store.Close(); err != nil {
		t.Fatal(err)
	}
	program, folder := built.Path(t), t.TempDir()
	first := serve(t, program, hosts)
	gate := newGate(t, first.API)
	startRunner(t, runnerOrder{
		Server: gate.url, Token: token, WorkDir: filepath.Join(folder, "runner"), Parallel: programs,
		Program: programOrder{Folder: folder, Linger: -1},
	})
	for _, id := range ids {
		testkit.Eventually(t, "every program runs", func() bool { return there(folder, "began-"+id) })
	}

	// The server is away.
	first.Kill()
	wait := time.After(away)
	failed := gate.failed.Load()
	testkit.Eventually(t, "it is asked in vain", func() bool { return gate.failed.Load() > failed+int32(programs) })
	<-wait
	gate.lead(t, serve(t, program, hosts).API)
	answered := gate.answered.Load()
	testkit.Eventually(t, "it is asked again", func() bool { return gate.answered.Load() > answered+int32(programs) })

	// The database fails over.
	servers.first.Crash()
	failed = gate.failed.Load()
	testkit.Eventually(t, "the database is missed", func() bool { return gate.failed.Load() > failed })
	if err := servers.second.Promote(); err != nil {
		t.Fatal(err)
	}
	answered = gate.answered.Load()
	testkit.Eventually(t, "it is back", func() bool { return gate.answered.Load() > answered+int32(programs) })

	for _, id := range ids {
		if err := note(folder, "finish-"+id, ""); err != nil {
			t.Error(err)
		}
	}
	db, err := sql.Open("postgres", servers.url(t, servers.second)+"&options=-c%20app.isolation%3Dfilter")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	succeeded := 0
	testkit.Eventually(t, "all have succeeded", func() bool {
		err := db.QueryRow(`SELECT count(*) FROM deployments WHERE status = 'SUCCEEDED'`).Scan(&succeeded)
		return err == nil && succeeded == programs
	})
	stopped, err := os.ReadFile(filepath.Join(folder, "stopped"))
	if !os.IsNotExist(err) {
		t.Errorf("%v, these were stopped: %s", err, stopped)
	}
	proved.note(t, begun, "server away %s, database failed over: of %d programs %d stopped, %d SUCCEEDED", away, programs, len(stopped), succeeded)
}
