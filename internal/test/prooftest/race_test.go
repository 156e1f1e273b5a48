package prooftest_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

func TestRaceOfRollbacksHasOneWinnerOfEachInstance(t *testing.T) {
	t.Parallel()
	t.Run("sqlite, one server", func(t *testing.T) {
		t.Parallel()
		w := worldtest.New(t, worldtest.SQLite(t))
		raced(t, w, w.URL)
	})
	t.Run("postgres, two servers", func(t *testing.T) {
		t.Parallel()
		w := worldtest.New(t, worldtest.Postgres(t))
		raced(t, w, w.URL, worldtest.Another(t, w.DatabaseURL).URL)
	})
}

// raced lets many roll back each instance at once.
func raced(t *testing.T, w *worldtest.World, urls ...string) {
	t.Helper()
	instances, racers := testkit.Often(5, 50), testkit.Often(40, 200)
	sources := targets(t, w, instances)
	c := newClient(t, w.Acme.Tokens[actor.Developer], racers)
	begun := time.Now()
	won, refused := 0, 0
	for _, source := range sources {
		winner, losers := race(t, c, source, racers, urls)
		if winner == "" {
			continue
		}
		won, refused = won+1, refused+losers
		target := w.Store.Client.Deployment.GetX(w.Acme.As(actor.Viewer), source)
		active := w.Store.Client.Deployment.Query().
			Where(deployment.ModuleInstanceID(target.ModuleInstanceID), deployment.CompletedAtIsNil()).AllX(w.Acme.As(actor.Viewer))
		if len(active) != 1 || active[0].ID != winner {
			t.Errorf("active are %v, answered was %s", active, winner)
		}
	}
	if want := instances * (racers - 1); won != instances || refused != want {
		t.Errorf("%d won and %d were refused, want %d and %d", won, refused, instances, want)
	}
	proved.note(t, begun, "%d instances x %d rollbacks: %d active, %d x 409", instances, racers, won, refused)
}

// race sends equal rollbacks to one instance at once, and returns the winner's deployment and how many were
// refused for it.
func race(t *testing.T, c *client, source string, racers int, urls []string) (winner string, losers int) {
	t.Helper()
	answers := make([]answer, racers)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() {
			<-start
			a, err := c.send(t.Context(), urls[i%len(urls)], request{source: source})
			if err != nil {
				t.Error(err)
			}
			answers[i] = a
		})
	}
	close(start)
	all.Wait()
	for _, a := range answers {
		if a.status == http.StatusCreated {
			if winner != "" {
				t.Errorf("%s and %s both won", winner, a.id)
			}
			winner = a.id
		}
	}
	for _, a := range answers {
		switch {
		case a.status == http.StatusCreated:
		case a.status != http.StatusConflict || a.code != string(fault.DeploymentInProgress) || a.blocker != winner:
			t.Errorf("%s won, another was answered %d: %s", winner, a.status, a.body)
		default:
			losers++
		}
	}
	return winner, losers
}
