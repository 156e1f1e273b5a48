package deployment_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	entdeployment "slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/pure/module"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/test/worldtest"
)

// states makes a deployment of each status.
var states = map[string]func(*testing.T, *worldtest.Fixture, *worldtest.World) *ent.Deployment{
	"PENDING": func(t *testing.T, p *worldtest.Fixture, _ *worldtest.World) *ent.Deployment {
		return p.Deploy(t, p.Instance.ID, `{"image":"web:1.4.2"}`)
	},
	"RUNNING": func(t *testing.T, p *worldtest.Fixture, w *worldtest.World) *ent.Deployment {
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1.4.2"}`)
		p.Claim(t, d)
		running, err := w.Store.Client.Deployment.Get(w.Acme.As(actor.Runner), d.ID)
		if err != nil {
			t.Fatal(err)
		}
		return running
	},
	"SUCCEEDED": func(t *testing.T, p *worldtest.Fixture, _ *worldtest.World) *ent.Deployment { return p.Succeeded(t) },
	"FAILED":    func(t *testing.T, p *worldtest.Fixture, _ *worldtest.World) *ent.Deployment { return p.Failed(t) },
	"CANCELED": func(t *testing.T, p *worldtest.Fixture, w *worldtest.World) *ent.Deployment {
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1.4.2"}`)
		canceled, err := w.Deploy.Execution.Cancel(w.Acme.As(actor.Developer), d.ID, nil)
		if err != nil {
			t.Fatal(err)
		}
		return canceled
	},
}

func TestTransitionsAreThoseOfTheTable(t *testing.T) {
	t.Parallel()
	// What each state becomes by each operation; what is not listed is refused: to the runner, because it
	// holds no lease on the deployment, or none any more.
	becomes := map[string]map[string]entdeployment.Status{
		"PENDING": {"cancel": "CANCELED"},
		"RUNNING": {"cancel": "RUNNING", "report": "RUNNING", "complete": "SUCCEEDED"},
	}
	refusals := map[string]fault.Code{
		"cancel": fault.DeploymentWrongState, "report": fault.DeploymentLeaseLost, "complete": fault.DeploymentLeaseLost,
	}
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		for state, make := range states {
			for _, name := range []string{"report", "complete", "cancel"} {
				d := make(t, w.Fixture(t, w.Acme, state+"-"+name), w)
				operation := operations[name]
				ctx := w.Acme.As(operation.role)
				want, allowed := becomes[state][name]
				if state == "SUCCEEDED" && name == "complete" {
					// The runner may say so again: nothing is changed by it.
					unchanged(t, w, "completing again", func() {
						if again, err := operation.call(w, ctx, d.ID); err != nil || !cmp.Equal(d, again, whole) {
							t.Errorf("%v, %v", again, err)
						}
					})
				} else if !allowed {
					f := refused(t, w, state+" "+name, refusals[name], func() (*ent.Deployment, error) {
						return operation.call(w, ctx, d.ID)
					})
					if got := map[string]any{"deploymentId": d.ID, "status": state}; f != nil && !cmp.Equal(got, f.Metadata) {
						t.Errorf("%s %s: metadata %v", state, name, f.Metadata)
					}
				} else if got, err := operation.call(w, ctx, d.ID); err != nil || got.Status != want || got.Version != d.Version+1 {
					t.Errorf("%s %s: %v, %v, want %s", state, name, got, err, want)
				}
				if left := w.Store.Client.Deployment.GetX(ctx, d.ID); left.CompletedAt == nil {
					w.Cancel(t, w.Acme, d.ID)
				}
			}
		}
	})
}

func TestClaimTakesTheOldestPendingOfItsKindsOnce(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		runner := w.Acme.As(actor.Runner)
		theirs := w.Fixture(t, w.Globex, "web")
		theirs.Deploy(t, theirs.Instance.ID, `{"image":"web:1"}`)
		p := w.Fixture(t, w.Acme, "web")
		older := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		newer := p.Deploy(t, p.NewInstance(t, "worker").ID, `{"image":"web:1"}`)
		for _, want := range []*ent.Deployment{nil, older, newer, nil} {
			kinds := module.DeploymentTypes
			if want == nil {
				kinds = []string{module.DeploymentTypeTerraform}
			}
			got, _, err := w.Deploy.Execution.Claim(runner, execution.Claim{Kinds: kinds})
			if err != nil || (got == nil) != (want == nil) {
				t.Fatalf("claimed %v, %v, want %v", got, err, want)
			}
			if got != nil && (got.ID != want.ID || got.Status != "RUNNING" || got.StartedAt == nil || got.Version != want.Version+1) {
				t.Errorf("claimed %v, want %v", got, want)
			}
		}
		if got, _, err := w.Deploy.Execution.Claim(runner, execution.Claim{Kinds: module.DeploymentTypes}); got != nil || err != nil {
			t.Errorf("claimed %v, %v: it is another organization's", got, err)
		}
		for _, kinds := range [][]string{nil, {"aws:lambda"}} {
			if _, _, err := w.Deploy.Execution.Claim(runner, execution.Claim{Kinds: kinds}); !fault.Is(err, fault.RequestInvalid) {
				t.Errorf("kinds %q: %v", kinds, err)
			}
		}
	})
}

func TestEndsAreWrittenDown(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		live := func() string {
			i := w.Store.Client.ModuleInstance.GetX(w.Acme.As(actor.Viewer), p.Instance.ID)
			if i.LiveDeploymentID == nil {
				return ""
			}
			return *i.LiveDeploymentID
		}
		for _, c := range []struct {
			status, code string
			moves        bool
		}{{"FAILED", "slipway:Deployment:FAILED", false}, {"SUCCEEDED", "", true}, {"CANCELED", "slipway:Deployment:CANCELED", false}, {"FAILED", "slipway:Deployment:FAILED", false}, {"SUCCEEDED", "", true}} {
			before := live()
			d := states[c.status](t, p, w)
			if d.CompletedAt == nil || string(d.Status) != c.status || (d.StartedAt == nil) != (c.status == "CANCELED") {
				t.Errorf("%s: %v", c.status, d)
			}
			if code := codeOf(d); code != c.code {
				t.Errorf("%s: error %q, want %q", c.status, code, c.code)
			}
			if want := map[bool]string{true: d.ID, false: before}[c.moves]; live() != want {
				t.Errorf("%s: live is %q, want %q", c.status, live(), want)
			}
		}
	})
}

func codeOf(d *ent.Deployment) string {
	if d.Error == nil {
		return ""
	}
	return d.Error.Code
}
