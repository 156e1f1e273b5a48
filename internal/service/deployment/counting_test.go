package deployment_test

import (
	"context"
	"testing"
	"time"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/pure/gate"
	"slipway/internal/service/account"
	"slipway/internal/service/deployment/waiting"
	"slipway/internal/service/workspace"
	"slipway/internal/test/worldtest"
)

// Whose approval counts is judged at the start, by who that is and what the tokens are then.
func TestApprovalsCountByWhoGaveThem(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		demand(t, w, p, approvals(2))
		token := func(by context.Context, in account.NewToken) (*ent.Token, context.Context) {
			t.Helper()
			made, secret, err := w.Accounts.CreateToken(by, in)
			if err != nil {
				t.Fatal(err)
			}
			return made, asToken(t, w, w.Acme, secret)
		}
		_, boss := person(t, w, "boss", actor.Admin)
		_, author := token(boss, account.NewToken{Name: "ci", Role: actor.Developer, Holder: new("ci")})
		first, one := person(t, w, "ann", actor.Developer)
		_, same := person(t, w, "ann", actor.Developer)
		bobs, other := person(t, w, "bob", actor.Developer)
		scoped, secret, err := w.Accounts.CreateToken(w.Acme.As(actor.Admin), account.NewToken{Name: "dan", Role: actor.Developer, Holder: new("dan"),
			Scope: &actor.Scope{Projects: []string{p.Project.ID}}})
		if err != nil {
			t.Fatal(err)
		}
		dan := asToken(t, w, w.Acme, secret)

		waits := deploy(author, t, w, p, "web:1")
		starts := func(want fault.Code) {
			t.Helper()
			_, _, err := w.Deploy.Waiting.Start(author, waiting.Start{DeploymentID: waits.ID})
			if want == "" && err != nil || want != "" && !fault.Is(err, want) {
				t.Errorf("started: %v, want %q", err, want)
			}
		}
		if _, err := w.Deploy.Waiting.Approve(boss, waits.ID, nil, false); !fault.Is(err, fault.DeploymentOwnApproval) {
			t.Errorf("by who made the author's token: %v", err)
		}
		approve(one, t, w, waits)
		approve(same, t, w, waits)
		starts(fault.DeploymentApprovalsMissing) // two tokens of one person are one
		approve(dan, t, w, waits)
		if e := startEligibility(author, t, w, waits); !e.Allowed {
			t.Errorf("two have approved: %+v", e)
		}

		elsewhere, err := w.Workspace.CreateProject(w.Acme.As(actor.Admin), workspace.NewProject{Name: "Elsewhere", Slug: "elsewhere"})
		if err != nil {
			t.Fatal(err)
		}
		scope := func(project string) {
			raw(t, w, `UPDATE tokens SET scope = '{"projects":["`+project+`"],"environments":[]}' WHERE id = '`+scoped.ID+`'`)
		}
		scope(elsewhere.ID)
		starts(fault.DeploymentApprovalsMissing) // the approver may not deploy there any more
		scope(p.Project.ID)
		if _, err := w.Accounts.RevokeToken(w.Acme.As(actor.Admin), first.ID); err != nil {
			t.Fatal(err)
		}
		if e := startEligibility(author, t, w, waits); !e.Allowed { // ann's second token approved last
			t.Errorf("after an earlier token of an approver was revoked: %+v", e)
		}
		if _, err := w.Accounts.RevokeToken(w.Acme.As(actor.Admin), scoped.ID); err != nil {
			t.Fatal(err)
		}
		starts(fault.DeploymentApprovalsMissing)
		approve(other, t, w, waits)
		expires := func(at time.Time) {
			t.Helper()
			_, err := w.Raw(t, w.Acme).ExecContext(t.Context(), `UPDATE tokens SET expires_at = $1 WHERE id = $2`, at.UTC(), bobs.ID)
			if err != nil {
				t.Fatal(err)
			}
		}
		expires(time.Now().Add(-time.Second))
		starts(fault.DeploymentApprovalsMissing)
		expires(time.Now().Add(time.Hour))
		starts("")
	})
}

func TestAnApprovalCountsIfARuleTakesIt(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		r := demand(t, w, p, gate.Demand{Kind: &gate.Approvals{Count: 1, Role: actor.Admin}})
		_, ann := person(t, w, "ann", actor.Developer)
		_, bob := person(t, w, "bob", actor.Developer)
		waits := deploy(ann, t, w, p, "web:1")
		approve(bob, t, w, waits)
		counts := func() bool {
			t.Helper()
			of, err := w.Deploy.Waiting.ApprovalsOf(ann, []string{waits.ID})
			if err != nil || len(of[waits.ID]) != 1 {
				t.Fatalf("%v, %v", of, err)
			}
			return of[waits.ID][0].Counts
		}
		if counts() {
			t.Error("a developer's counts where an admin's is demanded")
		}
		demand(t, w, p, gate.Demand{Kind: &gate.Approvals{Count: 2, Role: actor.Developer}}, gate.Promote)
		if counts() {
			t.Error("it counts for a rule of promotions")
		}
		demand(t, w, p, gate.Demand{Kind: &gate.Approvals{Count: 2, Role: actor.Developer}})
		if !counts() {
			t.Error("it does not count where a developer's is demanded, too")
		}
		if _, err := w.Rules.End(w.Acme.As(actor.Admin), r.ID, nil); err != nil {
			t.Fatal(err)
		}
		if !counts() {
			t.Error("it does not count")
		}
	})
}

// Who has come to be in one hand with the author since has approved for nothing.
func TestAnApprovalCountsForNothingOnceItsGiverMakesTheAuthorAToken(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		demand(t, w, p, approvals(1))
		_, ann := person(t, w, "ann", actor.Developer)
		_, boss := person(t, w, "boss", actor.Admin)
		waits := deploy(ann, t, w, p, "web:1")
		approve(boss, t, w, waits)
		if e := startEligibility(ann, t, w, waits); !e.Allowed {
			t.Fatalf("before: %+v", e)
		}
		if _, _, err := w.Accounts.CreateToken(boss, account.NewToken{Name: "ann's next", Role: actor.Developer, Holder: new("ann")}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := w.Deploy.Waiting.Start(ann, waiting.Start{DeploymentID: waits.ID}); !fault.Is(err, fault.DeploymentApprovalsMissing) {
			t.Errorf("started: %v", err)
		}
	})
}

func TestTwoApproversInOneHandAreOne(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		demand(t, w, p, approvals(2))
		_, ann := person(t, w, "ann", actor.Developer)
		_, bob := person(t, w, "bob", actor.Developer)
		_, boss := person(t, w, "boss", actor.Admin)
		_, secret, err := w.Accounts.CreateToken(boss, account.NewToken{Name: "dan", Role: actor.Developer, Holder: new("dan")})
		if err != nil {
			t.Fatal(err)
		}
		waits := deploy(ann, t, w, p, "web:1")
		approve(boss, t, w, waits)
		approve(asToken(t, w, w.Acme, secret), t, w, waits)
		if _, _, err := w.Deploy.Waiting.Start(ann, waiting.Start{DeploymentID: waits.ID}); !fault.Is(err, fault.DeploymentApprovalsMissing) {
			t.Errorf("approved by one and by whom that one made a token: %v", err)
		}
		approve(bob, t, w, waits)
		if _, _, err := w.Deploy.Waiting.Start(ann, waiting.Start{DeploymentID: waits.ID}); err != nil {
			t.Errorf("approved by two: %v", err)
		}
	})
}
