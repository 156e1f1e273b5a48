package prooftest_test

import (
	"context"
	"fmt"
	"os/exec"
	"sync"
	"testing"
	"time"

	"slipway/internal/base/actor"
	gates "slipway/internal/pure/gate"
	"slipway/internal/service/account"
	"slipway/internal/service/rule"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// TestHostileRefusalsHoldUpNobody has one token ask for rollbacks on 64 connections, each of which 190 rules refuse. Another
// tenant's reads take at most ten times as long as they take while the same token reads on 64 connections.
func TestHostileRefusalsHoldUpNobody(t *testing.T) {
	t.Parallel()
	program := built.Path(t)
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		refused(t, program, worldtest.SQLite(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		refused(t, program, worldtest.Postgres(t))
	})
}

func refused(t *testing.T, program, database string) {
	t.Helper()
	const conns, hourRules = 64, 190
	rounds := testkit.Often(3, 40)
	w := worldtest.New(t, database)
	source := w.Fixture(t, w.Globex, "web").Succeeded(t).ID
	w.Fixture(t, w.Acme, "web").Succeeded(t)
	disagree(t, w, hourRules)
	token := w.Token(t, w.Globex, account.NewToken{Name: "hostile", Role: actor.Admin})
	must(t, w.Store.Close()) // the file is to be the server's alone

	begun := time.Now()
	c := exec.CommandContext(t.Context(), program, "serve", "--database", database, "--listen", "127.0.0.1:0", "--admin-listen", "", "--log-format", "json")
	c.Env = []string{}
	v := &neighbour{tokens: w.Acme.Tokens}
	v.url = testkit.Serve(t, c).API

	other := newClient(t, token, conns)
	plain := v.beside(t, other, conns, rounds, map[string]any{"query": neighbourly})
	hostile := v.beside(t, other, conns, rounds, map[string]any{"query": rollbackDocument, "variables": map[string]any{"id": source}})
	quick, slow := median(plain), median(hostile)
	if testkit.Proving() && slow > 10*quick {
		t.Errorf("a read takes %s beside %d connections that are refused, and %s beside as many that read", slow, conns, quick)
	}
	proved.note(t, begun, "a read beside %d connections of refused rollbacks under %d rules %s, beside as many of reads %s", conns, hourRules, slow, quick)
}

// disagree makes rules that are never open at the same time.
func disagree(t *testing.T, w *worldtest.World, n int) {
	t.Helper()
	zones := []string{"Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "America/St_Johns", "Pacific/Chatham", "Africa/Casablanca"}
	admin := w.Globex.As(actor.Admin)
	for i := range n {
		hours := &gates.Hours{TimeZone: zones[i%len(zones)]}
		for k := range 14 {
			from := k*100 + i%50*2
			hours.Spans = append(hours.Spans, gates.Span{Days: gates.Weekdays, From: clockAt(from), To: clockAt(from + 1)})
		}
		_, _, err := w.Rules.Create(admin, rule.New{Name: fmt.Sprint("hours ", i), Operations: []gates.Operation{gates.Rollback}, Demand: gates.Demand{Kind: hours}})
		must(t, err)
	}
}

func clockAt(minute int) string { return fmt.Sprintf("%02d:%02d", minute/60, minute%60) }

const neighbourly = `{ deployments(first: 10) { nodes { id status release { inputs } } } }`

// beside returns how long reads take, one after the other, while a client asks for an operation on some connections.
func (v *neighbour) beside(t *testing.T, other *client, conns, rounds int, operation map[string]any) (took []time.Duration) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var sending sync.WaitGroup
	defer sending.Wait()
	defer stop()
	answered := make(chan struct{}, conns)
	for range conns {
		sending.Go(func() {
			for first := true; ctx.Err() == nil; first = false {
				_, err := other.post(ctx, v.url+"/graphql", mustJSON(operation))
				if err != nil && ctx.Err() == nil {
					t.Error(err)
				}
				if first {
					answered <- struct{}{}
				}
			}
		})
	}
	for range conns {
		<-answered
	}
	for range rounds {
		begun := time.Now()
		v.ask(t, actor.Viewer, neighbourly, &struct{}{})
		took = append(took, time.Since(begun))
	}
	return took
}
