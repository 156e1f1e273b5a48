package deployment_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"slipway/internal/strictjson"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/internal/actor"
	"slipway/internal/catalog"
	"slipway/internal/deployment"
	"slipway/internal/ecs"
	"slipway/internal/fault"
	"slipway/internal/worldtest"
)

// runningOf makes a RUNNING deployment of a kind, and gives its lease.
var runningOf = map[string]func(*testing.T, *worldtest.World, *worldtest.Place) (*ent.Deployment, string){
	catalog.KindECS: func(t *testing.T, _ *worldtest.World, p *worldtest.Place) (*ent.Deployment, string) {
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		return d, p.Claim(t, d)
	},
	catalog.KindTerraform: func(t *testing.T, w *worldtest.World, p *worldtest.Place) (*ent.Deployment, string) {
		inputs, err := strictjson.Parse([]byte(`[]`))
		if err != nil {
			t.Fatal(err)
		}
		version, _, err := w.Catalog.PublishVersion(w.Acme.As(actor.Admin), catalog.NewVersion{
			DefinitionID: p.Definition.ID, Version: "2.0.0", Kind: catalog.KindTerraform, Inputs: inputs,
		})
		if err != nil {
			t.Fatal(err)
		}
		d, err := w.Deploy.Create(w.Acme.As(actor.Developer), deployment.New{
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
	events, err := deployment.Events(t.Context(), d)
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
func numbers(from, n int) []ecs.Event {
	list := make([]ecs.Event, n)
	for i := range list {
		list[i] = ecs.Event{Message: new(fmt.Sprint(from + i))}
	}
	return list
}

func TestReportsAddToTheRecordInOrder(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, runner := clockOf(w), w.Acme.As(actor.Runner)
		p := w.Place(t, w.Acme, "web")
		for kind, make := range runningOf {
			d, lease := make(t, w, p)
			clock.pass(20 * time.Second)
			first, l, err := w.Deploy.Report(runner, d.ID, lease, deployment.Report{
				Events:               []ecs.Event{{Message: new("a")}, {Message: new("b"), StartedAt: new("2026-03-01T10:00:00Z")}},
				ExternalDeploymentID: new("ext"), ResourceARN: new("arn:r"), ResourceName: new("r"),
			})
			if err != nil || !l.ExpiresAt.Equal(clock.now().Add(deployment.DefaultLease)) || l.ID != lease || first.Version != d.Version+2 {
				t.Fatalf("%s: %v under %v, %v", kind, first, l, err)
			}
			last, _, err := w.Deploy.Report(runner, d.ID, lease, deployment.Report{Events: []ecs.Event{{Message: new("c")}}, ResourceName: new("s")})
			if err != nil {
				t.Fatal(err)
			}
			if *last.ExternalDeploymentID != "ext" || *last.ResourceArn != "arn:r" || *last.ResourceName != "s" {
				t.Errorf("%s: %v", kind, last)
			}
			now := clock.now().Format(time.RFC3339Nano)
			want := []ecs.Event{{Message: new("a"), StartedAt: &now}, {Message: new("b"), StartedAt: new("2026-03-01T10:00:00Z")}, {Message: new("c"), StartedAt: &now}}
			got, err := deployment.Events(t.Context(), w.Store.Client.Deployment.GetX(runner, d.ID))
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%s: %v: %s", kind, err, diff)
			}
		}
	})
}

func TestEventsInTheDataComeFirst(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		d, lease := runningOf[catalog.KindECS](t, w, w.Place(t, w.Acme, "web"))
		for range 2 {
			var err error
			if d, _, err = w.Deploy.Report(w.Acme.As(actor.Runner), d.ID, lease, deployment.Report{
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
		runner, p := w.Acme.As(actor.Runner), w.Place(t, w.Acme, "web")
		d, lease := runningOf[catalog.KindECS](t, w, p)
		report := func(sequence *int32, text string) *ent.Deployment {
			got, l, err := w.Deploy.Report(runner, d.ID, lease, deployment.Report{Sequence: sequence, Events: []ecs.Event{{Message: &text}}})
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
		if diff := cmp.Diff([]int32{1, 2, 3, 4, 5, 6, 7}, told(t, w, w.Acme, d.ID)); diff != "" || last.Version != 7 {
			t.Errorf("version %d, told: %s", last.Version, diff)
		}
	})
}

func TestReportsOverTheBoundsAreRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", deployment.MaxEventMessage)
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		runner, p := w.Acme.As(actor.Runner), w.Place(t, w.Acme, "web")
		for kind, make := range runningOf {
			d, lease := make(t, w, p)
			bad := []ecs.Event{{Message: new(long + "x")}, {HookID: new(long + "x"), LifecycleStage: new(long + "x")}, {}, {Message: new("")}}
			for _, c := range []struct {
				in       deployment.Report
				pointers []string
			}{
				{deployment.Report{Sequence: new(int32(0))}, []string{"/sequence"}},
				{deployment.Report{Sequence: new(int32(-1))}, []string{"/sequence"}},
				{deployment.Report{Events: numbers(0, 101)}, []string{"/events"}},
				{deployment.Report{Events: bad}, []string{"/events/0/message", "/events/1/hookId", "/events/1/lifecycleStage", "/events/2"}},
				{deployment.Report{Data: strictjson.MustParse(`[]`)}, []string{"/data"}},
				{deployment.Report{Data: strictjson.MustParse(`{"clusterArn":1,"events":[{"message":2}]}`)}, []string{"/data/clusterArn", "/data/events/0/message"}},
			} {
				if kind == catalog.KindTerraform && c.in.Data != nil {
					c.in.Data, c.pointers = strictjson.MustParse(`{"clusterArn":"c"}`), []string{"/data"}
				}
				f := refused(t, w, fmt.Sprint(kind, c.pointers), fault.RequestInvalid, func() (*ent.Deployment, error) {
					d, _, err := w.Deploy.Report(runner, d.ID, lease, c.in)
					return d, err
				})
				wantViolations(t, f, c.pointers...)
			}
			for _, in := range []deployment.Report{{}, {Sequence: new(int32(1)), Events: numbers(0, 100)}, {Events: []ecs.Event{{Message: &long, HookID: &long}, {CurrentStep: new(int32(0))}}}} {
				if _, _, err := w.Deploy.Report(runner, d.ID, lease, in); err != nil {
					t.Errorf("%s: %v", kind, err)
				}
			}
		}
	})
}

func TestTheOldestEventsAreFoldedAndCounted(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, runner, p := clockOf(w), w.Acme.As(actor.Runner), w.Place(t, w.Acme, "web")
		for kind, make := range runningOf {
			d, lease := make(t, w, p)
			begun := clock.now()
			for i := range 5 {
				got, _, err := w.Deploy.Report(runner, d.ID, lease, deployment.Report{Events: numbers(100*i, 100)})
				if err != nil {
					t.Fatal(err)
				}
				d = got
				clock.pass(time.Second)
			}
			var want []string
			for i := 301; i < 500; i++ {
				want = append(want, fmt.Sprint(i))
			}
			want = append([]string{"301 earlier events are not kept."}, want...)
			if diff := cmp.Diff(want, messages(t, d)); diff != "" || d.FoldedEvents != 301 {
				t.Errorf("%s: %d are folded: %s", kind, d.FoldedEvents, diff)
			}
			if events, _ := deployment.Events(t.Context(), d); *events[0].StartedAt != begun.Format(time.RFC3339Nano) {
				t.Errorf("%s: the first is of %s, want %s", kind, *events[0].StartedAt, begun)
			}
			if kind == catalog.KindTerraform && !d.Data.IsZero() {
				t.Errorf("a terraform deployment has data: %s", d.Data.JSON())
			}
		}
	})
}

func TestEventsAreBoundInTheirBytes(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		d, lease := runningOf[catalog.KindTerraform](t, w, w.Place(t, w.Acme, "web"))
		list := make([]ecs.Event, 100)
		for i := range list {
			list[i] = ecs.Event{CurrentStep: new(int32(i)), Message: new(strings.Repeat("x", 4000))}
		}
		d, _, err := w.Deploy.Report(w.Acme.As(actor.Runner), d.ID, lease, deployment.Report{Events: list})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(d.Events)
		last := d.Events[len(d.Events)-1]
		if err != nil || len(text) > ecs.MaxEventBytes || len(d.Events)-1+int(d.FoldedEvents) != 100 || *last.CurrentStep != 99 {
			t.Errorf("%d bytes, %d events, %d folded, last %d, %v", len(text), len(d.Events), d.FoldedEvents, *last.CurrentStep, err)
		}
	})
}
