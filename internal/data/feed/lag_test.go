package feed_test

import (
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/service/deployment/view"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// A transaction that somebody leaves open holds back the changes that come after it.
func TestTheFeedLagsWhileATransactionHoldsAChangeBack(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t))
	if lag := w.Deploy.View.Feed.Lag(); lag != 0 {
		t.Errorf("the lag is %s where nobody follows", lag)
	}
	p := w.Fixture(t, w.Acme, "shop")
	followed, err := w.Deploy.View.FollowAll(w.Acme.As(actor.Viewer), view.Filter{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for range followed { // what comes is not what this is about
		}
	}()
	open, err := w.Raw(t, w.Acme).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open.ExecContext(t.Context(), "SELECT pg_current_xact_id()"); err != nil {
		t.Fatal(err)
	}
	p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
	first := w.Deploy.View.Feed.Lag()
	testkit.Eventually(t, "the lag grows", func() bool {
		lag := w.Deploy.View.Feed.Lag()
		grown := first > 0 && lag > first
		first = lag
		return grown
	})
	if err := open.Rollback(); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the lag ends", func() bool { return w.Deploy.View.Feed.Lag() == 0 })
}
