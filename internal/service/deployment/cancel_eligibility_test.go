package deployment_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/test/worldtest"
)

func TestCancelEligibilitySaysWhatACancelThenDoes(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, tried, allowed := clockOf(w), 0, 0
		for state, make := range map[string]func(p *worldtest.Fixture) *ent.Deployment{
			"pending":   func(p *worldtest.Fixture) *ent.Deployment { return p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`) },
			"succeeded": func(p *worldtest.Fixture) *ent.Deployment { return p.Succeeded(t) },
			"waits": func(p *worldtest.Fixture) *ent.Deployment {
				demand(t, w, p, approvals(1))
				return deploy(w.Acme.As(actor.Developer), t, w, p, "web:1")
			},
			"running": func(p *worldtest.Fixture) *ent.Deployment {
				d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
				p.Claim(t, d)
				return d
			},
			"requested": func(p *worldtest.Fixture) *ent.Deployment {
				d, _ := requested(t, w, p)
				return d
			},
			"requested for long": func(p *worldtest.Fixture) *ent.Deployment {
				d, _ := requested(t, w, p)
				clock.Advance(2 * time.Minute)
				return d
			},
		} {
			for role, ctx := range callers(t, w) {
				if role == "anonymous" {
					continue // it reads no deployment
				}
				for _, force := range []bool{false, true} {
					tried++
					d := make(w.Fixture(t, w.Acme, fmt.Sprintf("web-%d", tried)))
					now := w.Store.Client.Deployment.GetX(w.Acme.As(actor.Viewer), d.ID)
					offered, err := w.Deploy.Execution.CancelEligibility(ctx, now, force, clock.Now())
					if err != nil {
						t.Fatal(err)
					}

					cancel := w.Deploy.Execution.Cancel
					if force {
						cancel = w.Deploy.Execution.ForceCancel
					}
					_, err = cancel(ctx, d.ID, nil)
					refusal, isRefused := errors.AsType[*fault.Error](err)
					if diff := cmp.Diff(offered.Refusal, refusal, cmpopts.IgnoreUnexported(fault.Error{})); offered.Allowed == isRefused || diff != "" {
						t.Errorf("%s, %s, by force %t: offered %t, then %v: offered (-), then (+):\n%s", state, role, force,
							offered.Allowed, err, diff)
					}
					if offered.Allowed {
						allowed++
					} else if state == "pending" {
						w.Cancel(t, w.Acme, d.ID) // lest the next claim takes it
					}
				}
			}
		}
		// Developers, admins and superadmins cancel five of the six; by force admins and superadmins cancel three.
		if allowed != 3*5+2*3 {
			t.Errorf("%d are allowed", allowed)
		}
	})
}

func TestWhetherDeploymentsCanBeCanceledIsAskedWithThem(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		p.Claim(t, d)
		const query = `{ deployments(first: 10) { nodes {
			can: cancelEligibility { allowed refusal { code } warnings { rule } blockedBy { id } }
			force: cancelEligibility(force: true) { allowed refusal { code message } } } } }`

		r := w.GraphQL(t, w.Acme.Tokens[actor.Admin], query, nil)
		want := map[string]any{
			"can": map[string]any{"allowed": true, "refusal": nil, "warnings": []any{}, "blockedBy": nil},
			"force": map[string]any{"allowed": false, "refusal": map[string]any{
				"code": "slipway:Deployment:WRONG_STATE",
				"message": "The deployment " + d.ID + " cannot be canceled by force: its cancellation was not requested before; " +
					"request it without force, and repeat this 2 minutes later.",
			}},
		}
		if diff := cmp.Diff(want, r.At(t, "data", "deployments", "nodes", 0)); diff != "" {
			t.Errorf("want (-), got (+):\n%s", diff)
		}

		r = w.GraphQL(t, w.Acme.Tokens[actor.Viewer], query, nil)
		if code := r.At(t, "data", "deployments", "nodes", 0, "can", "refusal", "code"); code != "slipway:Deployment:FORBIDDEN" {
			t.Errorf("a viewer: %v", code)
		}
	})
}
