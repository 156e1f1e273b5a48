package feed_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	entdeployment "slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/data/feed"
	"slipway/internal/data/store"
	"slipway/internal/pure/gate"
	"slipway/internal/pure/runlog"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/view"
	"slipway/internal/test/worldtest"
)

// idle is how many subscriptions of a tenant take nothing of what they are sent.
const idle = 95

// Nobody takes what a tenant's subscriptions are sent, whatever they are of. Another's are sent everything all the same,
// and so are those once somebody does.
func TestWhoTakesNothingHoldsUpNobody(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		theirs, mine := w.Fixture(t, w.Globex, "web"), w.Fixture(t, w.Acme, "web")
		before := head(t, w, viewer(t, w.Globex))
		start := head(t, w, viewer(t, w.Acme))
		old, own := theirs.Succeeded(t), mine.Succeeded(t)
		logged := theirs.Deploy(t, theirs.Instance.ID, `{"image":"web:2"}`)
		report(t, w, w.Globex, logged.ID, theirs.Claim(t, logged))
		settle(t, w, viewer(t, w.Acme), own)

		resumed := make([]<-chan *feed.Item, idle)
		for i := range resumed {
			ctx := viewer(t, w.Globex)
			switch i % 4 {
			case 0:
				resumed[i] = follow(t, w, ctx, view.Filter{}, before)
			case 1:
				resumed[i] = follow(t, w, ctx, view.Filter{ProjectID: &old.ProjectID}, before)
			case 2:
				resumed[i] = followOne(t, w, ctx, old.ID, before)
			default:
				resumed[i] = followOne(t, w, ctx, logged.ID, nil)
			}
			if _, err := w.Deploy.View.FollowLogs(ctx, logged.ID, nil); err != nil {
				t.Fatal(err)
			}
		}
		ctx := viewer(t, w.Acme)
		for name, items := range map[string]<-chan *feed.Item{
			"all":         follow(t, w, ctx, view.Filter{}, start),
			"of a filter": follow(t, w, ctx, view.Filter{ProjectID: &own.ProjectID}, start),
			"one":         followOne(t, w, ctx, own.ID, start),
			"as it is":    followOne(t, w, ctx, own.ID, nil),
		} {
			if got := story(until(t, items, own.ID)); !strings.HasSuffix(got, "COMPLETED3") {
				t.Errorf("%s: %s came", name, got)
			}
		}
		for i, items := range resumed[:3] {
			if got := story(until(t, items, old.ID)); got != "CREATED1 COMPLETED3" {
				t.Errorf("%d: %s came", i, got)
			}
		}
	})
}

func followOne(t *testing.T, w *worldtest.World, ctx context.Context, deploymentID string, after *string) <-chan *feed.Item {
	t.Helper()
	items, err := w.Deploy.View.Follow(ctx, deploymentID, after)
	if err != nil {
		t.Fatal(err)
	}
	return items
}

func report(t *testing.T, w *worldtest.World, o *worldtest.Org, deploymentID, lease string) {
	t.Helper()
	_, _, err := w.Deploy.Execution.Report(o.As(actor.Runner), deploymentID, lease, execution.Report{
		Sequence: new(int32(1)), Logs: []runlog.Line{{Stream: "STDOUT", Text: "a line"}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Of what a subscription has missed it keeps eight deployments until they are taken.
func TestNoMoreIsReadThanIsSentSoon(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		const most = 8
		p, ctx := w.Fixture(t, w.Acme, "web"), viewer(t, w.Acme)
		start := head(t, w, ctx)
		var last string
		for i := range most + 1 {
			d := p.Deploy(t, p.NewInstance(t, "web-"+strconv.Itoa(i)).ID, `{"image":"web:1"}`)
			last = d.ID
			if i == most {
				settle(t, w, ctx, d)
			}
		}
		far := worldtest.Another(t, w.DatabaseURL)
		var got *feed.Item
		var read []int
		for _, statement := range far.Recorded(func() {
			items := follow(t, far, ctx, view.Filter{}, start)
			for range most + 1 {
				got = next(t, items)
			}
		}) {
			if strings.Contains(statement.Text, `FROM "deployments"`) {
				read = append(read, strings.Count(fmt.Sprint(statement.Args), "dep_"))
			}
		}
		if got.Deployment.ID != last {
			t.Errorf("at last came %s", story([]*feed.Item{got}))
		}
		if !slices.Equal(read, []int{most, 1}) {
			t.Errorf("%v deployments were read", read)
		}
	})
}

// A filter is decided by few columns where something was missed. All that it has must be among them.
func TestAFilterFindsWhatWasMissedByAllThatItHas(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, ctx := w.Fixture(t, w.Acme, "web"), viewer(t, w.Acme)
		start := head(t, w, ctx)
		d := p.Succeeded(t)
		settle(t, w, ctx, p.Finish(t, p.Deploy(t, p.NewInstance(t, "another").ID, `{"image":"web:1"}`), nil))
		_, err := w.Raw(t, w.Acme).ExecContext(t.Context(),
			`UPDATE deployments SET pipeline_run_id = 'run-7', search_text = 'for the pipeline' WHERE id = '`+d.ID+`'`)
		if err != nil {
			t.Fatal(err)
		}
		if d, err = w.Store.Client.Deployment.Get(ctx, d.ID); err != nil {
			t.Fatal(err)
		}
		f := view.Filter{
			ModuleInstanceID: &d.ModuleInstanceID, EnvironmentID: &d.EnvironmentID, ProjectID: &d.ProjectID,
			ModuleDefinitionID: d.ModuleDefinitionID, ModuleVersionID: d.ModuleVersionID, ReleaseID: d.ReleaseID,
			Statuses: []entdeployment.Status{d.Status, entdeployment.StatusFAILED}, Operations: gate.Operations,
			Kind: &d.DeploymentType, External: new(false), CreatedByID: d.CreatedByID, PipelineRunID: d.PipelineRunID,
			CreatedFrom: new(d.CreatedAt.Add(-time.Hour)), CreatedBefore: new(d.CreatedAt.Add(time.Hour)),
			Search: new("the pipeline"), Overridden: new(false),
		}
		for member, v := range reflect.ValueOf(f).Fields() {
			if v.Kind() == reflect.Pointer && v.IsNil() {
				t.Errorf("%s has no value here", member.Name)
			}
		}
		if got := story(of(d.ID, until(t, follow(t, w, ctx, f, start), d.ID))); got != "CREATED1 COMPLETED3" {
			t.Errorf("%s came", got)
		}
	})
}

// Reads go by organization, then caller: one with ten tokens that wait comes to its turn as often as another with one.
func TestReadsTakeTurnsByOrganization(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := feed.New((*store.Store)(nil), nil)
		as := func(organization, token string) context.Context {
			return actor.With(t.Context(), &actor.Actor{ID: token, Role: actor.Viewer, OrganizationID: organization})
		}
		held := make(chan struct{})
		for range feed.MaxReads {
			go func() { _ = f.Read(as("busy", "first"), func(context.Context) error { <-held; return nil }) }()
		}
		synctest.Wait()
		order := make(chan string, 100)
		wait := func(organization, token string) {
			go func() {
				_ = f.Read(as(organization, token), func(context.Context) error {
					order <- organization
					return nil
				})
			}()
			synctest.Wait()
		}
		for i := range 95 {
			wait("busy", strconv.Itoa(i%10))
		}
		wait("other", "one")
		if len(order) != 0 {
			t.Fatalf("%d read while all places are taken", len(order))
		}
		held <- struct{}{} // one place comes free
		synctest.Wait()
		if first, second := <-order, <-order; first != "busy" || second != "other" {
			t.Errorf("%s came first, then %s", first, second)
		}
		close(held)
	})
}

// What has begun gives its place back, however it ends.
func TestAReadGivesItsPlaceBack(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, ctx := w.Fixture(t, w.Acme, "web"), viewer(t, w.Acme)
		start := head(t, w, ctx)
		d := p.Succeeded(t)
		settle(t, w, ctx, d)
		for range 3 * feed.MaxReads {
			gone, cancel := context.WithCancel(ctx)
			cancel()
			_, _ = w.Deploy.View.FollowAll(gone, view.Filter{}, start) // either it begins and ends, or it does not
			_, _ = w.Deploy.View.Follow(gone, d.ID, nil)
			if _, err := w.Deploy.View.Follow(ctx, "dep_none", nil); err == nil {
				t.Error("there is none")
			}
			if _, err := w.Deploy.View.FollowLogs(ctx, "dep_none", nil); err == nil {
				t.Error("there is none")
			}
		}
		if got := story(until(t, follow(t, w, ctx, view.Filter{}, start), d.ID)); got != "CREATED1 COMPLETED3" {
			t.Errorf("%s came", got)
		}
	})
}
