package deployment_test

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"slipway/ent"
	entdeployment "slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/feed"
	"slipway/internal/data/page"
	"slipway/internal/pure/gate"
	"slipway/internal/pure/module"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/deployment/view"
	"slipway/internal/test/worldtest"
)

// Every member of a filter means the same to the list and to those who follow what is in it. There are two deployments of
// each of two kinds that have nothing in common, made by turns: whoever has been sent the last that the list has has
// been sent all before it, and none of the others.
func TestAFilterHasOneMeaning(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ctx := w.Acme.As(actor.Viewer)
		start, err := w.Deploy.View.Feed.Head(ctx)
		if err != nil {
			t.Fatal(err)
		}
		web, plan := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Acme, "plan")
		frozen := gate.Demand{Kind: &gate.Freeze{From: time.Now().Add(-time.Hour)}}
		demand(t, w, plan, frozen) // which all that is planned goes past
		made := []*ent.Deployment{
			web.Succeeded(t), planned(t, w, plan, "1.5.0"), web.Succeeded(t), planned(t, w, plan, "1.6.0"),
		}
		for i, trigger := range map[int]string{0: "event", 2: "redeploy"} {
			raw(t, w, `UPDATE deployments SET trigger_source = '`+trigger+`' WHERE id = '`+made[i].ID+`'`)
			made[i].TriggerSource = trigger
		}
		for name, values := range filterValues(t, made) {
			for _, v := range values {
				wantOneMeaning(t, w, filterOf(name, v.value), v.of, start.String())
			}
		}
	})
}

// filterOf returns a filter with one member, which is a pointer to a value or a list.
func filterOf(member string, value any) (f view.Filter) {
	of := reflect.ValueOf(value)
	if of.Kind() != reflect.Slice {
		pointer := reflect.New(of.Type())
		pointer.Elem().Set(of)
		of = pointer
	}
	reflect.ValueOf(&f).Elem().FieldByName(member).Set(of)
	return f
}

// planned makes a deployment of another type than those of a fixture, which is canceled.
func planned(t *testing.T, w *worldtest.World, p *worldtest.Fixture, version string) *ent.Deployment {
	t.Helper()
	admin := w.Acme.As(actor.Admin)
	v, _, err := w.Catalog.PublishVersion(admin, module.NewVersion{
		DefinitionID: p.Definition.ID, Version: version, Kind: module.DeploymentTypeTerraform, Inputs: strictjson.MustParse(worldtest.Inputs),
	})
	if err != nil {
		t.Fatal(err)
	}
	d, _, err := w.Deploy.Propose.Create(admin, propose.New{
		InstanceID: p.Instance.ID, VersionID: v.ID, Inputs: strictjson.MustParse(`{"image":"web:1"}`),
		PipelineRunID: new("run-7"),
		Request:       admission.Request{Reason: new("Weil ÜBERFÄLLIG"), Control: admission.Control{OverrideReason: new("it is only a test")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return w.Cancel(t, w.Acme, d.ID)
}

// filterValue is a value of a member of Filter, and the deployments that meet it, the newest first.
type filterValue struct {
	value any
	of    []string
}

// filterValues returns values for each member of Filter: those that deployments have, and for times also the next ones.
func filterValues(t *testing.T, made []*ent.Deployment) map[string][]filterValue {
	t.Helper()
	values := map[string][]filterValue{}
	add := func(name string, value any, isMet func(*ent.Deployment) bool) {
		v := filterValue{value: value}
		for _, d := range slices.Backward(made) {
			if isMet(d) {
				v.of = append(v.of, d.ID)
			}
		}
		values[name] = append(values[name], v)
	}
	all, none := func(*ent.Deployment) bool { return true }, func(*ent.Deployment) bool { return false }
	add("Statuses", []entdeployment.Status{entdeployment.StatusSUCCEEDED, entdeployment.StatusCANCELED}, all)
	add("Statuses", []entdeployment.Status{}, none)
	add("Operations", []gate.Operation{gate.Redeploy}, func(o *ent.Deployment) bool { return o.TriggerSource == "redeploy" })
	add("Operations", []gate.Operation{gate.Create, gate.Redeploy, gate.Create}, func(o *ent.Deployment) bool { return o.TriggerSource != "event" })
	add("Operations", []gate.Operation{}, none)
	add("PipelineRunID", "run-7", func(o *ent.Deployment) bool { return o.PipelineRunID != nil })
	add("Search", "überfällig", func(o *ent.Deployment) bool { return o.Reason != nil })
	for _, is := range []bool{true, false} {
		add("External", is, func(o *ent.Deployment) bool { return (o.TriggerSource == "event") == is })
		add("Overridden", is, func(o *ent.Deployment) bool { return (o.Override != nil) == is })
	}
	for _, d := range made {
		add("ModuleInstanceID", d.ModuleInstanceID, func(o *ent.Deployment) bool { return o.ModuleInstanceID == d.ModuleInstanceID })
		add("EnvironmentID", d.EnvironmentID, func(o *ent.Deployment) bool { return o.EnvironmentID == d.EnvironmentID })
		add("ProjectID", d.ProjectID, func(o *ent.Deployment) bool { return o.ProjectID == d.ProjectID })
		add("Statuses", []entdeployment.Status{d.Status, d.Status}, func(o *ent.Deployment) bool { return o.Status == d.Status })
		add("ModuleDefinitionID", *d.ModuleDefinitionID, func(o *ent.Deployment) bool { return *o.ModuleDefinitionID == *d.ModuleDefinitionID })
		add("ModuleVersionID", *d.ModuleVersionID, func(o *ent.Deployment) bool { return *o.ModuleVersionID == *d.ModuleVersionID })
		add("ReleaseID", *d.ReleaseID, func(o *ent.Deployment) bool { return *o.ReleaseID == *d.ReleaseID })
		add("CreatedByID", *d.CreatedByID, func(o *ent.Deployment) bool { return *o.CreatedByID == *d.CreatedByID })
		add("Kind", d.DeploymentType, func(o *ent.Deployment) bool { return o.DeploymentType == d.DeploymentType })
		for _, later := range []time.Duration{0, time.Microsecond, 1, -1} {
			at := d.CreatedAt.Add(later)
			add("CreatedFrom", at, func(o *ent.Deployment) bool { return !o.CreatedAt.Before(at) })
			add("CreatedBefore", at, func(o *ent.Deployment) bool { return o.CreatedAt.Before(at) })
		}
	}
	for f := range reflect.TypeFor[view.Filter]().Fields() {
		if f.Name == "AwaitingMyApproval" || f.Name == "LastCompleted" {
			continue // of lists only
		}
		if len(values[f.Name]) == 0 {
			t.Fatalf("say which deployments meet the member %s of Filter", f.Name)
		}
		if !slices.ContainsFunc(values[f.Name], func(v filterValue) bool { return len(v.of) > 0 && len(v.of) < len(made) }) {
			t.Errorf("no value of the member %s of Filter is met by some of the deployments and not by others", f.Name)
		}
	}
	return values
}

// wantOneMeaning wants some deployments to be in the list of a filter, and to be sent to who follows it.
func wantOneMeaning(t *testing.T, w *worldtest.World, f view.Filter, want []string, start string) {
	t.Helper()
	ctx, leave := context.WithCancel(w.Acme.As(actor.Viewer))
	defer leave()
	list, err := w.Deploy.View.Deployments(ctx, f, page.Args{})
	if err != nil {
		t.Fatal(err)
	}
	var listed, sent []string
	for _, e := range list.Edges {
		listed = append(listed, e.Node.ID)
	}
	if !slices.Equal(listed, want) {
		t.Errorf("%+v: the list has %s, want %s", f, listed, want)
	}
	if len(want) == 0 {
		return // nothing will ever come
	}
	items, err := w.Deploy.View.FollowAll(ctx, f, &start)
	if err != nil {
		t.Fatal(err)
	}
	for !slices.Contains(sent, want[0]) {
		item := next(t, items)
		if item == nil || item.Err != nil {
			t.Fatalf("%+v: %+v, with %s still to come", f, item, want[0])
		}
		if id := item.Deployment.ID; item.Kind != feed.Left && !slices.Contains(sent, id) {
			sent = append(sent, id)
		}
	}
	if slices.Reverse(sent); !slices.Equal(sent, want) {
		t.Errorf("%+v: who follows is sent %s, want %s", f, sent, want)
	}
}
