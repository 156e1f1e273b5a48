package deployment_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"slipway/ent"
	entdeployment "slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// situations are those in which a replay may be asked for: each makes its source.
var situations = map[string]func(*testing.T, *worldtest.Fixture, *worldtest.World) *ent.Deployment{
	"no release": func(t *testing.T, p *worldtest.Fixture, w *worldtest.World) *ent.Deployment {
		d := p.Succeeded(t)
		raw(t, w, `UPDATE deployments SET release_id = NULL WHERE id = '`+d.ID+`'`)
		return d
	},
	"changed release": func(t *testing.T, p *worldtest.Fixture, w *worldtest.World) *ent.Deployment {
		d := p.Finish(t, p.Deploy(t, p.Instance.ID, `{"image":"web:changed"}`), nil)
		raw(t, w, `UPDATE releases SET content = replace(content, 'web:changed', 'web:6.6.6') WHERE id = '`+*d.ReleaseID+`'`)
		return d
	},
	"quarantined": func(t *testing.T, p *worldtest.Fixture, w *worldtest.World) *ent.Deployment {
		d := p.Finish(t, p.Deploy(t, p.Instance.ID, `{"image":"web:bad"}`), nil)
		quarantine(t, w, *d.ReleaseID)
		return d
	},
	"quarantine lifted": func(t *testing.T, p *worldtest.Fixture, w *worldtest.World) *ent.Deployment {
		d := p.Finish(t, p.Deploy(t, p.Instance.ID, `{"image":"web:lifted"}`), nil)
		quarantine(t, w, *d.ReleaseID)
		if _, err := w.Deploy.Releases.UnquarantineRelease(w.Acme.As(actor.Admin), *d.ReleaseID); err != nil {
			t.Fatal(err)
		}
		return d
	},
	"quarantined and blocked": func(t *testing.T, p *worldtest.Fixture, w *worldtest.World) *ent.Deployment {
		d := p.Finish(t, p.Deploy(t, p.Instance.ID, `{"image":"web:worse"}`), nil)
		quarantine(t, w, *d.ReleaseID)
		states["RUNNING"](t, p, w)
		return d
	},
	"blocked": func(t *testing.T, p *worldtest.Fixture, w *worldtest.World) *ent.Deployment {
		d := p.Succeeded(t)
		states["RUNNING"](t, p, w)
		return d
	},
	"blocked by its own replay": func(t *testing.T, p *worldtest.Fixture, w *worldtest.World) *ent.Deployment {
		d := p.Failed(t)
		if _, _, err := w.Deploy.Propose.Redeploy(w.Acme.As(actor.Admin), propose.Replay{SourceID: d.ID}); err != nil {
			t.Fatal(err)
		}
		return d
	},
	"live": func(t *testing.T, p *worldtest.Fixture, _ *worldtest.World) *ent.Deployment {
		p.Failed(t)
		return p.Succeeded(t)
	},
}

func quarantine(t *testing.T, w *worldtest.World, releaseID string) {
	t.Helper()
	if _, err := w.Deploy.Releases.Quarantine(w.Acme.As(actor.Admin), releaseID, "It loses data.", nil); err != nil {
		t.Fatal(err)
	}
}

func TestEligibilitySaysWhatAReplayThenDoes(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		all := map[string]func(*testing.T, *worldtest.Fixture, *worldtest.World) *ent.Deployment{}
		for _, some := range []map[string]func(*testing.T, *worldtest.Fixture, *worldtest.World) *ent.Deployment{states, situations} {
			for name, make := range some {
				all[name] = make
			}
		}
		outcomes := map[string]int{}
		for name, make := range all {
			p := w.Fixture(t, w.Acme, strings.ReplaceAll(name, " ", "-"))
			source := make(t, p, w)
			for role, ctx := range callers(t, w) {
				agree(t, w, name+", "+role, ctx, source.ID, outcomes)
			}
			for _, d := range w.Store.Client.Deployment.Query().Where(entdeployment.CompletedAtIsNil()).AllX(w.Acme.As(actor.Viewer)) {
				w.Cancel(t, w.Acme, d.ID)
			}
		}
		// 13 situations, for 3 roles that may; of a rollback 3 succeed, of a redeploy 5.
		want := map[string]int{
			"": 3*3 + 3*5, "slipway:Deployment:FORBIDDEN": 2 * 13 * 2, "slipway:Request:UNAUTHENTICATED": 13 * 2,
			"slipway:Deployment:TARGET_NOT_SUCCEEDED": 3 * 5, "slipway:Release:UNAVAILABLE": 3 * 2, "slipway:Release:DIGEST_MISMATCH": 3 * 2,
			"slipway:Release:QUARANTINED": 3 * 4, "slipway:Deployment:IN_PROGRESS": 3 * (1 + 4),
		}
		if diff := cmp.Diff(want, outcomes); diff != "" {
			t.Errorf("outcomes: want (-), got (+):\n%s", diff)
		}
	})
}

// callers are all who may ask.
func callers(t *testing.T, w *worldtest.World) map[string]context.Context {
	t.Helper()
	superadmin := (&actor.Actor{ID: "tok_1", Name: "root", Role: actor.Superadmin, Channel: actor.GraphQL}).In(w.Acme.ID)
	list := map[string]context.Context{"superadmin": actor.With(t.Context(), superadmin)}
	for _, role := range []actor.Role{actor.Viewer, actor.Developer, actor.Admin, actor.Runner} {
		list[string(role)] = w.Acme.As(role)
	}
	// Who is nobody sees no deployment; if one did, it would say why not.
	list["anonymous"] = actor.With(t.Context(), (&actor.Actor{Name: "anonymous"}).In(w.Acme.ID))
	return list
}

// agree says that both eligibilities are what the replays do, and counts the codes.
func agree(t *testing.T, w *worldtest.World, name string, ctx context.Context, sourceID string, outcomes map[string]int) {
	t.Helper()
	for kind, replay := range map[string]worldtest.Replaying{
		"rollback": w.Deploy.Propose.Rollback, "redeploy": w.Deploy.Propose.Redeploy,
	} {
		both, err := w.Deploy.Admission.Eligibilities(ctx, []string{sourceID})
		if err != nil {
			t.Fatal(name, err)
		}
		offered := both[sourceID].Rollback
		if kind == "redeploy" {
			offered = both[sourceID].Redeploy
		}
		before := w.Rows(t)
		made, warnings, err := replay(ctx, propose.Replay{SourceID: sourceID})
		var code, blocker string
		refusal, isRefused := errors.AsType[*fault.Error](err)
		if isRefused {
			code = string(refusal.Code)
			by, _ := refusal.Metadata["blockedBy"].(map[string]any)
			blocker, _ = by["deploymentId"].(string)
		}
		outcomes[code]++
		if diff := cmp.Diff(offered.Refusal, refusal, cmpopts.IgnoreUnexported(fault.Error{})); offered.Allowed != (err == nil) || offered.Allowed == isRefused || diff != "" {
			t.Errorf("%s, %s: offered %t, then %v: offered (-), then (+):\n%s", name, kind, offered.Allowed, err, diff)
		}
		if diff := cmp.Diff(offered.Warnings, warnings); err == nil && diff != "" {
			t.Errorf("%s, %s: warnings offered (-), then (+):\n%s", name, kind, diff)
		}
		if named := offered.BlockedBy != nil; named != (blocker != "") || named && offered.BlockedBy.ID != blocker {
			t.Errorf("%s, %s: blocker %v, then %q", name, kind, offered.BlockedBy, blocker)
		}
		if made != nil {
			w.Cancel(t, w.Acme, made.ID)
		} else if diff := cmp.Diff(before, w.Rows(t)); diff != "" {
			t.Errorf("%s, %s was refused and wrote:\n%s", name, kind, diff)
		}
	}
}

func TestEligibilitiesOfAnotherOrganizationAreNotTold(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		mine, theirs := w.Fixture(t, w.Acme, "web").Succeeded(t), w.Fixture(t, w.Globex, "web").Succeeded(t)
		both, err := w.Deploy.Admission.Eligibilities(w.Acme.As(actor.Developer), []string{mine.ID, theirs.ID})
		if err != nil || len(both) != 1 || !both[mine.ID].Rollback.Allowed {
			t.Errorf("%v, %v", both, err)
		}
	})
}
