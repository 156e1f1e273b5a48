package feed_test

import (
	"fmt"
	"strings"
	"testing"

	"slipway/ent"
	entdeployment "slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/data/feed"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/view"
	"slipway/internal/test/worldtest"
)

// told returns the kinds and the statuses of the next n items.
func told(t *testing.T, items <-chan *feed.Item, n int) string {
	t.Helper()
	var words []string
	for range n {
		item := next(t, items)
		if item == nil || item.Err != nil {
			t.Fatalf("after %v comes %+v", words, item)
		}
		words = append(words, fmt.Sprint(item.Kind, " ", item.Deployment.Status))
	}
	return strings.Join(words, ", ")
}

func TestADeploymentThatLeavesAFilterIsToldOnce(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, ctx := w.Fixture(t, w.Acme, "web"), viewer(t, w.Acme)
		elsewhere := w.Fixture(t, w.Acme, "elsewhere")
		start := head(t, w, ctx)
		running := view.Filter{Statuses: []entdeployment.Status{entdeployment.StatusRUNNING}, ModuleInstanceID: &p.Instance.ID}
		live := follow(t, w, ctx, running, nil)
		// What cannot meet the filter is never told.
		elsewhere.Succeeded(t)
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		if got := told(t, live, 1); got != "LEFT PENDING" {
			t.Fatal(got)
		}
		lease := p.Claim(t, d)
		if got := told(t, live, 1); got != "UPDATED RUNNING" {
			t.Fatal(got)
		}
		done, err := w.Deploy.Execution.End(w.Acme.As(actor.Runner), d.ID, lease, execution.Completion{})
		if err != nil {
			t.Fatal(err)
		}
		if got := told(t, live, 1); got != "LEFT SUCCEEDED" {
			t.Fatal(got)
		}
		settle(t, w, ctx, done)
		// Who goes on after a cursor, also on another server, is told of what it may have known.
		far := worldtest.Another(t, w.DatabaseURL)
		resumed := follow(t, far, ctx, running, start)
		if got := told(t, resumed, 1); got != "LEFT SUCCEEDED" {
			t.Fatal(got)
		}
		// The next of both is of the next deployment: nothing was told twice.
		second := p.Deploy(t, p.Instance.ID, `{"image":"web:2"}`)
		for name, items := range map[string]<-chan *feed.Item{"live": live, "resumed": resumed} {
			if item := next(t, items); item == nil || item.Kind != feed.Left || item.Deployment.ID != second.ID {
				t.Errorf("%s: %+v", name, item)
			}
		}
	})
}

// What has left stays told while others leave, up to a number of them, and then is told once more.
func TestWhatHasLeftAFilterIsToldAgainOnlyWhenItWasForgotten(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		w.Deploy.View.Feed.SetMaxLeft(1)
		p, ctx, runner := w.Fixture(t, w.Acme, "web"), viewer(t, w.Acme), w.Acme.As(actor.Runner)
		other := w.Fixture(t, w.Acme, "other")
		pending := follow(t, w, ctx, view.Filter{Statuses: []entdeployment.Status{entdeployment.StatusPENDING}}, nil)
		all := follow(t, w, ctx, view.Filter{}, nil)
		report := func(d *ent.Deployment, lease string) {
			t.Helper()
			if _, _, err := w.Deploy.Execution.Report(runner, d.ID, lease, execution.Report{ResourceName: new("web")}); err != nil {
				t.Fatal(err)
			}
			next(t, all) // so it was sent to everybody
		}
		start := func(p *worldtest.Fixture) (*ent.Deployment, string) {
			t.Helper()
			d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
			next(t, all)
			lease := p.Claim(t, d)
			next(t, all)
			if got := told(t, pending, 2); got != "CREATED PENDING, LEFT RUNNING" {
				t.Fatal(got)
			}
			return d, lease
		}
		first, lease := start(p)
		report(first, lease)
		report(first, lease)
		start(other) // of the first nothing came before it, and now it is forgotten
		report(first, lease)
		if item := next(t, pending); item == nil || item.Kind != feed.Left || item.Deployment.ID != first.ID {
			t.Errorf("%+v, want that the first has left", item)
		}
	})
}
