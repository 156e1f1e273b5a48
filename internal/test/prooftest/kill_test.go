package prooftest_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

func TestKillOfAServerLeavesEachRollbackWholeAndLosesNone(t *testing.T) {
	t.Parallel()
	program := built.Path(t)
	t.Run("sqlite, one server", func(t *testing.T) {
		t.Parallel()
		killed(t, program, worldtest.SQLite(t), 1, testkit.Often(2, 10))
	})
	t.Run("postgres, two servers", func(t *testing.T) {
		t.Parallel()
		killed(t, program, worldtest.Postgres(t), 2, testkit.Often(2, 5))
	})
}

// killed kills one of several servers on a database again and again while clients roll back.
func killed(t *testing.T, program, database string, servers, kills int) {
	t.Helper()
	chance := seeded(t)
	w := worldtest.New(t, database)
	clients := make([]*roller, 8)
	for i, source := range targets(t, w, len(clients)) {
		clients[i] = &roller{client: newClient(t, w.Acme.Tokens[actor.Developer], 1), number: i, source: source}
	}
	// The file is to be the killed process's alone.
	if err := w.Store.Close(); err != nil {
		t.Fatal(err)
	}
	running := make([]*testkit.Server, servers)
	for i := range running {
		running[i] = serve(t, program, database)
	}
	begun := time.Now()
	for range kills {
		victim := chance.IntN(servers)
		round(t, clients, running, victim, 5+chance.Int32N(40), time.Duration(chance.Int64N(int64(20*time.Millisecond))))
		whole(t, w, clients)
		running[victim] = serve(t, program, database)
	}
	// What was never answered is asked for once more.
	for _, c := range clients {
		c.settle(t, running[0].API)
	}
	found := whole(t, w, clients)
	acknowledged, unanswered := 0, 0
	for _, c := range clients {
		acknowledged, unanswered = acknowledged+len(c.acknowledged), unanswered+c.unanswered
	}
	if unanswered == 0 && testkit.Proving() {
		t.Error("no request was in flight at any kill")
	}
	proved.note(t, begun, "%d kills: %d rollbacks acknowledged, %d unanswered at a kill, %d in the database, each whole",
		kills, acknowledged, unanswered, found)
}

// worker works on some servers until it is to stop or none of them answers, and says what was acknowledged.
type worker interface {
	work(t *testing.T, urls []string, stop <-chan struct{}, acknowledged func())
}

// round lets the clients work until one server was killed, a moment after so many acknowledgements, and
// those of the others have gone on for as many.
func round[W worker](t *testing.T, clients []W, running []*testkit.Server, victim int, acknowledgements int32, moment time.Duration) {
	t.Helper()
	var count atomic.Int32
	stop, first, second := make(chan struct{}), make(chan struct{}), make(chan struct{})
	acknowledged := func() {
		switch count.Add(1) {
		case acknowledgements:
			close(first)
		case 2 * acknowledgements:
			close(second)
		}
	}
	urls := make([]string, len(running))
	for i, p := range running {
		urls[i] = p.API
	}
	var all sync.WaitGroup
	for _, c := range clients {
		all.Go(func() { c.work(t, urls, stop, acknowledged) })
	}
	ended := make(chan struct{})
	go func() { all.Wait(); close(ended) }()
	either := func(c <-chan struct{}) {
		select {
		case <-c:
		case <-ended:
		}
	}
	either(first)
	<-time.After(moment) // anywhere in what the clients do then
	running[victim].Kill()
	either(second)
	close(stop)
	all.Wait()
}
