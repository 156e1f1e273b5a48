package deployment_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"slipway/ent"
	entdeployment "slipway/ent/deployment"
	"slipway/ent/moduleversion"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/gate"
	"slipway/internal/service/archive"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/deployment/waiting"
	"slipway/internal/test/worldtest"
)

// approve has somebody approve of a deployment without starting it.
func approve(ctx context.Context, t testing.TB, w *worldtest.World, d *ent.Deployment) {
	t.Helper()
	if _, err := w.Deploy.Waiting.Approve(ctx, d.ID, nil, false); err != nil {
		t.Fatal(err)
	}
}

// eachCase runs a case of a table on both databases.
func eachCase(t *testing.T, name string, f func(*testing.T, *worldtest.World)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		worldtest.Each(t, f)
	})
}

// startEligibility returns whether an actor could start a deployment.
func startEligibility(ctx context.Context, t testing.TB, w *worldtest.World, d *ent.Deployment) *admission.Eligibility {
	t.Helper()
	of, err := w.Deploy.Waiting.WaitingEligibilities(ctx, []string{d.ID})
	if err != nil {
		t.Fatal(err)
	}
	return of[d.ID].Start
}

// What a creation would be refused for refuses a start, too, and what it says beforehand is what happens.
func TestAStartIsRefusedForWhatHasChangedSinceItBeganToWait(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(t *testing.T, w *worldtest.World, p *worldtest.Fixture, waits *ent.Deployment)
		code   fault.Code
	}{
		"its release was quarantined": {func(t *testing.T, w *worldtest.World, _ *worldtest.Fixture, waits *ent.Deployment) {
			quarantine(t, w, *waits.ReleaseID)
		}, fault.ReleaseQuarantined},
		"its instance was archived": {func(t *testing.T, w *worldtest.World, p *worldtest.Fixture, _ *ent.Deployment) {
			if _, err := w.Archive.ArchiveInstance(w.Acme.As(actor.Admin), archive.Request{ID: p.Instance.ID, AcknowledgeLive: true}); err != nil {
				t.Fatal(err)
			}
		}, fault.ModuleInstanceArchived},
		"its release was altered": {func(t *testing.T, w *worldtest.World, _ *worldtest.Fixture, waits *ent.Deployment) {
			raw(t, w, `UPDATE releases SET content = '{}' WHERE id = '`+*waits.ReleaseID+`'`)
		}, fault.ReleaseDigestMismatch},
		"another release went live, unnoticed": {func(t *testing.T, w *worldtest.World, p *worldtest.Fixture, _ *ent.Deployment) {
			other := p.Failed(t)
			raw(t, w, `UPDATE deployments SET status = 'SUCCEEDED' WHERE id = '`+other.ID+`'`)
			raw(t, w, `UPDATE module_instances SET live_deployment_id = '`+other.ID+`' WHERE id = '`+p.Instance.ID+`'`)
		}, fault.DeploymentSuperseded},
		"a freeze began": {func(t *testing.T, w *worldtest.World, p *worldtest.Fixture, _ *ent.Deployment) {
			demand(t, w, p, gate.Demand{Kind: &gate.Freeze{From: time.Now().Add(-time.Minute)}})
		}, fault.EnvironmentClosed},
	} {
		eachCase(t, name, func(t *testing.T, w *worldtest.World) {
			p := w.Fixture(t, w.Acme, "web")
			p.Succeeded(t)
			ann, bob := holder(t, w, w.Acme, actor.Developer, "ann"), holder(t, w, w.Acme, actor.Developer, "bob")
			r := demand(t, w, p, approvals(1))
			waits := deploy(ann, t, w, p, "web:2")
			approve(bob, t, w, waits)
			if e := startEligibility(ann, t, w, waits); !e.Allowed {
				t.Fatalf("%s: before, %+v", name, e)
			}
			if strings.HasPrefix(name, "another") { // whose creation no rule is to keep waiting
				if _, err := w.Rules.End(w.Acme.As(actor.Admin), r.ID, nil); err != nil {
					t.Fatal(err)
				}
			}
			c.change(t, w, p, waits)
			if e := startEligibility(ann, t, w, waits); e.Allowed || !fault.Is(e.Refusal, c.code) {
				t.Errorf("%s: its start is %+v", name, e)
			}
			_, _, err := w.Deploy.Waiting.Start(ann, waiting.Start{DeploymentID: waits.ID})
			if !fault.Is(err, c.code) {
				t.Errorf("%s: %v", name, err)
			}
			d, failure := w.Store.Client.Deployment.Get(ann, waits.ID)
			if failure != nil {
				t.Fatal(failure)
			}
			if ends := c.code == fault.DeploymentSuperseded; ends != (d.Status == entdeployment.StatusCANCELED) {
				t.Errorf("%s: its status is %s", name, d.Status)
			} else if ends && !strings.Contains(err.Error(), "was ended by this request") {
				t.Errorf("%s: the refusal does not say that it has ended the record: %v", name, err)
			}
		})
	}
}

// A success of the release that is live changes nothing for what waits; one of another release ends it.
func TestASuccessOfTheLiveReleaseSupersedesNothing(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		ann, bob := holder(t, w, w.Acme, actor.Developer, "ann"), holder(t, w, w.Acme, actor.Developer, "bob")
		live := p.Succeeded(t)
		demand(t, w, p, approvals(1), gate.Create)
		waits := deploy(ann, t, w, p, "web:2")
		approve(bob, t, w, waits)
		again, _, err := w.Deploy.Propose.Redeploy(ann, propose.Replay{SourceID: live.ID})
		if err != nil {
			t.Fatal(err)
		}
		p.Finish(t, again, nil)
		if e := startEligibility(ann, t, w, waits); !e.Allowed {
			t.Errorf("after a redeployment of what is live: %+v", e)
		}
		started, _, err := w.Deploy.Waiting.Start(ann, waiting.Start{DeploymentID: waits.ID})
		if err != nil || started.Status != entdeployment.StatusPENDING {
			t.Errorf("%v, %v", started, err)
		}
	})
}

func TestOfTwoStartsAtOnceBothAnswerWithTheRecord(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		c := newControl(t, w, 1)
		for range raceRounds() {
			waits := deploy(c.author, t, w, c.p, "web:2")
			approve(c.others[0], t, w, waits)
			start := func(on *worldtest.World, ctx context.Context) func() error {
				return func() error {
					d, _, err := on.Deploy.Waiting.Start(ctx, waiting.Start{DeploymentID: waits.ID})
					if err == nil && d.Status != entdeployment.StatusPENDING {
						t.Errorf("answered %s", d.Status)
					}
					return err
				}
			}
			approves := func() error {
				done, err := c.second.Deploy.Waiting.Approve(c.others[1], waits.ID, nil, true)
				switch {
				case fault.Is(err, fault.DeploymentWrongState):
					return nil // it came after a start
				case err == nil && (!done.Started || done.Refusal != nil):
					t.Errorf("approved: started %t, with the refusal %v", done.Started, done.Refusal)
				}
				return err
			}
			for _, err := range together(start(w, c.author), start(c.second, c.others[0]), approves) {
				if err != nil {
					t.Errorf("%v", err)
				}
			}
			w.Cancel(t, w.Acme, waits.ID)
		}
	})
}

func TestWhatWaitsWarnsOfDriftAndOfAnAuthorWhoIsGone(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		p.Succeeded(t)
		demand(t, w, p, approvals(1))
		token, ann := person(t, w, "ann", actor.Developer)
		bob := holder(t, w, w.Acme, actor.Developer, "bob")
		waits := deploy(ann, t, w, p, "web:2")
		warnings := func() string {
			t.Helper()
			of, err := w.Deploy.Waiting.WaitingEligibilities(bob, []string{waits.ID})
			if err != nil {
				t.Fatal(err)
			}
			text := ""
			for _, e := range []*admission.Eligibility{of[waits.ID].Approve, of[waits.ID].Start} {
				for _, w := range e.Warnings {
					text += w.Message + "; "
				}
			}
			return text
		}
		if got := warnings(); got != "" {
			t.Errorf("%s", got)
		}
		raw(t, w, `UPDATE module_instances SET drift_message = 'It was scaled by hand.' WHERE id = '`+p.Instance.ID+`'`)
		if got := warnings(); strings.Count(got, "It was scaled by hand.") != 2 {
			t.Errorf("of drift: %s", got)
		}
		if _, err := w.Accounts.RevokeToken(w.Acme.As(actor.Admin), token.ID); err != nil {
			t.Fatal(err)
		}
		if got := warnings(); strings.Count(got, "ann, who made it, has no valid token any longer.") != 2 {
			t.Errorf("of the author: %s", got)
		}
		person(t, w, "ann", actor.Viewer)
		if got := warnings(); strings.Contains(got, "who made it") {
			t.Errorf("the author has another token: %s", got)
		}
	})
}

// A failure rolls back once: neither the rollback's own failure nor that of a canceled one makes another, and nobody who waits is in
// its way.
func TestARollbackByItselfIsMadeOnceAndHoweverManyWait(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		live := p.Succeeded(t)
		rollsBack(t, w, p)
		_, ann := person(t, w, "ann", actor.Developer)
		broken := &fault.Data{Code: "x:y:Z", Message: "broken"}

		canceled := deploy(ann, t, w, p, "web:2")
		lease := p.Claim(t, canceled)
		if _, err := w.Deploy.Execution.Cancel(ann, canceled.ID, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Deploy.Execution.End(w.Acme.As(actor.Runner), canceled.ID, lease, execution.Completion{Failure: broken}); err != nil {
			t.Fatal(err)
		}
		if made := rollbacksOf(w); len(made) > 0 {
			t.Errorf("after a request to cancel: %v", made)
		}

		rule := demand(t, w, p, approvals(1))
		for range 20 {
			deploy(ann, t, w, p, "web:3")
		}
		if _, err := w.Rules.End(w.Acme.As(actor.Admin), rule.ID, nil); err != nil {
			t.Fatal(err)
		}
		failing := deploy(ann, t, w, p, "web:4")
		demand(t, w, p, approvals(1), gate.Rollback)
		p.Finish(t, failing, broken)
		made := rollbacksOf(w)
		if len(made) != 1 || made[0].Status != entdeployment.StatusAWAITING_APPROVAL || *made[0].RollbackToDeploymentID != live.ID {
			t.Fatalf("beside 20 that wait: %v", made)
		}
		_, bob := person(t, w, "bob", actor.Developer)
		approve(bob, t, w, made[0])
		started, _, err := w.Deploy.Waiting.Start(bob, waiting.Start{DeploymentID: made[0].ID})
		if err != nil {
			t.Fatal(err)
		}
		p.Finish(t, started, broken)
		if made := rollbacksOf(w); len(made) != 1 {
			t.Errorf("after the failure of the rollback: %v", made)
		}
	})
}

func TestARollbackThatSomebodyAskedForAndThatFailsMakesNone(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		target := p.Finish(t, p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`), nil)
		p.Finish(t, p.Deploy(t, p.Instance.ID, `{"image":"web:2"}`), nil)
		rollsBack(t, w, p)
		back, _, err := w.Deploy.Propose.Rollback(w.Acme.As(actor.Developer), propose.Replay{SourceID: target.ID})
		if err != nil {
			t.Fatal(err)
		}
		p.Finish(t, back, broken)
		if made := rollbacksOf(w); len(made) > 0 {
			t.Errorf("%v", made)
		}
	})
}

// A start judges the instances that its inputs choose as a creation does, which lets what is live keep an archived one.
func TestAStartIsRefusedForInstancesThatItsInputsMayNotChooseAnyMore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wasChosen bool
		change    func(t *testing.T, s *stages, network string)
		message   string // "" if it starts
	}{
		"archived":                             {false, archiveNetwork, "must be an instance that is not archived, found one that is"},
		"archived, and chosen by what is live": {true, archiveNetwork, ""},
		"about to be destroyed": {true, func(t *testing.T, s *stages, network string) {
			if _, _, err := s.w.Deploy.Propose.Destroy(s.w.Acme.As(actor.Admin), propose.Destroy{InstanceID: network, AcknowledgeDependents: true}); err != nil {
				t.Fatal(err)
			}
		}, "must be an instance that is not about to be destroyed, found one of which an active deployment destroys what is live"},
		"of which nothing is live any more": {false, func(t *testing.T, s *stages, network string) {
			d, _, err := s.w.Deploy.Propose.Destroy(s.w.Acme.As(actor.Admin), propose.Destroy{InstanceID: network, AcknowledgeDependents: true})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.w.Deploy.Execution.End(s.w.Acme.As(actor.Runner), d.ID, claimDestroy(t, s.w, d), execution.Completion{}); err != nil {
				t.Fatal(err)
			}
		}, "must be an instance of which something is live, found {network}, of which nothing is any more"},
	} {
		eachCase(t, name, func(t *testing.T, w *worldtest.World) {
			s := newStages(t, w)
			s.version = newVersion(t, w, s.Fixture, "3.0.0", `[{"id":"image","type":"string","label":"Image"},{"id":"net","type":"$ref:network","label":"Network",
				"mapped_inputs":[{"id":"of","type":"string","label":"Of","default":"${{ ref.input.image }}"}]}]`).ID
			network := s.networks["production/inner"]
			definition := w.Store.Client.ModuleInstance.GetX(w.Acme.As(actor.Viewer), network).ModuleDefinitionID
			version := w.Store.Client.ModuleVersion.Query().Where(moduleversion.ModuleDefinitionID(definition)).FirstX(w.Acme.As(actor.Viewer))
			s.Finish(t, create(t, w, network, version.ID, `{"image":"net:1"}`), nil)
			values := `{"image":"web:1"}`
			if c.wasChosen {
				values = `{"image":"web:1","net":"production/inner"}`
			}
			s.live(t, s.Instance.ID, values, 1)

			ann, bob := holder(t, w, w.Acme, actor.Developer, "ann"), holder(t, w, w.Acme, actor.Developer, "bob")
			demand(t, w, s.Fixture, approvals(1), gate.Create)
			waits, _, err := w.Deploy.Propose.Create(ann, propose.New{InstanceID: s.Instance.ID, VersionID: s.version,
				Inputs: s.values(`{"image":"web:2","net":"production/inner"}`), Artifact: strictjson.MustParse(worldtest.Artifact)})
			if err != nil {
				t.Fatal(err)
			}
			approve(bob, t, w, waits)
			c.change(t, s, network)

			e := startEligibility(ann, t, w, waits)
			_, _, err = w.Deploy.Waiting.Start(ann, waiting.Start{DeploymentID: waits.ID})
			if c.message == "" {
				if !e.Allowed || err != nil {
					t.Errorf("%s: its start is %+v, %v", name, e, err)
				}
				return
			}
			violations := violationsOf(err)
			if e.Allowed || !fault.Is(e.Refusal, fault.DeploymentInputsInvalid) || len(violations) != 1 || violations[0].Pointer != "/inputs/net" || violations[0].Message != strings.ReplaceAll(c.message, "{network}", network) {
				t.Errorf("%s: its start is %+v, %v", name, e, err)
			}
		})
	}
}

func archiveNetwork(t *testing.T, s *stages, network string) {
	t.Helper()
	if _, err := s.w.Archive.ArchiveInstance(s.w.Acme.As(actor.Admin), archive.Request{ID: network, AcknowledgeLive: true, AcknowledgeDependents: true}); err != nil {
		t.Fatal(err)
	}
}

// A destroy that waits is refused for what has come to refer to its instance, unless its request has acknowledged that.
func TestAStartOfADestroyIsRefusedForInstancesThatReferToItsOwn(t *testing.T) {
	t.Parallel()
	for name, acknowledges := range map[string]bool{"not acknowledged": false, "acknowledged": true} {
		eachCase(t, name, func(t *testing.T, w *worldtest.World) {
			s := newStages(t, w)
			network := s.networks["production/inner"]
			definition := w.Store.Client.ModuleInstance.GetX(w.Acme.As(actor.Viewer), network).ModuleDefinitionID
			version := w.Store.Client.ModuleVersion.Query().Where(moduleversion.ModuleDefinitionID(definition)).FirstX(w.Acme.As(actor.Viewer))
			s.Finish(t, create(t, w, network, version.ID, `{"image":"net:1"}`), nil)

			boss, bob := holder(t, w, w.Acme, actor.Admin, "boss"), holder(t, w, w.Acme, actor.Developer, "bob")
			demand(t, w, s.Fixture, approvals(1), gate.Destroy)
			waits, _, err := w.Deploy.Propose.Destroy(boss, propose.Destroy{InstanceID: network, AcknowledgeDependents: acknowledges})
			if err != nil || waits.Status != entdeployment.StatusAWAITING_APPROVAL {
				t.Fatalf("%v, %v", waits, err)
			}
			approve(bob, t, w, waits)
			if e := startEligibility(boss, t, w, waits); !e.Allowed {
				t.Fatalf("%s: before, %+v", name, e)
			}
			s.live(t, s.Instance.ID, `{"image":"web:1","net":"production/inner"}`, 1)

			e := startEligibility(boss, t, w, waits)
			started, _, err := w.Deploy.Waiting.Start(boss, waiting.Start{DeploymentID: waits.ID})
			if acknowledges {
				if !e.Allowed || err != nil || started.Status != entdeployment.StatusPENDING {
					t.Errorf("%s: its start is %+v, %v", name, e, err)
				}
				return
			}
			if e.Allowed || !fault.Is(e.Refusal, fault.ModuleInstanceInUse) || !fault.Is(err, fault.ModuleInstanceInUse) {
				t.Errorf("%s: its start is %+v, %v", name, e, err)
			}
		})
	}
}

func TestEachInstanceThatIsChosenIsChargedWhereAStartIsOffered(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		s := newStages(t, w)
		demand(t, w, s.Fixture, approvals(1), gate.Create)
		cost := func(values string) int {
			t.Helper()
			d, _, err := w.Deploy.Propose.Create(w.Acme.As(actor.Developer), propose.New{InstanceID: s.Instance.ID, VersionID: s.version,
				Inputs: s.values(values), Artifact: strictjson.MustParse(worldtest.Artifact)})
			if err != nil {
				t.Fatal(err)
			}
			r := w.GraphQL(t, w.Acme.Tokens[actor.Developer], fmt.Sprintf(`{ deployment(id: %q) { startEligibility { allowed } } }`, d.ID), nil)
			used, err := strconv.Atoi(fmt.Sprint(r.At(t, "extensions", "cost", "used")))
			if err != nil {
				t.Fatalf("%s", r.Body)
			}
			return used
		}
		none := cost(`{"image":"web:1"}`)
		three := cost(`{"image":"web:1","net":"production/inner","disks":{"a":{"net":"production/inner"},"b":{"net":"production/outer"}}}`)
		if three != none+9 {
			t.Errorf("three choices cost %d, and none %d", three, none)
		}
	})
}
