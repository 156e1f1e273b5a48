package deployment_test

import (
	"testing"
	"time"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/pure/module"
	"slipway/internal/service/account"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// round carries a round of the sweep out and wants it to expire so many leases.
func round(t *testing.T, w *worldtest.World, when string, want int) {
	t.Helper()
	if n, err := w.Deploy.Execution.ExpireLeases(t.Context()); n != want || err != nil {
		t.Errorf("%s: %d expired, want %d, %v", when, n, want, err)
	}
}

// wake carries out rounds of the sweep as a server does that is there all the time.
func wake(t *testing.T, w *worldtest.World, c *clock, d time.Duration) {
	t.Helper()
	for ; d > 0; d -= 10 * time.Second {
		c.Advance(min(d, 10*time.Second))
		round(t, w, "a round of many", 0)
	}
}

func TestALeaseThatRanOutWhileTheServersWereAwayMayBeRenewed(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, p, runner := clockOf(w), w.Fixture(t, w.Acme, "web"), w.Acme.As(actor.Runner)
		clock.noted = nil
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		lease := p.Claim(t, d)
		silent := p.Deploy(t, p.NewInstance(t, "worker").ID, `{"image":"web:1"}`)
		p.Claim(t, silent)
		round(t, w, "before", 0)
		// Nobody is there when the leases run out, nor for long after.
		clock.Advance(execution.DefaultLease + time.Hour)
		renew := func(when string) {
			t.Helper()
			if _, l, err := w.Deploy.Execution.RenewLease(runner, d.ID, lease); err != nil || l.Seconds != 300 {
				t.Errorf("%s: %+v, %v", when, l, err)
			}
		}
		renew("before the first round")
		round(t, w, "the first round", 0)
		wake(t, w, clock, execution.DefaultLease-time.Second)
		renew("within one lease of the first round")
		clock.Advance(time.Second)
		round(t, w, "after one lease", 1)
		if last := w.Store.Client.Deployment.GetX(runner, silent.ID); codeOf(last) != string(fault.DeploymentLeaseExpired) {
			t.Errorf("%v", last)
		}
		if held := w.Store.Client.Deployment.GetX(runner, d.ID); held.Status != "RUNNING" {
			t.Errorf("%v", held)
		}
	})
}

func TestEverythingIsTakenUnderALeaseThatRanOutWhileTheServersWereAway(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, p, runner := clockOf(w), w.Fixture(t, w.Acme, "web"), w.Acme.As(actor.Runner)
		clock.noted = nil
		for name, call := range map[string]func(d *ent.Deployment, lease string) error{
			"claim": func(_ *ent.Deployment, lease string) error {
				_, _, err := w.Deploy.Execution.Claim(runner, execution.Claim{Kinds: module.DeploymentTypes, LeaseID: &lease})
				return err
			},
			"report": func(d *ent.Deployment, lease string) error {
				_, _, err := w.Deploy.Execution.Report(runner, d.ID, lease, execution.Report{})
				return err
			},
			"succeed": func(d *ent.Deployment, lease string) error {
				_, err := w.Deploy.Execution.End(runner, d.ID, lease, execution.Completion{})
				return err
			},
		} {
			d := p.Deploy(t, p.NewInstance(t, name).ID, `{"image":"web:1"}`)
			lease := p.Claim(t, d)
			clock.Advance(execution.DefaultLease + time.Minute)
			if err := call(d, lease); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestALeaseThatRanOutBeforeTheServersEyesIsLostBeforeItIsSwept(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, p, runner := clockOf(w), w.Fixture(t, w.Acme, "web"), w.Acme.As(actor.Runner)
		clock.noted = nil
		round(t, w, "the first", 0)
		wake(t, w, clock, execution.DefaultLease)
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		lease := p.Claim(t, d)
		wake(t, w, clock, execution.DefaultLease-time.Second)
		clock.Advance(time.Second)
		_ = refused(t, w, "a renewal", fault.DeploymentLeaseLost, func() (*ent.Deployment, error) {
			d, _, err := w.Deploy.Execution.RenewLease(runner, d.ID, lease)
			return d, err
		})
		round(t, w, "the next", 1)
	})
}

func TestAShortPauseOfTheSweepSparesNothing(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		for pause, want := range map[time.Duration]int{15 * time.Second: 1, 15*time.Second + time.Microsecond: 0} {
			clock, p := clockOf(w), w.Fixture(t, w.Acme, "web-"+string(rune('0'+want)))
			clock.noted = nil
			d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
			p.Claim(t, d)
			noteSweep(w, clock.Now().Add(execution.DefaultLease-pause))
			clock.Advance(execution.DefaultLease)
			round(t, w, pause.String(), want)
			if want == 0 {
				w.Cancel(t, w.Acme, d.ID)
			}
		}
	})
}

func TestAClockThatIsSetBackSparesTheLeases(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, p := clockOf(w), w.Fixture(t, w.Acme, "web")
		clock.noted = nil
		clock.Advance(-time.Hour)
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		p.Claim(t, d)
		round(t, w, "the first", 0)
		wake(t, w, clock, execution.DefaultLease-time.Second)
		clock.Advance(time.Second)
		round(t, w, "after one lease", 1)
	})
}

func TestTheClockComesWithTheStatementsThatThereAre(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, runner, developer := w.Fixture(t, w.Acme, "web"), w.Acme.As(actor.Runner), w.Acme.As(actor.Developer)
		source := p.Succeeded(t)
		again := propose.Replay{SourceID: source.ID, Request: admission.Request{IdempotencyKey: new("key")}}
		d, _, err := w.Deploy.Propose.Rollback(developer, again)
		if err != nil {
			t.Fatal(err)
		}
		lease := p.Claim(t, d)
		_, secret, err := w.Accounts.CreateToken(actor.With(t.Context(), &actor.Actor{Role: actor.System, OrganizationID: w.Acme.ID}), account.NewToken{Name: "ci", Role: actor.Viewer})
		if err != nil {
			t.Fatal(err)
		}
		verify := func() error { _, err := w.Accounts.VerifyToken(t.Context(), secret.Hash()); return err }
		if err := verify(); err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			call       func() error
			statements int
		}{
			"renewal": {func() error { _, _, err := w.Deploy.Execution.RenewLease(runner, d.ID, lease); return err }, 2},
			"repeat":  {func() error { _, _, err := w.Deploy.Propose.Rollback(developer, again); return err }, 2},
			"token":   {verify, 1},
		} {
			ran := w.Statements(func() {
				if err := c.call(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
			if len(ran) != c.statements {
				t.Errorf("%s: %d statements, want %d: %q", name, len(ran), c.statements, ran)
			}
		}
	})
}
