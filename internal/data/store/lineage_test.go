package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/data/store"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// chain makes a deployment and replays of it, each of the one before; the newest comes first.
func chain(t *testing.T, w *worldtest.World, o *worldtest.Org, p *worldtest.Fixture, replays int) []string {
	t.Helper()
	last := p.Succeeded(t)
	ids := []string{last.ID}
	for i := range replays {
		replay := []worldtest.Replaying{w.Deploy.Propose.Rollback, w.Deploy.Propose.Redeploy}[i%2]
		next, _, err := replay(o.As(actor.Developer), propose.Replay{SourceID: last.ID})
		if err != nil {
			t.Fatal(err)
		}
		last = p.Finish(t, next, nil)
		ids = append([]string{last.ID}, ids...)
	}
	return ids
}

func TestLineageGoesBackStepByStep(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ids := chain(t, w, w.Acme, w.Fixture(t, w.Acme, "web"), 4)
		theirs := chain(t, w, w.Globex, w.Fixture(t, w.Globex, "web"), 2)
		links := func(of string, ids ...string) (list []store.Link) {
			for _, id := range ids {
				list = append(list, store.Link{Of: of, ID: id})
			}
			return list
		}
		for name, c := range map[string]struct {
			of    []string
			depth int
			want  []store.Link
		}{
			"the whole line":         {ids[:1], 100, links(ids[0], ids[1:]...)},
			"its beginning":          {ids[:1], 2, links(ids[0], ids[1:3]...)},
			"from the middle":        {ids[2:3], 100, links(ids[2], ids[3:]...)},
			"what replays nothing":   {ids[4:], 100, nil},
			"several, by their ids":  {ids, 1, append(append(append(links(ids[3], ids[4]), links(ids[2], ids[3])...), links(ids[1], ids[2])...), links(ids[0], ids[1])...)},
			"another organization's": {theirs, 100, nil},
			"none":                   {nil, 100, nil},
		} {
			got, err := w.Store.Lineage(w.Acme.As(actor.Viewer), c.of, c.depth)
			if err != nil {
				t.Fatal(name, err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s: want (-), got (+):\n%s", name, diff)
			}
		}
	})
}

func TestLineageDoesNotGoThroughAnotherOrganization(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		mine := chain(t, w, w.Acme, w.Fixture(t, w.Acme, "web"), 1)
		theirs := w.Fixture(t, w.Globex, "web").Succeeded(t).ID
		// No service can make such a line.
		for _, c := range []struct {
			of       *worldtest.Org
			from, to string
		}{{w.Acme, mine[0], theirs}, {w.Globex, theirs, mine[1]}} {
			if _, err := w.Raw(t, c.of).ExecContext(t.Context(),
				`UPDATE deployments SET rollback_to_deployment_id = '`+c.to+`' WHERE id = '`+c.from+`'`); err != nil {
				t.Fatal(err)
			}
		}
		if links, err := w.Store.Lineage(w.Acme.As(actor.Viewer), mine, 100); err != nil || len(links) != 0 {
			t.Errorf("%v, %v", links, err)
		}
		if links, err := w.Store.Lineage(w.Globex.As(actor.Viewer), mine, 100); err != nil || len(links) != 0 {
			t.Errorf("another organization: %v, %v", links, err)
		}
	})
}

func TestLineageNeedsAnActor(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	if _, err := w.Store.Lineage(t.Context(), []string{"dep_1"}, 1); err == nil {
		t.Error("a lineage was read for nobody")
	}
}

func TestLineageOfACircleEnds(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ids := chain(t, w, w.Acme, w.Fixture(t, w.Acme, "web"), 1)
		if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(),
			`UPDATE deployments SET redeploy_of_deployment_id = '`+ids[0]+`' WHERE id = '`+ids[1]+`'`); err != nil {
			t.Fatal(err)
		}
		links, err := w.Store.Lineage(w.Acme.As(actor.Viewer), ids[:1], 100)
		if err != nil || len(links) != 100 {
			t.Errorf("%d links, %v", len(links), err)
		}
	})
}
