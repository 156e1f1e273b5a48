package deployment_test

import (
	"context"
	"testing"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/data/page"
	"slipway/internal/pure/gate"
	"slipway/internal/service/account"
	"slipway/internal/service/deployment/view"
	"slipway/internal/service/deployment/waiting"
	"slipway/internal/test/worldtest"
)

// person makes a token of a holder, and returns it with a context of who holds it.
func person(t testing.TB, w *worldtest.World, name string, role actor.Role) (*ent.Token, context.Context) {
	t.Helper()
	made := actor.With(context.Background(), &actor.Actor{Name: "cli", Role: actor.System, OrganizationID: w.Acme.ID, Channel: actor.CLI})
	token, secret, err := w.Accounts.CreateToken(made, account.NewToken{Name: name, Role: role, Holder: &name})
	if err != nil {
		t.Fatal(err)
	}
	return token, asToken(t, w, w.Acme, secret)
}

// awaited returns how many deployments await an approval of an actor.
func awaited(ctx context.Context, t testing.TB, w *worldtest.World) int {
	t.Helper()
	c, err := w.Deploy.View.Deployments(ctx, view.Filter{AwaitingMyApproval: true}, page.Args{})
	if err != nil {
		t.Fatal(err)
	}
	return len(c.Edges)
}

func TestAnApprovalIsGivenAnewWithAnotherTokenOrRole(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		demand(t, w, p, gate.Demand{Kind: &gate.Approvals{Count: 1, Role: actor.Admin}})
		demand(t, w, p, approvals(2))
		author := holder(t, w, w.Acme, actor.Developer, "author")
		waits := deploy(author, t, w, p, "web:1")
		counted := func() (n int) {
			t.Helper()
			of, err := w.Deploy.Waiting.ApprovalsOf(author, []string{waits.ID})
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range of[waits.ID] {
				if b.Counts {
					n++
				}
			}
			return n
		}
		approve := func(ctx context.Context, comment *string) *waiting.Approved {
			t.Helper()
			done, err := w.Deploy.Waiting.Approve(ctx, waits.ID, comment, true)
			if err != nil {
				t.Fatal(err)
			}
			return done
		}

		old, ann := person(t, w, "ann", actor.Developer)
		version := approve(ann, nil).Deployment.Version
		if again := approve(ann, nil).Deployment.Version; again != version || counted() != 1 {
			t.Errorf("the same again raised the version from %d to %d; %d count", version, again, counted())
		}
		approve(ann, new("after a look"))
		if of, err := w.Deploy.Waiting.ApprovalsOf(ann, []string{waits.ID}); err != nil || of[waits.ID][0].Comment == nil {
			t.Errorf("another comment is dropped: %v, %v", of, err)
		}
		if n := awaited(ann, t, w); n != 0 {
			t.Errorf("%d await an approval that counts", n)
		}

		if _, err := w.Accounts.RevokeToken(w.Acme.As(actor.Admin), old.ID); err != nil {
			t.Fatal(err)
		}
		_, ann = person(t, w, "ann", actor.Developer)
		if n := counted(); n != 0 {
			t.Errorf("%d count by a revoked token", n)
		}
		if n := awaited(ann, t, w); n != 1 {
			t.Errorf("%d await an approval that does not count any more", n)
		}
		if approve(ann, new("after a look")); counted() != 1 {
			t.Errorf("%d count after the same holder approved with a new token", counted())
		}

		// The first rule is met by a raised role, and the second by one more person.
		_, ann = person(t, w, "ann", actor.Admin)
		approve(ann, new("after a look"))
		_, bob := person(t, w, "bob", actor.Developer)
		if done := approve(bob, nil); !done.Started {
			t.Errorf("not started with an admin's and a developer's approval: %v", done.Refusal)
		}
		if again := approve(bob, nil); !again.Started {
			t.Errorf("after the start: %+v", again)
		}
	})
}
