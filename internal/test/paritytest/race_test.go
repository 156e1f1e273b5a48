package paritytest_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/test/worldtest"
)

const racers = 200

func TestOneOfManyReplaysAtOnceWinsOnTwoServersOfOnePostgreSQL(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t))
	raced(t, w, w, worldtest.Another(t, w.DatabaseURL))
}

func TestOneOfManyReplaysAtOnceWinsOnSQLite(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	raced(t, w, w)
}

// raced lets everybody roll back and redeploy one instance at once, over both surfaces of every server,
// and wants one to win and all others to be answered with the winner.
func raced(t *testing.T, w *worldtest.World, servers ...*worldtest.World) {
	t.Helper()
	p, developer := w.Fixture(t, w.Acme, "web"), w.Acme.Tokens[actor.Developer]
	source := p.Succeeded(t)
	answers := make([]worldtest.Response, racers)
	var start, all sync.WaitGroup
	start.Add(1)
	for i := range racers {
		all.Go(func() {
			o, server := []operation{rollback, redeploy}[i%2], servers[i/4%len(servers)]
			start.Wait()
			if i/2%2 == 0 {
				answers[i] = o.rest(t, server, developer, source.ID, "")
			} else {
				answers[i] = o.graphQL(t, server, developer, source.ID, "")
			}
		})
	}
	start.Done()
	all.Wait()

	active, err := w.Store.Client.Deployment.Query().Where(deployment.CompletedAtIsNil()).All(w.Acme.As(actor.Viewer))
	if err != nil || len(active) != 1 {
		t.Fatalf("active deployments %v, error %v, want one", active, err)
	}
	won := 0
	for i, r := range answers {
		found := r.Refusal(t)
		if found == nil {
			won++
			continue
		}
		if i/2%2 == 0 && r.Status != 409 {
			t.Errorf("REST: status %d: %s", r.Status, r.Body)
		}
		if found["code"] != string(fault.DeploymentInProgress) {
			t.Errorf("refused with %s", r.Body)
			continue
		}
		names(t, found, active[0].ID)
	}
	if won != 1 {
		t.Errorf("%d replays were accepted, want 1", won)
	}
	if n, err := w.Store.Client.Deployment.Query().Count(w.Acme.As(actor.Viewer)); err != nil || n != 2 {
		t.Errorf("%s deployments, error %v, want the source and the winner", fmt.Sprint(n), err)
	}
}

// names wants a refusal to name the deployment that is in the way, for people, for programs and as a
// link.
func names(t *testing.T, refusal map[string]any, blocker string) {
	t.Helper()
	metadata, _ := refusal["metadata"].(map[string]any)
	by, _ := metadata["blockedBy"].(map[string]any)
	action, _ := refusal["action"].(map[string]any)
	if by["deploymentId"] != blocker || by["startedBy"] == nil || by["createdAt"] == nil {
		t.Errorf("metadata does not name %s: %v", blocker, metadata)
	}
	if !strings.Contains(fmt.Sprint(action["url"]), blocker) || !strings.Contains(fmt.Sprint(refusal["details"]), blocker) {
		t.Errorf("action and details do not name %s: %v", blocker, refusal)
	}
}
