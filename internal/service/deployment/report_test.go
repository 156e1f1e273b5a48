package deployment_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/event"
	"slipway/internal/pure/module"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/deployment/state"
	"slipway/internal/test/worldtest"
)

// runningOf makes a RUNNING deployment of a kind, and returns its lease.
var runningOf = map[string]func(*testing.T, *worldtest.World, *worldtest.Fixture) (*ent.Deployment, string){
	module.DeploymentTypeECS: func(t *testing.T, _ *worldtest.World, p *worldtest.Fixture) (*ent.Deployment, string) {
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		return d, p.Claim(t, d)
	},
	module.DeploymentTypeTerraform: func(t *testing.T, w *worldtest.World, p *worldtest.Fixture) (*ent.Deployment, string) {
		inputs, err := strictjson.Parse([]byte(`[]`))
		if err != nil {
			t.Fatal(err)
		}
		version, _, err := w.Catalog.PublishVersion(w.Acme.As(actor.Admin), module.NewVersion{
			DefinitionID: p.Definition.ID, Version: "2.0.0", Kind: module.DeploymentTypeTerraform, Inputs: inputs,
		})
		if err != nil {
			t.Fatal(err)
		}
		d, _, err := w.Deploy.Propose.Create(w.Acme.As(actor.Developer), propose.New{
			InstanceID: p.NewInstance(t, "network").ID, VersionID: version.ID, Inputs: strictjson.MustParse(`{}`),
		})
		if err != nil {
			t.Fatal(err)
		}
		return d, p.Claim(t, d)
	},
}

// messages are those of a deployment's events, in order.
func messages(t *testing.T, d *ent.Deployment) []string {
	t.Helper()
	events, err := state.Events(t.Context(), d.Data, d.Events)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range events {
		list = append(list, *e.Message)
	}
	return list
}

// numbers are events that count from a number on.
func numbers(from, n int) []event.Event {
	list := make([]event.Event, n)
	for i := range list {
		list[i] = event.Event{Message: new(fmt.Sprint(from + i))}
	}
	return list
}

func TestReportsAddToTheRecordInOrder(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, runner := clockOf(w), w.Acme.As(actor.Runner)
		p := w.Fixture(t, w.Acme, "web")
		for kind, make := range runningOf {
			d, lease := make(t, w, p)
			clock.Advance(20 * time.Second)
			first, l, err := w.Deploy.Execution.Report(runner, d.ID, lease, execution.Report{
				Events:               []event.Event{{Message: new("a")}, {Message: new("b"), StartedAt: new("2026-03-01T10:00:00Z")}},
				ExternalDeploymentID: new("ext"), ResourceARN: new("arn:r"), ResourceName: new("r"),
			})
			if err != nil || !l.ExpiresAt.Equal(clock.Now().Add(execution.DefaultLease)) || l.ID != lease || first.Version != d.Version+2 {
				t.Fatalf("%s: %v under %v, %v", kind, first, l, err)
			}
			last, _, err := w.Deploy.Execution.Report(runner, d.ID, lease, execution.Report{Events: []event.Event{{Message: new("c")}}, ResourceName: new("s")})
			if err != nil {
				t.Fatal(err)
			}
			if *last.ExternalDeploymentID != "ext" || *last.ResourceArn != "arn:r" || *last.ResourceName != "s" {
				t.Errorf("%s: %v", kind, last)
			}
			now := clock.Now().Format(time.RFC3339Nano)
			want := []event.Event{{Message: new("a"), StartedAt: &now}, {Message: new("b"), StartedAt: new("2026-03-01T10:00:00Z")}, {Message: new("c"), StartedAt: &now}}
			stored := w.Store.Client.Deployment.GetX(runner, d.ID)
			got, err := state.Events(t.Context(), stored.Data, stored.Events)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%s: %v: %s", kind, err, diff)
			}
		}
	})
}

func TestEventsInTheDataComeFirst(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		d, lease := runningOf[module.DeploymentTypeECS](t, w, w.Fixture(t, w.Acme, "web"))
		for range 2 {
			var err error
			if d, _, err = w.Deploy.Execution.Report(w.Acme.As(actor.Runner), d.ID, lease, execution.Report{
				Data: strictjson.MustParse(`{"detectedVia":"poll","events":[{"message":"1"},{"message":"2"}]}`), Events: numbers(3, 2),
			}); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(strings.Split("1 2 3 4 1 2 3 4", " "), messages(t, d)); diff != "" {
			t.Error(diff)
		}
		if data := object(t, d.Data.JSON()); data["detectedVia"] != "poll" || data["preDeployEnabled"] != true {
			t.Errorf("data: %v", data)
		}
	})
}

func TestReportIsTakenOnceUnderItsSequence(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		runner, p := w.Acme.As(actor.Runner), w.Fixture(t, w.Acme, "web")
		d, lease := runningOf[module.DeploymentTypeECS](t, w, p)
		report := func(sequence *int32, text string) *ent.Deployment {
			got, l, err := w.Deploy.Execution.Report(runner, d.ID, lease, execution.Report{Sequence: sequence, Events: []event.Event{{Message: &text}}})
			if err != nil || got.ID != d.ID || l.ID != lease {
				t.Errorf("%v under %v, %v", got, l, err)
			}
			return got
		}
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() { report(new(int32(1)), "a") })
		}
		all.Wait()
		report(new(int32(4)), "b")
		for _, old := range []int32{1, 3, 4} {
			unchanged(t, w, fmt.Sprint("report ", old), func() { report(&old, "x") })
		}
		report(nil, "c")
		report(nil, "c")
		last := report(new(int32(5)), "d")
		if diff := cmp.Diff([]string{"a", "b", "c", "c", "d"}, messages(t, last)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]int32{1, 2, 3, 4, 5, 6, 7}, recordedVersions(t, w, w.Acme, d.ID)); diff != "" || last.Version != 7 {
			t.Errorf("version %d, recorded: %s", last.Version, diff)
		}
	})
}

func TestReportsOverTheBoundsAreRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", event.MaxText)
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		runner, p := w.Acme.As(actor.Runner), w.Fixture(t, w.Acme, "web")
		for kind, make := range runningOf {
			d, lease := make(t, w, p)
			bad := []event.Event{{Message: new(long + "x")}, {HookID: new(long + "x"), LifecycleStage: new(long + "x")}, {}, {Message: new("")}}
			for _, c := range []struct {
				in       execution.Report
				pointers []string
			}{
				{execution.Report{Sequence: new(int32(0))}, []string{"/sequence"}},
				{execution.Report{Sequence: new(int32(-1))}, []string{"/sequence"}},
				{execution.Report{Events: numbers(0, 101)}, []string{"/events"}},
				{execution.Report{Events: bad}, []string{"/events/0/message", "/events/1/hookId", "/events/1/lifecycleStage", "/events/2"}},
				{execution.Report{Data: strictjson.MustParse(`[]`)}, []string{"/data"}},
				{execution.Report{Data: strictjson.MustParse(`{"clusterArn":1,"events":[{"message":2}]}`)}, []string{"/data/clusterArn", "/data/events/0/message"}},
			} {
				if kind == module.DeploymentTypeTerraform && c.in.Data != nil {
					c.in.Data, c.pointers = strictjson.MustParse(`{"clusterArn":"c"}`), []string{"/data"}
				}
				f := refused(t, w, fmt.Sprint(kind, c.pointers), fault.RequestInvalid, func() (*ent.Deployment, error) {
					d, _, err := w.Deploy.Execution.Report(runner, d.ID, lease, c.in)
					return d, err
				})
				wantViolations(t, f, c.pointers...)
			}
			for _, in := range []execution.Report{{}, {Sequence: new(int32(1)), Events: numbers(0, 100)}, {Events: []event.Event{{Message: &long, HookID: &long}, {CurrentStep: new(int32(0))}}}} {
				if _, _, err := w.Deploy.Execution.Report(runner, d.ID, lease, in); err != nil {
					t.Errorf("%s: %v", kind, err)
				}
			}
		}
	})
}

func TestTheOldestEventsAreFoldedAndCounted(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, runner, p := clockOf(w), w.Acme.As(actor.Runner), w.Fixture(t, w.Acme, "web")
		for kind, make := range runningOf {
			d, lease := make(t, w, p)
			begun := clock.Now()
			for i := range 5 {
				got, _, err := w.Deploy.Execution.Report(runner, d.ID, lease, execution.Report{Events: numbers(100*i, 100)})
				if err != nil {
					t.Fatal(err)
				}
				d = got
				clock.Advance(time.Second)
			}
			var want []string
			for i := 301; i < 500; i++ {
				want = append(want, fmt.Sprint(i))
			}
			want = append([]string{"301 earlier events are not kept."}, want...)
			if diff := cmp.Diff(want, messages(t, d)); diff != "" || d.FoldedEvents != 301 {
				t.Errorf("%s: %d are folded: %s", kind, d.FoldedEvents, diff)
			}
			if events, _ := state.Events(t.Context(), d.Data, d.Events); *events[0].StartedAt != begun.Format(time.RFC3339Nano) {
				t.Errorf("%s: the first is of %s, want %s", kind, *events[0].StartedAt, begun)
			}
			if kind == module.DeploymentTypeTerraform && !d.Data.IsZero() {
				t.Errorf("a terraform deployment has data: %s", d.Data.JSON())
			}
		}
	})
}

func TestEventsAreBoundInTheirBytes(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		d, lease := runningOf[module.DeploymentTypeTerraform](t, w, w.Fixture(t, w.Acme, "web"))
		list := make([]event.Event, 100)
		for i := range list {
			list[i] = event.Event{CurrentStep: new(int32(i)), Message: new(strings.Repeat("x", 4000))}
		}
		d, _, err := w.Deploy.Execution.Report(w.Acme.As(actor.Runner), d.ID, lease, execution.Report{Events: list})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(d.Events)
		last := d.Events[len(d.Events)-1]
		if err != nil || len(text) > event.MaxBytes || len(d.Events)-1+int(d.FoldedEvents) != 100 || *last.CurrentStep != 99 {
			t.Errorf("%d bytes, %d events, %d folded, last %d, %v", len(text), len(d.Events), d.FoldedEvents, *last.CurrentStep, err)
		}
	})
}
