package deployment_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/page"
	"slipway/internal/pure/gate"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/deployment/view"
	"slipway/internal/test/worldtest"

	entdeployment "slipway/ent/deployment"
)

// pager returns a page of a list.
type pager func(ctx context.Context, f view.Filter, args page.Args) (*page.DeploymentConnection, error)

// pagers are the lists of deployments: of all, and of the records that a deployment has.
func pagers(w *worldtest.World, d *ent.Deployment) map[string]pager {
	of := func(p view.Parent, id string) pager {
		return func(ctx context.Context, f view.Filter, args page.Args) (*page.DeploymentConnection, error) {
			pages, err := w.Deploy.View.DeploymentsOf(ctx, p, []string{id}, f, args)
			return pages[id], err
		}
	}
	return map[string]pager{
		"all": w.Deploy.View.Deployments, "instance": of(view.OfInstance, d.ModuleInstanceID),
		"environment": of(view.OfEnvironment, d.EnvironmentID), "project": of(view.OfProject, d.ProjectID),
		"release": of(view.OfRelease, *d.ReleaseID), "definition": of(view.OfDefinition, *d.ModuleDefinitionID),
	}
}

// listed returns the ids of the deployments of a list, read page by page, forward and backward.
func listed(t *testing.T, ctx context.Context, read pager, f view.Filter) (forward, backward []string) {
	t.Helper()
	for args := (page.Args{First: new(int32(2))}); ; {
		c, err := read(ctx, f, args)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range c.Nodes() {
			forward = append(forward, d.ID)
		}
		if args.After = c.PageInfo.EndCursor; !c.PageInfo.HasNextPage {
			break
		}
	}
	for args := (page.Args{Last: new(int32(2))}); ; {
		c, err := read(ctx, f, args)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, d := range c.Nodes() {
			ids = append(ids, d.ID)
		}
		backward = append(ids, backward...)
		if args.Before = c.PageInfo.StartCursor; !c.PageInfo.HasPreviousPage {
			break
		}
	}
	return forward, backward
}

// wantList wants a list to have some deployments, whichever way it is read, and to count as many.
func wantList(t *testing.T, ctx context.Context, name string, read pager, f view.Filter, want ...string) {
	t.Helper()
	forward, backward := listed(t, ctx, read, f)
	if !slices.Equal(forward, want) || !slices.Equal(backward, want) {
		t.Errorf("%s %+v: forward %s, backward %s, want %s", name, f, forward, backward, want)
	}
	c, err := read(ctx, f, page.Args{First: new(int32(1))})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := c.TotalCount(ctx); int(n) != len(want) || err != nil {
		t.Errorf("%s %+v: %d in all, %v, want %d", name, f, n, err, len(want))
	}
}

// Deployments end in another order than they were created in. While somebody pages, another one ends: the pages after go
// on where they were.
func TestDeploymentsAreListedInTheOrderInWhichTheyEnded(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ctx := w.Acme.As(actor.Viewer)
		p := w.Fixture(t, w.Acme, "web")
		var made []*ent.Deployment
		for _, name := range []string{"a", "b", "c", "d"} {
			made = append(made, p.Deploy(t, p.NewInstance(t, name).ID, `{"image":"web:1"}`))
		}
		id := func(i int) string { return made[i].ID }
		w.Cancel(t, w.Acme, id(2))
		w.Cancel(t, w.Acme, id(0))
		last := view.Filter{LastCompleted: true}
		for name, read := range pagers(w, made[0]) {
			inPlace := last
			switch name {
			case "instance":
				wantList(t, ctx, name, read, last, id(0))
				continue
			case "environment":
			default:
				wantRefusal(t, ctx, name, read)
				inPlace.EnvironmentID = &p.Environment.ID
			}
			wantList(t, ctx, name, read, inPlace, id(0), id(2))
			inPlace.Statuses = []entdeployment.Status{entdeployment.StatusFAILED, entdeployment.StatusCANCELED}
			wantList(t, ctx, name, read, inPlace, id(0), id(2))
			inPlace.Statuses = []entdeployment.Status{entdeployment.StatusPENDING}
			wantList(t, ctx, name, read, inPlace)
		}

		read := pagers(w, made[0])["environment"]
		first, err := read(ctx, last, page.Args{First: new(int32(1))})
		if err != nil {
			t.Fatal(err)
		}
		w.Cancel(t, w.Acme, id(1))
		next, err := read(ctx, last, page.Args{First: new(int32(5)), After: first.PageInfo.EndCursor})
		if err != nil || len(next.Edges) != 1 || next.Edges[0].Node.ID != id(2) {
			t.Errorf("the next page after one ended: %v, %v", next.Nodes(), err)
		}
		before, err := read(ctx, last, page.Args{Last: new(int32(5)), Before: first.PageInfo.StartCursor})
		if err != nil || len(before.Edges) != 1 || before.Edges[0].Node.ID != id(1) {
			t.Errorf("the page before after one ended: %v, %v", before.Nodes(), err)
		}
		if _, err := read(ctx, view.Filter{}, page.Args{After: first.PageInfo.EndCursor}); !fault.Is(err, fault.RequestCursorInvalid) {
			t.Errorf("a cursor of another order: %v", err)
		}
	})
}

// wantRefusal wants a list that is not of one place to say what its order needs.
func wantRefusal(t *testing.T, ctx context.Context, name string, read pager) {
	t.Helper()
	_, err := read(ctx, view.Filter{LastCompleted: true}, page.Args{})
	if !fault.Is(err, fault.RequestInvalid) || !strings.Contains(err.Error(), "Give filter.environmentId or filter.moduleInstanceId") {
		t.Errorf("%s: %v", name, err)
	}
}

func TestAFilterIsOneMoreConditionOnTheDeploymentsOfARecord(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ctx := w.Acme.As(actor.Viewer)
		p, elsewhere := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Acme, "elsewhere")
		first, other := p.Succeeded(t), elsewhere.Succeeded(t)
		second, _, err := w.Deploy.Propose.Redeploy(w.Acme.As(actor.Developer), propose.Replay{SourceID: first.ID, Request: admission.Request{Reason: new("Zweiter Anlauf: Ümlaut")}})
		if err != nil {
			t.Fatal(err)
		}
		w.Cancel(t, w.Acme, second.ID)
		third, _, err := w.Deploy.Propose.Rollback(w.Acme.As(actor.Developer), propose.Replay{SourceID: first.ID})
		if err != nil {
			t.Fatal(err)
		}
		for name, read := range pagers(w, first) {
			if name != "all" {
				wantList(t, ctx, name, read, view.Filter{}, third.ID, second.ID, first.ID)
				wantList(t, ctx, name, read, view.Filter{ModuleInstanceID: &other.ModuleInstanceID})
			}
			wantList(t, ctx, name, read, view.Filter{Search: new("ÜMLAUT")}, second.ID)
			wantList(t, ctx, name, read, view.Filter{Search: new("nowhere")})
			wantList(t, ctx, name, read, view.Filter{ReleaseID: first.ReleaseID, Operations: []gate.Operation{gate.Rollback, gate.Redeploy, gate.Destroy}}, third.ID, second.ID)
			wantList(t, ctx, name, read, view.Filter{ModuleVersionID: first.ModuleVersionID,
				Statuses:   []entdeployment.Status{entdeployment.StatusCANCELED, entdeployment.StatusPENDING, entdeployment.StatusSUCCEEDED},
				Operations: []gate.Operation{gate.Create, gate.Rollback}}, third.ID, first.ID)
			wantList(t, ctx, name, read, everyCondition(first), first.ID)
		}
	})
}

// everyCondition returns a filter with every condition, which a deployment meets that has succeeded.
func everyCondition(d *ent.Deployment) view.Filter {
	return view.Filter{
		ModuleInstanceID: &d.ModuleInstanceID, EnvironmentID: &d.EnvironmentID, ProjectID: &d.ProjectID,
		ModuleDefinitionID: d.ModuleDefinitionID, ModuleVersionID: d.ModuleVersionID, ReleaseID: d.ReleaseID,
		Statuses: []entdeployment.Status{d.Status, entdeployment.StatusFAILED}, Operations: []gate.Operation{gate.Create, gate.Promote},
		Kind: &d.DeploymentType, External: new(false), CreatedByID: d.CreatedByID, CreatedFrom: &d.CreatedAt,
		CreatedBefore: new(d.CreatedAt.Add(1000)), Overridden: new(false),
	}
}

func TestListsOfSeveralRecordsAreReadByOneStatementWithAFilter(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ctx := w.Acme.As(actor.Viewer)
		p, other := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Acme, "other")
		first, second, third := p.Succeeded(t), p.Succeeded(t), other.Succeeded(t)
		ids := []string{p.Instance.ID, other.Instance.ID}
		for _, f := range []view.Filter{
			{}, {Statuses: []entdeployment.Status{entdeployment.StatusSUCCEEDED, entdeployment.StatusRUNNING}}, {LastCompleted: true},
		} {
			var pages map[string]*page.DeploymentConnection
			ran := w.Statements(func() {
				var err error
				if pages, err = w.Deploy.View.DeploymentsOf(ctx, view.OfInstance, ids, f, page.Args{First: new(int32(5))}); err != nil {
					t.Fatal(err)
				}
			})
			var got []string
			for _, id := range ids {
				for _, d := range pages[id].Nodes() {
					got = append(got, d.ID)
				}
			}
			if want := []string{second.ID, first.ID, third.ID}; !slices.Equal(got, want) || len(ran) != 1 {
				t.Errorf("%+v: %s by %d statements, want %s by 1: %q", f, got, len(ran), want, ran)
			}
		}
	})
}
