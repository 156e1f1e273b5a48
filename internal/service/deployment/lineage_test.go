package deployment_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/data/page"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// chain makes a deployment and replays of it, each of the one before; the newest comes first.
func chain(t *testing.T, w *worldtest.World, p *worldtest.Fixture, replays int) []string {
	t.Helper()
	last := p.Succeeded(t)
	ids := []string{last.ID}
	for i := range replays {
		replay := []worldtest.Replaying{w.Deploy.Propose.Rollback, w.Deploy.Propose.Redeploy}[i%2]
		next, _, err := replay(w.Acme.As(actor.Developer), propose.Replay{SourceID: last.ID})
		if err != nil {
			t.Fatal(err)
		}
		last = p.Finish(t, next, nil)
		ids = slices.Insert(ids, 0, last.ID)
	}
	return ids
}

func TestLineageIsTheWayBackToTheFirst(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		short := chain(t, w, p, 4)
		long := chain(t, w, p, 120)
		// Another's replay of the same target is no part of a line.
		side, _, err := w.Deploy.Propose.Redeploy(w.Acme.As(actor.Developer), propose.Replay{SourceID: short[3]})
		if err != nil {
			t.Fatal(err)
		}
		for of, want := range map[string][]string{
			short[0]: short[1:], short[3]: short[4:], short[4]: {}, side.ID: short[3:],
			long[0]: long[1:101], long[20]: long[21:121], long[30]: long[31:],
		} {
			r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], `query($id: ID!) { deployment(id: $id) { lineage(first: 100) { nodes { id } } } }`, map[string]any{"id": of})
			list, ok := r.At(t, "data", "deployment", "lineage", "nodes").([]any)
			got := []string{}
			for i := range list {
				got = append(got, r.Text(t, "data", "deployment", "lineage", "nodes", i, "id"))
			}
			if diff := cmp.Diff(want, got); !ok || diff != "" {
				t.Errorf("want (-), got (+):\n%s%.300s", diff, r.Body)
			}
		}
	})
}

func TestLineagesAreReadTogether(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ids := chain(t, w, w.Fixture(t, w.Acme, "web"), 4)
		for _, of := range [][]string{ids[:1], ids} {
			var lines map[string]*page.DeploymentConnection
			var err error
			ran := w.Statements(func() { lines, err = w.Deploy.View.LineagesOf(w.Acme.As(actor.Viewer), of, page.Args{}) })
			if err != nil || len(ran) != 2 {
				t.Errorf("%d: %v, %d statements:\n%s", len(of), err, len(ran), strings.Join(ran, "\n"))
			}
			for i, id := range of {
				if n := len(lines[id].Nodes()); n != len(ids)-1-i {
					t.Errorf("%s: %d", id, n)
				}
			}
		}
		lines, err := w.Deploy.View.LineagesOf(w.Globex.As(actor.Admin), ids, page.Args{})
		if err != nil {
			t.Fatal(err)
		}
		for id, line := range lines {
			if seen := line.Nodes(); len(seen) != 0 {
				t.Errorf("another organization sees of %s %v", id, seen)
			}
		}
	})
}

func TestAPageAsksForReplaysAsOftenAsOneDeployment(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		for i := range 10 {
			target := p.Finish(t, p.Deploy(t, p.NewInstance(t, fmt.Sprintf("web-%d", i)).ID, `{"image":"web:1"}`), nil)
			again, _, err := w.Deploy.Propose.Rollback(w.Acme.As(actor.Developer), propose.Replay{SourceID: target.ID})
			if err != nil {
				t.Fatal(err)
			}
			// What blocks is claimed, so that nothing waits for the next.
			p.Claim(t, again)
		}
		const query = `query($n: Int!) { deployments(first: $n) { nodes { id lineage { nodes { id } }
			rollbackEligibility { allowed refusal { code } blockedBy { id } } redeployEligibility { refusal { code } blockedBy { id } } } } }`
		w.GraphQL(t, w.Acme.Tokens[actor.Developer], `{ viewer { tokenId } }`, nil)
		for _, n := range []int{1, 2, 20} {
			var r worldtest.Response
			ran := w.Statements(func() { r = w.GraphQL(t, w.Acme.Tokens[actor.Developer], query, map[string]any{"n": n}) })
			if len(ran) != 6 {
				t.Errorf("%d statements for %d deployments, want 6:\n%s", len(ran), n, strings.Join(ran, "\n"))
			}
			for i := range n {
				at := []any{"data", "deployments", "nodes", i, "redeployEligibility"}
				if r.Text(t, append(at, "refusal", "code")...) != "slipway:Deployment:IN_PROGRESS" || r.Text(t, append(at, "blockedBy", "id")...) == "" {
					t.Errorf("%d: %.500s", i, r.Body)
				}
			}
		}
	})
}
