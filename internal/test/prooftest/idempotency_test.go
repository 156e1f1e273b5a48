package prooftest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

func TestIdempotencyKeyMakesOneDeploymentHoweverOftenItIsSent(t *testing.T) {
	t.Parallel()
	t.Run("sqlite, one server", func(t *testing.T) {
		t.Parallel()
		w := worldtest.New(t, worldtest.SQLite(t))
		repeated(t, w, w.URL)
	})
	t.Run("postgres, two servers", func(t *testing.T) {
		t.Parallel()
		w := worldtest.New(t, worldtest.Postgres(t))
		repeated(t, w, w.URL, worldtest.Another(t, w.DatabaseURL).URL)
	})
}

// repeated sends the request of each key often and at once, over both surfaces; half of the callers lose
// their patience.
func repeated(t *testing.T, w *worldtest.World, urls ...string) {
	t.Helper()
	chance := seeded(t)
	keys, times := testkit.Often(5, 100), testkit.Often(22, 110)
	sources := targets(t, w, keys)
	c := newClient(t, w.Acme.Tokens[actor.Developer], times)
	before, begun := w.Rows(t), time.Now()
	answered, gone, patience := 0, 0, 50*time.Millisecond
	for i, source := range sources {
		calls := calls(chance, times, urls, patience)
		for j := range calls {
			calls[j].source, calls[j].key = source, fmt.Sprintf("key-%d", i)
		}
		sent := time.Now()
		a, g := repeat(t, c, calls)
		// The next ones give up at any time that the last ones took.
		answered, gone, patience = answered+a, gone+g, time.Since(sent)
	}
	rows := w.Rows(t)
	for _, table := range []string{"deployments", "idempotency_keys", "audit_events", "deployment_changes"} {
		if made := rows[table] - before[table]; made != keys {
			t.Errorf("%d rows of %s were written, want %d", made, table, keys)
		}
	}
	proved.note(t, begun, "%d keys x %d requests: %d deployments, %d answered alike, %d canceled by the caller",
		keys, times, rows["deployments"]-before["deployments"], answered, gone)
}

// call is a request that may be given up.
type call struct {
	request
	url string
	// patience is how long its caller waits, 0 for as long as it takes.
	patience time.Duration
}

// calls makes calls to all servers over both surfaces; every second caller gives up within a time.
func calls(chance *rand.Rand, n int, urls []string, within time.Duration) []call {
	list := make([]call, n)
	for i := range list {
		list[i] = call{url: urls[chance.IntN(len(urls))], request: request{graphQL: chance.IntN(2) == 0}}
		if i%2 == 0 {
			list[i].patience = 1 + time.Duration(chance.Int64N(int64(within)))
		}
	}
	return list
}

// repeat makes equal calls at once and counts those that were answered, all with one deployment, and
// those whose callers have gone.
func repeat(t *testing.T, c *client, calls []call) (answered, gone int) {
	t.Helper()
	answers := make([]answer, len(calls))
	start := make(chan struct{})
	var all sync.WaitGroup
	for i, q := range calls {
		all.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			<-start
			if q.patience > 0 {
				timer := time.AfterFunc(q.patience, cancel)
				defer timer.Stop()
			}
			a, err := c.send(ctx, q.url, q.request)
			if err != nil && ctx.Err() == nil {
				t.Error(err)
			}
			answers[i] = a
		})
	}
	close(start)
	all.Wait()
	made := ""
	for i, a := range answers {
		switch {
		case a.status == 0 && calls[i].patience > 0:
			gone++
		case !a.made() || made != "" && a.id != made:
			t.Errorf("%s: answered %d, made before was %q: %s", calls[i].key, a.status, made, a.body)
		default:
			made = a.id
			answered++
		}
	}
	return answered, gone
}
