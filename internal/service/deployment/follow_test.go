package deployment_test

import (
	"context"
	"testing"
	"time"

	entdeployment "slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/data/feed"
	"slipway/internal/pure/event"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// next returns the next change that is followed, nil if there will be none.
func next(t *testing.T, changes <-chan *feed.Item) *feed.Item {
	t.Helper()
	select {
	case c := <-changes:
		return c
	case <-time.After(testkit.Patience):
		t.Fatal("nothing comes")
		return nil
	}
}

// wantNext wants the next change to be that of a version: the first creates the deployment, and one with which it has
// ended completes it.
func wantNext(t *testing.T, changes <-chan *feed.Item, status entdeployment.Status, version int32) {
	t.Helper()
	c := next(t, changes)
	if c == nil || c.Err != nil || c.Deployment.Status != status || c.Version != version || c.Deployment.Version != version {
		t.Fatalf("%+v, want %s in version %d", c, status, version)
	}
	kind := feed.Updated
	switch {
	case version == 1:
		kind = feed.Created
	case c.Deployment.CompletedAt != nil:
		kind = feed.Completed
	}
	if c.Kind != kind {
		t.Errorf("version %d is %s, want %s", version, c.Kind, kind)
	}
}

func TestADeploymentIsFollowedToItsEnd(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, runner := w.Fixture(t, w.Acme, "web"), w.Acme.As(actor.Runner)
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		changes, err := w.Deploy.View.Follow(w.Acme.As(actor.Viewer), d.ID, nil)
		if err != nil {
			t.Fatal(err)
		}
		wantNext(t, changes, "PENDING", 1)
		lease := p.Claim(t, d)
		wantNext(t, changes, "RUNNING", 2)
		// A renewal is no change: the report after it is the next.
		if _, _, err := w.Deploy.Execution.RenewLease(runner, d.ID, lease); err != nil {
			t.Fatal(err)
		}
		if _, _, err := w.Deploy.Execution.Report(runner, d.ID, lease, execution.Report{Events: []event.Event{{Message: new("a")}}}); err != nil {
			t.Fatal(err)
		}
		wantNext(t, changes, "RUNNING", 3)
		if _, err := w.Deploy.Execution.End(runner, d.ID, lease, execution.Completion{}); err != nil {
			t.Fatal(err)
		}
		wantNext(t, changes, "SUCCEEDED", 4)
		if c := next(t, changes); c != nil {
			t.Errorf("%+v after the end", c)
		}
		// What has ended is given once.
		if changes, err = w.Deploy.View.Follow(w.Acme.As(actor.Viewer), d.ID, nil); err != nil {
			t.Fatal(err)
		}
		wantNext(t, changes, "SUCCEEDED", 4)
		if c := next(t, changes); c != nil {
			t.Errorf("%+v after the end", c)
		}
	})
}

func TestChangesThatComeTooFastAreFollowedAsOne(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		changes, err := w.Deploy.View.Follow(w.Acme.As(actor.Viewer), d.ID, nil)
		if err != nil {
			t.Fatal(err)
		}
		p.Finish(t, d, broken)
		// A record may be newer than the change it came with, and then come again with a later one.
		var versions, records []int32
		var last *feed.Item
		for c := next(t, changes); c != nil; c = next(t, changes) {
			last = c
			versions, records = append(versions, c.Version), append(records, c.Deployment.Version)
			if c.Deployment.Version < c.Version {
				t.Errorf("with version %d came the record of version %d", c.Version, c.Deployment.Version)
			}
		}
		for i := range versions[1:] {
			if versions[i] >= versions[i+1] || records[i] > records[i+1] {
				t.Errorf("the versions came as %v, the records as %v", versions, records)
			}
		}
		if last.Kind != "COMPLETED" || last.Deployment.Status != "FAILED" || last.Deployment.Error == nil {
			t.Errorf("the last is %+v", last)
		}
	})
}

func TestWhatCannotBeReadCannotBeFollowed(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		d := w.Fixture(t, w.Acme, "web").Succeeded(t)
		for name, c := range map[string]struct {
			ctx  context.Context
			id   string
			code fault.Code
		}{
			"absent":    {w.Acme.As(actor.Viewer), id.New(id.Deployment), fault.DeploymentNotFound},
			"no id":     {w.Acme.As(actor.Viewer), "x", fault.DeploymentNotFound},
			"foreign":   {w.Globex.As(actor.Admin), d.ID, fault.DeploymentNotFound},
			"anonymous": {actor.With(t.Context(), actor.Anonymous()), d.ID, fault.RequestUnauthenticated},
		} {
			if changes, err := w.Deploy.View.Follow(c.ctx, c.id, nil); changes != nil || !fault.Is(err, c.code) {
				t.Errorf("%s: %v, want %s", name, err, c.code)
			}
		}
	})
}

func TestFollowingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		for _, taken := range []bool{true, false} {
			ctx, cancel := context.WithCancel(w.Acme.As(actor.Viewer))
			changes, err := w.Deploy.View.Follow(ctx, d.ID, nil)
			if err != nil {
				t.Fatal(err)
			}
			if taken {
				wantNext(t, changes, "PENDING", 1)
			}
			cancel()
			// The first may have been on its way. The channel is closed by the last act of who follows.
			c := next(t, changes)
			if c != nil && !taken && c.Err == nil {
				c = next(t, changes)
			}
			if c != nil {
				t.Errorf("%+v after the context's end", c)
			}
		}
	})
}

func TestChangesByAnotherServerAreSeen(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		elsewhere := worldtest.Another(t, w.DatabaseURL)
		p := w.Fixture(t, w.Acme, "web")
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		changes, err := w.Deploy.View.Follow(w.Acme.As(actor.Viewer), d.ID, nil)
		if err != nil {
			t.Fatal(err)
		}
		wantNext(t, changes, "PENDING", 1)
		if _, err := elsewhere.Deploy.Execution.Cancel(w.Acme.As(actor.Developer), d.ID, nil); err != nil {
			t.Fatal(err)
		}
		wantNext(t, changes, "CANCELED", 2)
		if c := next(t, changes); c != nil {
			t.Errorf("%+v after the end", c)
		}
	})
}

func TestADeploymentThatHasNotChangedIsNotTold(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, runner := w.Fixture(t, w.Acme, "web"), w.Acme.As(actor.Runner)
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		lease := p.Claim(t, d)
		changes, err := w.Deploy.View.Follow(w.Acme.As(actor.Viewer), d.ID, nil)
		if err != nil {
			t.Fatal(err)
		}
		wantNext(t, changes, "RUNNING", 2)
		for version := range int32(20) {
			// Woken for nothing, the feed looks while the next change is being written.
			w.Deploy.View.Feed.Changed(d)
			if _, _, err := w.Deploy.Execution.Report(runner, d.ID, lease, execution.Report{Events: []event.Event{{Message: new("a")}}}); err != nil {
				t.Fatal(err)
			}
			wantNext(t, changes, "RUNNING", version+3)
		}
	})
}
