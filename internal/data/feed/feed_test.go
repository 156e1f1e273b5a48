package feed_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/feed"
	"slipway/internal/pure/feedcursor"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/view"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// next returns the next item, nil if there will be none.
func next(t *testing.T, items <-chan *feed.Item) *feed.Item {
	t.Helper()
	select {
	case item := <-items:
		return item
	case <-time.After(testkit.Patience):
		t.Fatal("nothing comes")
		return nil
	}
}

// receive waits until somebody who waits is woken.
func receive[T any](t *testing.T, woken <-chan T) (item T) {
	t.Helper()
	select {
	case item = <-woken:
	case <-time.After(testkit.Patience):
		t.Fatal("nobody is woken")
	}
	return item
}

// until returns the items until the one that completed a deployment, or an error.
func until(t *testing.T, items <-chan *feed.Item, completed string) (list []*feed.Item) {
	t.Helper()
	for item := next(t, items); item != nil; item = next(t, items) {
		list = append(list, item)
		if item.Err != nil || item.Kind == "COMPLETED" && item.Deployment.ID == completed {
			break
		}
	}
	return list
}

// story is the kinds and versions of items.
func story(list []*feed.Item) string {
	var words []string
	for _, item := range list {
		if item.Err != nil {
			words = append(words, item.Err.Error())
			continue
		}
		words = append(words, fmt.Sprint(item.Kind, item.Version))
	}
	return strings.Join(words, " ")
}

func head(t *testing.T, w *worldtest.World, ctx context.Context) *string {
	t.Helper()
	c, err := w.Deploy.View.Feed.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return new(c.String())
}

func follow(t *testing.T, w *worldtest.World, ctx context.Context, f view.Filter, after *string) <-chan *feed.Item {
	t.Helper()
	items, err := w.Deploy.View.FollowAll(ctx, f, after)
	if err != nil {
		t.Fatal(err)
	}
	return items
}

// viewer returns a context of a viewer that ends with the test.
func viewer(t *testing.T, o *worldtest.Org) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(o.As(actor.Viewer))
	t.Cleanup(cancel)
	return ctx
}

// settle waits until every change of a deployment is settled: on PostgreSQL a transaction of another test, which shares
// the cluster, may keep them waiting. Who reads them together gets them together then, and who follows from then on gets
// none of them.
func settle(t *testing.T, w *worldtest.World, ctx context.Context, d *ent.Deployment) {
	t.Helper()
	testkit.Eventually(t, "the changes are settled", func() bool {
		last, err := w.Store.LastChange(ctx)
		return err == nil && last != nil && last.DeploymentID == d.ID && last.Version == d.Version
	})
}

func TestWhatWasMissedComesWithACursor(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, ctx := w.Fixture(t, w.Acme, "web"), viewer(t, w.Acme)
		start := head(t, w, ctx)
		live := follow(t, w, ctx, view.Filter{}, nil)
		first := p.Succeeded(t)
		seen := until(t, live, first.ID)
		if !strings.HasPrefix(story(seen), "CREATED1 ") || !strings.HasSuffix(story(seen), " COMPLETED3") {
			t.Fatal(story(seen))
		}
		settle(t, w, ctx, first)
		// From the start, on another server: the versions between may be left out.
		far := worldtest.Another(t, w.DatabaseURL)
		if got := story(until(t, follow(t, far, ctx, view.Filter{}, start), first.ID)); got != "CREATED1 COMPLETED3" {
			t.Errorf("from the start came %s", got)
		}
		// From each item, exactly what comes after it, and then what is new.
		second := p.Failed(t)
		for i, item := range seen {
			got := until(t, follow(t, far, ctx, view.Filter{}, &item.Cursor), second.ID)
			for len(got) > 0 && got[0].Deployment.ID == first.ID {
				if got[0].Version <= item.Version {
					t.Errorf("behind version %d came version %d", item.Version, got[0].Version)
				}
				if i == len(seen)-1 {
					t.Errorf("behind the last came %s", story(got[:1]))
				}
				got = got[1:]
			}
			if s := story(got); !strings.HasPrefix(s, "CREATED1 ") || !strings.HasSuffix(s, " COMPLETED3") {
				t.Errorf("of the second came %s", s)
			}
		}
	})
}

func TestOneDeploymentIsFollowedFromACursorToItsEnd(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, ctx := w.Fixture(t, w.Acme, "web"), viewer(t, w.Acme)
		start := head(t, w, ctx)
		d := p.Succeeded(t)
		p.Failed(t) // of another, which is not followed
		items, err := w.Deploy.View.Follow(ctx, d.ID, start)
		if err != nil {
			t.Fatal(err)
		}
		all := until(t, items, d.ID)
		if s := story(all); !strings.HasPrefix(s, "CREATED1") || !strings.HasSuffix(s, "COMPLETED3") || next(t, items) != nil {
			t.Errorf("from the start came %s", s)
		}
		// Behind its end there is nothing, and the stream ends.
		items, err = w.Deploy.View.Follow(ctx, d.ID, &all[len(all)-1].Cursor)
		if err != nil {
			t.Fatal(err)
		}
		if item := next(t, items); item != nil {
			t.Errorf("behind the end came %+v", item)
		}
	})
}

func TestOnlyOnesOwnAndWhatFitsIsFollowed(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		mine, theirs := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Globex, "web")
		other := mine.NewInstance(t, "worker")
		ctx := viewer(t, w.Acme)
		start := head(t, w, ctx)
		filter := view.Filter{ModuleInstanceID: &other.ID}
		live := follow(t, w, ctx, filter, nil)
		theirs.Succeeded(t)
		mine.Succeeded(t)
		d := mine.Finish(t, mine.Deploy(t, other.ID, `{"image":"web:1"}`), nil)
		for name, items := range map[string]<-chan *feed.Item{"live": live, "resumed": follow(t, w, ctx, filter, start)} {
			for _, item := range until(t, items, d.ID) {
				if item.Err != nil || item.Deployment.ID != d.ID {
					t.Errorf("%s: %+v", name, item)
				}
			}
		}
	})
}

func TestOrganizationsThatAreFollowedAtOnceSeeTheirOwn(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		streams, own := map[*worldtest.Org]map[string]<-chan *feed.Item{}, map[*worldtest.Org]*worldtest.Fixture{}
		orgs := []*worldtest.Org{w.Acme, w.Globex}
		for _, o := range orgs {
			own[o] = w.Fixture(t, o, "web")
			ctx := viewer(t, o)
			streams[o] = map[string]<-chan *feed.Item{"live": follow(t, w, ctx, view.Filter{}, nil), "resumed": follow(t, w, ctx, view.Filter{}, head(t, w, ctx))}
		}
		last := map[*worldtest.Org]*ent.Deployment{}
		for range 2 {
			for _, o := range orgs {
				last[o] = own[o].Succeeded(t)
			}
		}
		for _, o := range orgs {
			streams[o]["from the start"] = follow(t, w, viewer(t, o), view.Filter{}, new(feedcursor.Cursor{At: time.Now()}.String()))
			for name, items := range streams[o] {
				for _, item := range until(t, items, last[o].ID) {
					if item.Err != nil || item.Deployment.OrganizationID != o.ID {
						t.Errorf("%s, %s: %+v", o.Slug, name, item)
					}
				}
			}
		}
	})
}

func TestAServerThatIsBehindSendsWhatComesAfterTheCursorOnce(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, ctx := w.Fixture(t, w.Acme, "web"), viewer(t, w.Acme)
		far := worldtest.Another(t, w.DatabaseURL)
		live := follow(t, far, ctx, view.Filter{}, nil)
		first := p.Succeeded(t)
		until(t, live, first.ID)
		settle(t, w, ctx, first)
		start := head(t, w, ctx)

		release := sync.OnceFunc(far.Deploy.View.Feed.HoldReader())
		defer release()
		missed := p.Deploy(t, p.Instance.ID, `{"image":"web:2"}`)
		p.Claim(t, missed)
		// It is sent as it is now, and not once more when the server comes to that change.
		one, err := far.Deploy.View.Follow(ctx, missed.ID, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := story([]*feed.Item{next(t, one)}); got != "UPDATED2" {
			t.Errorf("at first came %s", got)
		}
		missed = w.Cancel(t, w.Acme, missed.ID)
		settle(t, w, ctx, missed)
		ended, err := far.Deploy.View.Follow(ctx, missed.ID, start)
		if err != nil {
			t.Fatal(err)
		}
		ahead, behind := follow(t, far, ctx, view.Filter{}, head(t, w, ctx)), follow(t, far, ctx, view.Filter{}, start)
		release()
		last := p.Succeeded(t)
		if got := story(of(missed.ID, until(t, ahead, last.ID))); got != "" {
			t.Errorf("from ahead came %s again", got)
		}
		if got := story(of(missed.ID, until(t, behind, last.ID))); got != fmt.Sprint("CREATED1 COMPLETED", missed.Version) {
			t.Errorf("from behind came %s", got)
		}
		// It has ended, but its end is still to come from there.
		if got := story(until(t, ended, missed.ID)); !strings.HasSuffix(got, fmt.Sprint("COMPLETED", missed.Version)) {
			t.Errorf("of the one that has ended came %q", got)
		}
		for item := next(t, one); item != nil; item = next(t, one) {
			if item.Version <= 2 {
				t.Errorf("then came %s", story([]*feed.Item{item}))
			}
		}
	})
}

func TestAVersionThatWasPassedPagesBeforeDoesNotComeLater(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, ctx := w.Fixture(t, w.Acme, "web"), viewer(t, w.Acme)
		start := head(t, w, ctx)
		d, other := p.Succeeded(t), p.Failed(t)
		db, err := w.Raw(t, w.Acme).BeginTx(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		const row = `INSERT INTO deployment_changes (organization_id, deployment_id, version, kind, created_at) SELECT organization_id, deployment_id, `
		for _, statement := range []string{
			row + `9, 'UPDATED', created_at FROM deployment_changes WHERE version = 3 AND deployment_id = '` + d.ID + `'`,
			`WITH RECURSIVE n(i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM n WHERE i < 500) ` + row +
				`n.i, 'UPDATED', created_at FROM deployment_changes, n WHERE version = 3 AND deployment_id = '` + other.ID + `'`,
			row + `8, 'UPDATED', created_at FROM deployment_changes WHERE version = 3 AND deployment_id = '` + d.ID + `'`,
		} {
			if _, err := db.ExecContext(ctx, statement); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Commit(); err != nil {
			t.Fatal(err)
		}
		last := p.Succeeded(t)
		settle(t, w, ctx, last)
		if got := story(of(d.ID, until(t, follow(t, worldtest.Another(t, w.DatabaseURL), ctx, view.Filter{}, start), last.ID))); got != "CREATED1 COMPLETED3 UPDATED9" {
			t.Errorf("%s came", got)
		}
	})
}

func TestWhatChangesWhileTheFirstItemIsReadComesOnce(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, ctx := w.Fixture(t, w.Acme, "web"), viewer(t, w.Acme)
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		quick := follow(t, w, ctx, view.Filter{}, nil)
		items, err := w.Deploy.View.Feed.Subscribe(ctx, feed.Following{DeploymentID: d.ID, First: func(ctx context.Context) (*feed.Item, error) {
			p.Claim(t, d)
			for next(t, quick).Version < 2 {
				continue // what created it
			}
			now, err := w.Deploy.View.Deployment(ctx, d.ID)
			return &feed.Item{Kind: "UPDATED", Version: now.Version, Deployment: now}, err
		}})
		if err != nil {
			t.Fatal(err)
		}
		all := []*feed.Item{next(t, items)}
		d = w.Cancel(t, w.Acme, d.ID)
		all = append(all, until(t, items, d.ID)...)
		if got := story(all); strings.Count(got, "UPDATED2") != 1 || !strings.HasPrefix(got, "UPDATED2") || !strings.HasSuffix(got, fmt.Sprint("COMPLETED", d.Version)) {
			t.Errorf("%s came", got)
		}
	})
}

func TestWhatWaitsAndIsPassedIsLeftOut(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, ctx := w.Fixture(t, w.Acme, "web"), viewer(t, w.Acme)
		slow, quick := follow(t, w, ctx, view.Filter{}, nil), follow(t, w, ctx, view.Filter{}, nil)
		until(t, quick, p.Succeeded(t).ID) // one of its changes waits to be received already
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:2"}`)
		next(t, quick)
		lease := p.Claim(t, d)
		next(t, quick)
		d, err := w.Deploy.Execution.End(w.Acme.As(actor.Runner), d.ID, lease, execution.Completion{})
		if err != nil {
			t.Fatal(err)
		}
		until(t, quick, d.ID)
		if got := story(of(d.ID, until(t, slow, d.ID))); got != "CREATED1 COMPLETED3" {
			t.Errorf("%s came", got)
		}
	})
}

func TestACursorThatIsNotInTheFeedAnyMoreIsExpired(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ctx := viewer(t, w.Acme)
		d := w.Fixture(t, w.Acme, "web").Succeeded(t)
		settle(t, w, ctx, d)
		settle(t, w, viewer(t, w.Globex), w.Fixture(t, w.Globex, "web").Succeeded(t))
		now, err := w.Deploy.View.Feed.Head(ctx)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := w.Deploy.View.Feed.Head(w.Globex.As(actor.Viewer))
		if err != nil {
			t.Fatal(err)
		}
		old, ahead, moved := now, now, now
		old.At = old.At.Add(-feed.Retention)
		ahead.Transaction, ahead.ID = 1<<60, 1<<60
		moved.At = moved.At.Add(time.Microsecond)
		for name, c := range map[string]feedcursor.Cursor{
			"old": old, "of the future": ahead, "of another time": moved, "another organization's": theirs,
			"from before all, and old": {At: old.At},
		} {
			for what, follow := range map[string]func(*string) (<-chan *feed.Item, error){
				"all": func(after *string) (<-chan *feed.Item, error) {
					return w.Deploy.View.FollowAll(ctx, view.Filter{}, after)
				},
				"one": func(after *string) (<-chan *feed.Item, error) { return w.Deploy.View.Follow(ctx, d.ID, after) },
			} {
				if items, err := follow(new(c.String())); items != nil || !fault.Is(err, fault.FeedCursorExpired) {
					t.Errorf("%s, %s: %v", name, what, err)
				}
			}
		}
		if _, err := w.Deploy.View.FollowAll(ctx, view.Filter{}, new("x")); !fault.Is(err, fault.RequestCursorInvalid) {
			t.Error(err)
		}
	})
}

func TestAChangedDeploymentIsReadOnceForAllWhoFollowIt(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, ctx := w.Fixture(t, w.Acme, "web"), viewer(t, w.Acme)
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		settle(t, w, ctx, d)
		far := worldtest.Another(t, w.DatabaseURL)
		var streams []<-chan *feed.Item
		for range 20 {
			streams = append(streams, follow(t, far, ctx, view.Filter{}, nil))
			one, err := far.Deploy.View.Follow(ctx, d.ID, nil)
			if err != nil {
				t.Fatal(err)
			}
			next(t, one) // as it is
			streams = append(streams, one)
		}
		// Of an organization that nobody follows, nothing is read.
		w.Fixture(t, w.Globex, "web").Succeeded(t)
		ran := far.Statements(func() {
			canceled := w.Cancel(t, w.Acme, d.ID)
			for _, items := range streams {
				until(t, items, canceled.ID)
			}
		})
		if len(ran) != 1 {
			t.Errorf("%d statements ran:\n%s", len(ran), strings.Join(ran, "\n"))
		}
	})
}

func TestChangesWithoutAKindHaveThatOfTheirVersion(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, ctx := w.Fixture(t, w.Acme, "web"), viewer(t, w.Acme)
		start := head(t, w, ctx)
		d := p.Succeeded(t)
		// As a program of before has written them.
		db := w.Raw(t, w.Acme)
		if _, err := db.ExecContext(ctx, `UPDATE deployment_changes SET kind = NULL`); err != nil {
			t.Fatal(err)
		}
		settle(t, w, ctx, d)
		all := until(t, follow(t, w, ctx, view.Filter{}, start), d.ID)
		if got := story(all); got != "CREATED1 COMPLETED3" {
			t.Errorf("%s came", got)
		}
		if _, err := db.ExecContext(ctx, `INSERT INTO deployment_changes (organization_id, deployment_id, version, created_at)
			SELECT organization_id, deployment_id, 4, created_at FROM deployment_changes WHERE version = 3`); err != nil {
			t.Fatal(err)
		}
		if item := next(t, follow(t, w, ctx, view.Filter{}, &all[len(all)-1].Cursor)); item.Kind != "UPDATED" || item.Version != 4 {
			t.Errorf("of a change after the end came %+v", item)
		}
	})
}

func TestNothingIsReadWhenNobodyFollowsAnyMore(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		w.Deploy.View.Feed.SetLinger(0)
		p := w.Fixture(t, w.Acme, "web")
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		ctx, cancel := context.WithCancel(w.Acme.As(actor.Viewer))
		start := head(t, w, ctx)
		one, err := w.Deploy.View.Follow(ctx, d.ID, nil)
		if err != nil {
			t.Fatal(err)
		}
		all := []<-chan *feed.Item{follow(t, w, ctx, view.Filter{}, nil), follow(t, w, ctx, view.Filter{}, start), one}
		if _, err := w.Deploy.View.Follow(ctx, "dep_none", nil); !fault.Is(err, fault.DeploymentNotFound) {
			t.Error(err)
		}
		_, stop := w.Deploy.View.Feed.WatchDeployment(d.ID)
		stop()
		stop()
		w.Cancel(t, w.Acme, d.ID)
		until(t, one, d.ID) // this one ends by itself
		if !w.Deploy.View.Feed.IsReading() {
			t.Error("nobody reads for those who follow")
		}
		cancel()
		for _, items := range all {
			for item := next(t, items); item != nil; item = next(t, items) {
				continue // what was on its way
			}
		}
		testkit.Eventually(t, "the reader ends", func() bool { return !w.Deploy.View.Feed.IsReading() })
		// Who comes then is told of what changes from then on.
		items := follow(t, w, viewer(t, w.Acme), view.Filter{}, nil)
		again := p.Succeeded(t)
		if got := story(until(t, items, again.ID)); !strings.HasPrefix(got, "CREATED1") {
			t.Errorf("%s came", got)
		}
	})
}

func TestThoseWhoWaitAreWokenOnEveryServer(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		far := worldtest.Another(t, w.DatabaseURL)
		created, stop := far.Deploy.View.Feed.WatchPending(w.Acme.ID)
		defer stop()
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		woken := func(c <-chan struct{}, until func() bool) {
			for isThere := false; !isThere; isThere = until() {
				receive(t, c)
			}
		}
		woken(created, func() bool { return true })
		changed, stopChanged := far.Deploy.View.Feed.WatchDeployment(d.ID)
		defer stopChanged()
		w.Cancel(t, w.Acme, d.ID)
		woken(changed, func() bool {
			now, err := far.Deploy.View.Deployment(w.Acme.As(actor.Viewer), d.ID)
			return err == nil && now.CompletedAt != nil
		})
	})
}

func TestWhoWaitsIsWokenWhenTheServerHasBegunToLook(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		// What another server has changed until then is not among what is read, so it is looked at once more.
		woken, stop := w.Deploy.View.Feed.WatchDeployment("dep_1")
		defer stop()
		receive(t, woken)
	})
}

func TestChangesOfAnotherClusterStallNobody(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t))
	p, ctx := w.Fixture(t, w.Acme, "web"), viewer(t, w.Acme)
	d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
	restored, err := w.Raw(t, w.Acme).ExecContext(ctx, `INSERT INTO deployment_changes (organization_id, xid, deployment_id, version, kind, created_at)
		SELECT organization_id, '9000000000000'::xid8, id, 7, 'UPDATED', now() FROM deployments WHERE id = $1`, d.ID)
	if n, _ := restored.RowsAffected(); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	start := head(t, w, ctx)
	live := follow(t, w, ctx, view.Filter{}, nil)
	w.Cancel(t, w.Acme, d.ID)
	for name, items := range map[string]<-chan *feed.Item{"live": live, "resumed": follow(t, w, ctx, view.Filter{}, start)} {
		// What created it comes, too, if a transaction of another test had not ended yet when the cursor was read.
		if diff := cmp.Diff("COMPLETED2", strings.TrimPrefix(story(until(t, items, d.ID)), "CREATED1 ")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for _, want := range []int{1, 0} {
		if n, err := w.Retention.Purge(ctx); n != want || err != nil {
			t.Errorf("%d were purged, %v", n, err)
		}
	}
}

func TestWhoIsTooSlowLosesTheSubscriptionAndNobodyWaits(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		w.Deploy.View.Feed.SetMaxQueue(3)
		p, ctx := w.Fixture(t, w.Acme, "web"), viewer(t, w.Acme)
		slow, quick := follow(t, w, ctx, view.Filter{}, nil), follow(t, w, ctx, view.Filter{}, nil)
		for range 4 { // each is created and completed, which nothing passes
			until(t, quick, p.Succeeded(t).ID)
		}
		var last *feed.Item
		for item := next(t, slow); item != nil; item = next(t, slow) {
			last = item
		}
		if !fault.Is(last.Err, fault.FeedTooSlow) {
			t.Errorf("the slow one ends with %+v", last)
		}
		for range 2 { // others may go on
			until(t, quick, p.Succeeded(t).ID)
		}
	})
}
