package cli_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"slipway/ent"
	entdeployment "slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/pure/gate"
	"slipway/internal/service/account"
	"slipway/internal/service/rule"
	"slipway/internal/test/testkit"
)

// holder returns a machine of somebody who is in nobody else's hand.
func (s *stock) holder(t *testing.T, role actor.Role, name string) *home {
	t.Helper()
	return s.home(t, s.Token(t, s.Acme, account.NewToken{Name: name, Role: role, Holder: &name}))
}

// demand makes a rule for the environment of the stock that binds all operations.
func (s *stock) demand(t *testing.T, d gate.Demand) {
	t.Helper()
	s.demandIn(t, &s.Environment.ID, d)
}

func (s *stock) demandIn(t *testing.T, environmentID *string, d gate.Demand) {
	t.Helper()
	in := rule.New{
		Name: "two eyes", EnvironmentID: environmentID, Demand: d, Overridable: true,
		Operations: []gate.Operation{gate.Create, gate.Promote, gate.Redeploy, gate.Rollback, gate.Destroy},
	}
	_, _, err := s.Rules.Create(s.Acme.As(actor.Admin), in)
	for n := 3; fault.Is(err, fault.RuleNameTaken); n++ {
		in.Name = fmt.Sprint(n, " eyes")
		_, _, err = s.Rules.Create(s.Acme.As(actor.Admin), in)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func approvals(count int32) gate.Demand {
	return gate.Demand{Kind: &gate.Approvals{Count: count, Role: actor.Developer}}
}

// newest returns the newest deployment.
func (s *stock) newest(t *testing.T) *ent.Deployment {
	t.Helper()
	viewer := s.Acme.As(actor.Viewer)
	return s.Store.Client.Deployment.Query().Order(ent.Desc(entdeployment.FieldCreatedAt, entdeployment.FieldID)).FirstX(viewer)
}

// What lacks approvals is made and ends the command with 8, whether its end was to be waited for or not.
func TestDeploymentThatWaitsForApprovalsSaysWhatItLacks(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.demand(t, approvals(1))
	ann := s.holder(t, actor.Admin, "ann")
	for _, command := range []string{
		"deploy shop/production/web --set image=web:2", "deploy shop/production/web --set image=web:2 --wait=false", "rollback shop/production/web --wait",
		"redeploy shop/production/web@live", "destroy shop/production/web --yes",
	} {
		o := ann.run(t, strings.Fields(command)...)
		d := s.newest(t)
		if o.code != 8 || d.Status != entdeployment.StatusAWAITING_APPROVAL || o.stdout != d.ID+"  AWAITING_APPROVAL\n" {
			t.Errorf("slipway %s: exit code %d, %s, printed %q; %s", command, o.code, d.Status, o.stdout, o.stderr)
		}
		inOrder(t, o.stderr, d.ID+" waits for approvals until 2026-03-", `  Rule "two eyes": 0 of 1 approvals by a developer or admin who is not the author is given.`,
			"with: slipway approve "+d.ID, "with: slipway start "+d.ID)
	}
	// The fields are those of what is shown, and looked for before anything is done.
	for _, field := range []string{"runner --wait=true", "description --wait=false"} {
		args := append(strings.Fields("deploy shop/production/web -o tsv --fields status,"+field), "--set", "image=web:2")
		if o := ann.run(t, args...); o.code != 8 || o.stdout != "AWAITING_APPROVAL\t\n" {
			t.Errorf("%q: %d: %q, %s", args, o.code, o.stdout, o.stderr)
		}
	}
	before := s.Rows(t)["deployments"]
	for _, field := range []string{"description --wait=true", "runner --wait=false"} {
		ann.mustFail(t, 2, []string{"--fields: want some of "}, append(strings.Fields("deploy shop/production/web --fields status,"+field), "--set", "image=web:2")...)
	}
	if after := s.Rows(t)["deployments"]; after != before {
		t.Errorf("%d deployments, before %d", after, before)
	}
	if o := ann.run(t, "deploy", "shop/production/web", "--set", "image=web:2", "-o", "name"); o.code != 8 || o.stdout != s.newest(t).ID+"\n" {
		t.Errorf("%d: %q, %s", o.code, o.stdout, o.stderr)
	}
}

func TestApprovalsStartADeployment(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.demand(t, approvals(2))
	ann, bob, cyd := s.holder(t, actor.Developer, "ann"), s.holder(t, actor.Developer, "bob"), s.holder(t, actor.Developer, "cyd")
	ann.run(t, "deploy", "shop/production/web", "--set", "image=web:2", "--reason", "more room", "--wait=false")
	d := s.newest(t)
	ann.mustFail(t, 4, []string{"slipway:Deployment:OWN_APPROVAL"}, "approve", d.ID)
	s.home(t, s.Acme.Tokens[actor.Viewer]).mustFail(t, 4, []string{"FORBIDDEN"}, "approve", d.ID)
	ann.mustFail(t, 8, []string{"slipway:Deployment:APPROVALS_MISSING", "0 of 2 approvals"}, "start", d.ID)
	bob.mustFail(t, 2, []string{"want the id of the one that you have seen", "which is " + d.ID + " now"}, "approve", "shop/production/web@last", "--yes")
	o := bob.run(t, "approve", d.ID, "--reason", "right")
	if o.code != 8 || !strings.Contains(o.stdout, "AWAITING_APPROVAL") {
		t.Errorf("the first approval: %d, %s", o.code, o.stdout)
	}
	inOrder(t, o.stderr, d.ID+"  AWAITING_APPROVAL  shop/production/web  shop 1.4.0  by ann", "reason: more room", `~ /image  "web:1.4.2" -> "web:2"`, "0 of 2 approvals",
		"it is approved, and was not started", "1 of 2 approvals", "slipway:Deployment:APPROVALS_MISSING")
	if o := cyd.run(t, "approve", d.ID, "--start=false", "--fields", "status,startEligibility.allowed", "-o", "tsv"); o.code != 0 || o.stdout != "AWAITING_APPROVAL\ttrue\n" {
		t.Errorf("the second approval: %d, %s; %s", o.code, o.stdout, o.stderr)
	}
	for range 2 { // the same again
		if got := ann.must(t, "start", d.ID, "--fields", "status", "-o", "tsv"); got != "PENDING\n" {
			t.Errorf("started it is %q", got)
		}
	}
}

// The answers to a decision are lost: to say the same again changes nothing.
func TestDecisionWhoseAnswerIsLostIsMadeOnce(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.demand(t, approvals(1))
	ann, bob := s.holder(t, actor.Developer, "ann"), s.holder(t, actor.Developer, "bob")
	for _, decide := range [][]string{{"approve", "--start=false"}, {"start"}, {"approve"}, {"reject"}} {
		if decide[0] != "start" {
			ann.run(t, "deploy", "shop/production/web", "--set", "image=web:2", "--wait=false")
		}
		var lost atomic.Int32
		other := cutter(t, s.World, func(body string) bool { return strings.Contains(body, "mutation") && lost.Add(1) == 1 })
		h := bob.with(map[string]string{"SLIPWAY_SERVER": other.URL})
		if o := h.run(t, append([]string{decide[0], s.newest(t).ID}, decide[1:]...)...); o.code != 0 || lost.Load() != 2 {
			t.Errorf("slipway %s: exit code %d, sent %d times, %s", decide, o.code, lost.Load(), o.stderr)
		}
		if status := s.newest(t).Status; status == entdeployment.StatusPENDING {
			s.Cancel(t, s.Acme, s.newest(t).ID)
		}
	}
	if n := s.Store.Client.Approval.Query().CountX(s.Acme.As(actor.Viewer)); n != 3 {
		t.Errorf("%d voices", n)
	}
}

// An approval stays if the start is refused for another reason.
func TestApprovalStaysWhereTheStartIsRefused(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.Deploy(t, s.Instance.ID, `{"image":"web:active"}`)
	s.demand(t, approvals(1))
	s.clock.Advance(1)
	s.holder(t, actor.Developer, "ann").run(t, "deploy", "shop/production/web", "--set", "image=web:2", "--wait=false")
	d := s.newest(t)
	o := s.holder(t, actor.Developer, "bob").run(t, "approve", d.ID, "-o", "json", "--fields", "status,approvals")
	if o.code != 5 || !strings.Contains(o.stdout, `"counts": true`) || !strings.Contains(o.stderr, `"code":"slipway:Deployment:IN_PROGRESS"`) {
		t.Errorf("%d: %s; %s", o.code, o.stdout, o.stderr)
	}
}

func TestAdminStartsPastRules(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.demand(t, approvals(1))
	ann := s.holder(t, actor.Admin, "ann")
	ann.run(t, "deploy", "shop/production/web", "--set", "image=web:2", "--wait=false")
	got := ann.must(t, "start", "shop/production/web@last", "--override-reason", "The site is down.", "--yes", "--fields", "status,override.createdBy.name,override.reason", "-o", "tsv")
	if got != "PENDING\tann\tThe site is down.\n" {
		t.Errorf("it is %q", got)
	}
}

// With --wait=approval it goes on once others approve of it, and its end decides.
func TestApprovalIsWaitedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		decide []string
		code   int
		says   string
	}{
		"approved": {[]string{"approve", ""}, 0, "2 of 2: Applying."},
		"rejected": {[]string{"reject", "shop/production/web@last", "--reason", "not on Friday"}, 6, "Rejected by bob. (slipway:Deployment:REJECTED)\n  not on Friday\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStock(t)
			s.demand(t, approvals(1))
			startRunner(t, s.World, succeeds)
			ann, bob := s.holder(t, actor.Developer, "ann"), s.holder(t, actor.Developer, "bob")
			var told testkit.Log
			ended := make(chan int, 1)
			go func() {
				ended <- ann.execute(t.Context(), io.Discard, &told, "deploy", "shop/production/web", "--set", "image=web:2", "--wait=approval")
			}()

			told.Line(t, func(line string) bool { return strings.Contains(line, "waits for approvals until") })
			decide := slices.Clone(c.decide)
			if decide[1] == "" { // an approval names what was seen
				decide[1] = s.newest(t).ID
			}
			bob.run(t, decide...)
			if code := <-ended; code != c.code || !strings.Contains(told.String(), c.says) {
				t.Errorf("%d: %s", code, &told)
			}
		})
	}
}

// What succeeds while a deployment waits supersedes it, which ends the wait for approvals.
func TestWaitForApprovalsEndsWhereAnotherSucceeds(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	active := s.Deploy(t, s.Instance.ID, `{"image":"web:other"}`)
	s.demand(t, approvals(1))
	before := s.Rows(t)["deployments"]
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if testkit.Eventually(t, "it waits", func() bool { return s.Rows(t)["deployments"] > before }) {
			s.Finish(t, active, nil)
		}
	}()
	o := s.holder(t, actor.Developer, "ann").run(t, "deploy", "shop/production/web", "--set", "image=web:2", "--wait=approval")
	<-ended
	if o.code != 6 || !strings.Contains(o.stdout, "CANCELED") || !strings.Contains(o.stderr, "(slipway:Deployment:SUPERSEDED)") {
		t.Errorf("%d: %s; %s", o.code, o.stdout, o.stderr)
	}
}

func TestRejectionEndsADeployment(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.demand(t, approvals(1))
	s.holder(t, actor.Developer, "ann").run(t, "deploy", "shop/production/web", "--set", "image=web:2", "--wait=false")
	bob := s.holder(t, actor.Developer, "bob")
	for range 2 { // the same again
		if got := bob.must(t, "reject", "shop/production/web@last", "--comment", "no", "--fields", "status,error.code", "-o", "tsv"); got != "CANCELED\tslipway:Deployment:REJECTED\n" {
			t.Errorf("it is %q", got)
		}
	}
	bob.mustFail(t, 5, []string{"slipway:Deployment:REJECTED"}, "approve", s.newest(t).ID)
	bob.mustFail(t, 5, []string{"slipway:Deployment:REJECTED"}, "start", s.newest(t).ID)
	bob.mustFail(t, 2, []string{"--wait: want one of true, false, approval, found \"maybe\""}, "deploy", "shop/production/web", "--wait=maybe")
}
