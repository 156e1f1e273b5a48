package deployment_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	entdeployment "slipway/ent/deployment"
	"slipway/ent/moduleinstance"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/pure/module"
	"slipway/internal/service/archive"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/figures"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// dated is a world whose deployments are made at times of the test's.
type dated struct {
	*worldtest.World
	t  *testing.T
	at time.Time
}

func datedWorld(t *testing.T, w *worldtest.World) *dated {
	d := &dated{World: w, t: t}
	w.Deploy = w.DeployBy(func() time.Time { return d.at })
	return d
}

// deploy makes a deployment at a time of March 2026, which has ended after some seconds, and returns its id.
func (d *dated) deploy(p *worldtest.Fixture, instanceID, day string, seconds int, image string, failure *fault.Data) string {
	d.t.Helper()
	d.set(day)
	made := p.Deploy(d.t, instanceID, fmt.Sprintf(`{"image":%q}`, image))
	d.end(p, made.ID, seconds, failure)
	return made.ID
}

// rollBack goes back to an earlier deployment.
func (d *dated) rollBack(p *worldtest.Fixture, to, day string, seconds int) {
	d.t.Helper()
	d.set(day)
	made, _, err := d.Deploy.Propose.Rollback(d.Acme.As(actor.Developer), propose.Replay{SourceID: to})
	if err != nil {
		d.t.Fatal(err)
	}
	d.end(p, made.ID, seconds, nil)
}

func (d *dated) set(day string) {
	at, err := time.Parse("2006-01-02 15:04", "2026-03-"+day)
	if err != nil {
		d.t.Fatal(err)
	}
	d.at = at
}

func (d *dated) end(p *worldtest.Fixture, id string, seconds int, failure *fault.Data) {
	d.t.Helper()
	runner := d.Acme.As(actor.Runner)
	claimed, lease, err := d.Deploy.Execution.Claim(runner, execution.Claim{Kinds: module.DeploymentTypes})
	if err != nil || claimed == nil || claimed.ID != id {
		d.t.Fatalf("claimed %v: %v", claimed, err)
	}
	d.at = d.at.Add(time.Duration(seconds) * time.Second)
	if _, err := d.Deploy.Execution.End(runner, id, lease.ID, execution.Completion{Failure: failure}); err != nil {
		d.t.Fatal(err)
	}
}

var notStarted = &fault.Data{Code: string(fault.DeploymentFailed), Message: "The task did not start."}

func march(day int) time.Time { return time.Date(2026, 3, day, 0, 0, 0, 0, time.UTC) }

// brief writes figures in a line, so that what differs is seen.
func brief(f *figures.Figures) string {
	text := fmt.Sprintf("%s to %s: %d created, %d succeeded, %d failed, %d canceled, %d rollbacks",
		f.From.Format("Jan 2 15:04"), f.Before.Format("Jan 2 15:04"), f.Created, f.Succeeded, f.Failed, f.Canceled, f.Rollbacks)
	for _, v := range []struct {
		name  string
		value *float64
	}{{"rate", f.FailureRate}, {"median", f.MedianSeconds}, {"p95", f.P95Seconds}, {"restore", f.MedianRestoreSeconds}} {
		if v.value != nil {
			text += fmt.Sprintf(", %s %.4g", v.name, *v.value)
		}
	}
	return text
}

func briefs(s *figures.Statistics) []string {
	list := []string{brief(s.Total)}
	for _, b := range s.Buckets {
		list = append(list, brief(b))
	}
	return list
}

func TestStatisticsCountHowDeploymentsEndedAndHowLongTheyTook(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, elsewhere := w.Fixture(t, w.Acme, "shop"), w.Fixture(t, w.Acme, "other")
		d := datedWorld(t, w)
		other := p.NewInstance(t, "other").ID
		d.deploy(p, p.Instance.ID, "01 23:00", 500, "web:0", nil) // before the period
		good := d.deploy(p, p.Instance.ID, "02 10:00", 10, "web:1", nil)
		d.deploy(p, p.Instance.ID, "03 10:00", 20, "web:2", nil) // is rolled back from
		d.deploy(p, other, "03 11:00", 60, "web:1", notStarted)
		d.deploy(p, other, "03 12:00", 30, "web:1", nil) // an hour after, less half a minute
		d.rollBack(p, good, "10 10:00", 40)
		d.deploy(p, other, "11 10:00", 60, "web:9", notStarted) // comes back after the period
		d.set("11 11:00")
		canceled := p.Deploy(t, other, `{"image":"web:10"}`)
		w.Cancel(t, w.Acme, canceled.ID)
		d.deploy(elsewhere, elsewhere.Instance.ID, "04 10:00", 7, "web:1", nil)
		d.deploy(p, other, "20 10:00", 60, "web:11", nil)

		before := march(16)
		period, err := figures.NewPeriod(march(2).Add(time.Hour), &before, figures.Week, march(25))
		if err != nil {
			t.Fatal(err)
		}
		of, err := w.Deploy.Figures.StatisticsOf(w.Acme.As(actor.Viewer), entdeployment.FieldEnvironmentID,
			[]string{p.Environment.ID, elsewhere.Environment.ID}, period)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][]string{
			p.Environment.ID: {
				// 9 days and 59 minutes from the second failure to the success of the 20th.
				"Mar 2 01:00 to Mar 16 00:00: 7 created, 4 succeeded, 2 failed, 1 canceled, 1 rollbacks, rate 0.5, median 25, p95 40, restore 3.906e+05",
				"Mar 2 01:00 to Mar 9 00:00: 4 created, 3 succeeded, 1 failed, 0 canceled, 0 rollbacks, rate 0.5, median 20, p95 30, restore 3570",
				"Mar 9 00:00 to Mar 16 00:00: 3 created, 1 succeeded, 1 failed, 1 canceled, 1 rollbacks, rate 0.5, median 40, p95 40, restore 7.776e+05",
			},
			elsewhere.Environment.ID: {
				"Mar 2 01:00 to Mar 16 00:00: 1 created, 1 succeeded, 0 failed, 0 canceled, 0 rollbacks, rate 0, median 7, p95 7",
				"Mar 2 01:00 to Mar 9 00:00: 1 created, 1 succeeded, 0 failed, 0 canceled, 0 rollbacks, rate 0, median 7, p95 7",
				"Mar 9 00:00 to Mar 16 00:00: 0 created, 0 succeeded, 0 failed, 0 canceled, 0 rollbacks",
			},
		}
		got := map[string][]string{}
		for id, s := range of {
			got[id] = briefs(s)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}

		whole, err := w.Deploy.Figures.OfOrganization(w.Acme.As(actor.Viewer), period)
		if err != nil || whole.Total.Created != 8 {
			t.Errorf("of the organization: %v, %v", whole, err)
		}
		foreign, err := w.Deploy.Figures.StatisticsOf(w.Globex.As(actor.Viewer), entdeployment.FieldEnvironmentID, []string{p.Environment.ID}, period)
		if err != nil || foreign[p.Environment.ID].Total.Created != 0 {
			t.Errorf("of another organization: %v, %v", foreign, err)
		}
	})
}

func TestStatisticsAreOneReadForAllPlacesOfAPage(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		viewer := w.Acme.Tokens[actor.Viewer]
		for _, name := range []string{"one", "two", "three"} {
			w.Fixture(t, w.Acme, name).Succeeded(t)
		}
		const query = `{ projects { nodes { slug instanceCounts { total live active awaitingApproval failed drifted } environments { nodes { instanceCounts { total }
			deploymentStatistics(from: "2026-01-01T00:00:00Z", by: MONTH) { total { created failureRate medianSeconds medianRestoreSeconds } buckets { created } } } } } } }`
		r := w.GraphQL(t, viewer, query, nil)
		for i := range 3 {
			node, _ := r.At(t, "data", "projects", "nodes", i).(map[string]any)
			if got := fmt.Sprint(node["instanceCounts"]); got != "map[active:0 awaitingApproval:0 drifted:0 failed:0 live:1 total:1]" {
				t.Errorf("%v: %s", node["slug"], got)
			}
			of := r.At(t, "data", "projects", "nodes", i, "environments", "nodes", 0, "deploymentStatistics", "total")
			if got := fmt.Sprint(of); !strings.HasPrefix(got, "map[created:1 failureRate:0 median") {
				t.Errorf("%v: %s", node["slug"], got)
			}
		}
		// The projects, their instances twice (first how many there are), the environments, the same of these, and their
		// deployments twice.
		if ran := w.Statements(func() { w.GraphQL(t, viewer, query, nil) }); len(ran) != 8 {
			t.Errorf("%d statements: %q", len(ran), ran)
		}
		whole := w.GraphQL(t, viewer, `{ deploymentStatistics(from: "2026-01-01T00:00:00Z") { total { created succeeded } } }`, nil)
		if got := fmt.Sprint(whole.At(t, "data", "deploymentStatistics", "total")); got != "map[created:3 succeeded:3]" {
			t.Errorf("%s", whole.Body)
		}
		if r := w.GraphQL(t, "", `{ deploymentStatistics(from: "2026-01-01T00:00:00Z") { total { created } } }`, nil); r.Code(t) != string(fault.RequestUnauthenticated) {
			t.Errorf("%s", r.Body)
		}
	})
}

func TestInstancesAreCountedByTheirState(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "shop")
		empty := w.Fixture(t, w.Acme, "empty")
		p.Succeeded(t)
		p.Failed(t) // live, and the newest failed
		failed := p.NewInstance(t, "failed")
		p.Finish(t, p.Deploy(t, failed.ID, `{"image":"web:1"}`), notStarted)
		active := p.NewInstance(t, "active")
		p.Deploy(t, active.ID, `{"image":"web:1"}`)
		p.NewInstance(t, "never")
		waits := p.NewInstance(t, "waits")
		demand(t, w, p, approvals(1))
		p.Deploy(t, waits.ID, `{"image":"web:1"}`)
		gone := p.NewInstance(t, "gone")
		if _, err := w.Archive.ArchiveInstance(w.Acme.As(actor.Admin), archive.Request{ID: gone.ID}); err != nil {
			t.Fatal(err)
		}

		want := map[string]*figures.Instances{
			p.Environment.ID:     {Total: 5, Live: 1, Active: 1, AwaitingApproval: 1, Failed: 2},
			empty.Environment.ID: {Total: 1},
		}
		got, err := w.Deploy.Figures.InstancesOf(w.Acme.As(actor.Viewer), moduleinstance.FieldEnvironmentID, []string{p.Environment.ID, empty.Environment.ID})
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
		foreign, err := w.Deploy.Figures.InstancesOf(w.Globex.As(actor.Viewer), moduleinstance.FieldEnvironmentID, []string{p.Environment.ID})
		if err != nil || foreign[p.Environment.ID].Total != 0 {
			t.Errorf("of another organization: %v, %v", foreign, err)
		}
	})
}
