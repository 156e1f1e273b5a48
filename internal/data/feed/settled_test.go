package feed_test

import (
	"context"
	"database/sql"
	"testing"

	"slipway/internal/data/feed"
	"slipway/internal/service/deployment/view"
	"slipway/internal/test/worldtest"
)

// transaction is one of PostgreSQL that has its place in the order already, and has not ended.
type transaction struct{ *sql.Tx }

func begin(t *testing.T, w *worldtest.World) transaction {
	t.Helper()
	tx, err := w.Raw(t, w.Acme).BeginTx(context.WithoutCancel(t.Context()), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback() })
	if _, err := tx.ExecContext(t.Context(), `SELECT pg_current_xact_id()`); err != nil {
		t.Fatal(err)
	}
	return transaction{tx}
}

// change leaves the row of a change of a deployment.
func (tx transaction) change(t *testing.T, deploymentID string, version int32, kind string) {
	t.Helper()
	if _, err := tx.ExecContext(t.Context(), `INSERT INTO deployment_changes (organization_id, deployment_id, version, kind, created_at)
		SELECT organization_id, id, $2, $3, now() FROM deployments WHERE id = $1`, deploymentID, version, kind); err != nil {
		t.Fatal(err)
	}
}

func (tx transaction) commit(t *testing.T) {
	t.Helper()
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// of returns the items of a deployment.
func of(deploymentID string, list []*feed.Item) (own []*feed.Item) {
	for _, item := range list {
		if item.Err != nil || item.Deployment.ID == deploymentID {
			own = append(own, item)
		}
	}
	return own
}

func TestAChangeThatIsCommittedLateIsNotLost(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t))
	p, ctx := w.Fixture(t, w.Acme, "web"), viewer(t, w.Acme)
	changed := p.Succeeded(t)
	settle(t, w, ctx, changed)
	start := head(t, w, ctx)
	far := worldtest.Another(t, w.DatabaseURL)
	live := follow(t, far, ctx, view.Filter{}, nil)
	until(t, live, p.Succeeded(t).ID) // by now nobody is woken because the reader begins
	settledStart := head(t, w, ctx)

	late := begin(t, w)
	late.change(t, changed.ID, 4, "UPDATED")
	created, stop := far.Deploy.View.Feed.WatchPending(w.Acme.ID)
	defer stop()
	d := p.Succeeded(t)
	receive(t, created) // the far server has looked at what came later
	resumed := map[string]<-chan *feed.Item{
		"resumed":              follow(t, far, ctx, view.Filter{}, settledStart),
		"resumed from further": follow(t, far, ctx, view.Filter{}, start),
	}
	if last := *head(t, w, ctx); last != *settledStart {
		t.Errorf("the cursor of a list moves to %s, past a change that is not committed", last)
	}
	late.commit(t)
	resumed["live"] = live
	for name, items := range resumed {
		if got := story(of(changed.ID, until(t, items, d.ID))); got != "UPDATED4" {
			t.Errorf("%s: %q came of what was changed late", name, got)
		}
	}
}

func TestAVersionThatWasPassedDoesNotComeLater(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t))
	p, ctx := w.Fixture(t, w.Acme, "web"), viewer(t, w.Acme)
	changed := p.Deploy(t, p.NewInstance(t, "worker").ID, `{"image":"web:1"}`)
	w.Cancel(t, w.Acme, changed.ID)
	changed.Version = 2
	settle(t, w, ctx, changed)
	live := follow(t, w, ctx, view.Filter{}, nil)

	// Of three transactions that began in this order, the last makes version 3, then the first version 4.
	first, middle, last := begin(t, w), begin(t, w), begin(t, w)
	last.change(t, changed.ID, 3, "COMPLETED")
	last.commit(t)
	first.change(t, changed.ID, 4, "UPDATED")
	first.commit(t)
	passed, passing := next(t, live), next(t, live)
	if got := story([]*feed.Item{passed, passing}); got != "COMPLETED3 UPDATED4" {
		t.Fatalf("%s came", got)
	}
	middle.commit(t)
	d := p.Succeeded(t)
	for name, c := range map[string]struct {
		items <-chan *feed.Item
		want  string
	}{
		"live":                               {live, ""},
		"behind the version that was passed": {follow(t, w, ctx, view.Filter{}, &passed.Cursor), "UPDATED4"},
		"behind the version that passed it":  {follow(t, w, ctx, view.Filter{}, &passing.Cursor), ""},
	} {
		if got := story(of(changed.ID, until(t, c.items, d.ID))); got != c.want {
			t.Errorf("%s: %q came, want %q", name, got, c.want)
		}
	}
}
