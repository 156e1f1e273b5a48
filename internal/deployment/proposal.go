package deployment

import (
	"context"
	"fmt"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/ecs"
	"slipway/internal/fault"
	"slipway/internal/gate"
	"slipway/internal/inputprop"
	"slipway/internal/journal"
	"slipway/internal/optional"
	"slipway/internal/textrules"
)

const (
	// waitTime is how long a deployment waits for approvals.
	waitTime = 7 * 24 * time.Hour
	// maxWaiting is how many deployments of an instance may wait. Where several are made at once there may be a few more.
	maxWaiting = 20
)

// proposal is a deployment that is to be made, and all that decides whether and how it is. It is read in one transaction and
// changes nothing: a plan shows it, and a mutation goes on to write it.
type proposal struct {
	operation gate.Operation
	// request returns the arguments of the mutation, as far as they decide what is made.
	request func() []any
	// place is where it is made, and instanceID for which instance.
	place      actor.Place
	instanceID string
	// starts is the deployment that has waited and is to be started, nil for one that is to be made.
	starts *ent.Deployment
	// created is the deployment as it would be inserted, or what its start would set; nil if it is refused.
	created *ent.Deployment
	// digest is that of the release that it ships, "" where nothing is known of one.
	digest string
	// content is what that has, in its canonical form.
	content string
	// live is the instance's live deployment, "" for none; active the one that is in progress, nil for none; and waiting how
	// many wait for approvals.
	live    string
	active  *ent.Deployment
	waiting int
	// rules are those in force there, and facts what they are judged by.
	rules []gate.Rule
	facts gate.Facts
	// quarantine is the id of the quarantine of the release that is in force, "" for none.
	quarantine string
	// takenBack is what the cloud did with what is replayed after its success, nil for nothing.
	takenBack *ecs.Setback
	// references are the instances that its inputs choose.
	references []readReference
	// refusal is why it cannot be made whatever the rules say, nil where it can.
	refusal error
	// requirements are what the rules come to, override is that they are gone past, and waits whether it waits for approvals,
	// once it was judged.
	requirements []gate.Requirement
	override     *gate.Override
	waits        bool
	// warnings are what the caller should see to.
	warnings []inputprop.Warning
	// changes are what the audit has of it.
	changes map[string]any
	// ownerID is the instance that its service is known to belong to, "" where that is not known.
	ownerID string
	// before and after write what belongs to the deployment, before and after its own row; nil for nothing.
	before, after func(context.Context, *ent.Tx, *journal.Entry) error
}

// readReference is a reference of a proposal, and the live deployment that was read.
type readReference struct{ Pointer, InstanceID, LiveID string }

// Control is what a caller says of the plan and of the rules.
type Control struct {
	// ExpectedPlan is the token of the plan that the caller has seen; nil is not checked.
	ExpectedPlan *string
	// OverrideReason is why the caller goes past rules that are not met, nil where they hold.
	OverrideReason *string
}

const minOverrideReason, maxOverrideReason = 10, 500

// check returns what is wrong with the texts.
func (c Control) check() []fault.Violation {
	violations := checkPlanToken(c.ExpectedPlan)
	if c.OverrideReason == nil {
		return violations
	}
	if n := len([]rune(*c.OverrideReason)); n < minOverrideReason {
		return append(violations, fault.Violation{Pointer: "/overrideReason", Rule: "min_length",
			Message: fmt.Sprintf("must have at least %d characters, found %d", minOverrideReason, n)})
	}
	return append(violations, textrules.Reason("/overrideReason", *c.OverrideReason, maxOverrideReason)...)
}

// appendTo appends what is given to the arguments of a request.
func (c Control) appendTo(arguments []any) []any {
	return appendGiven(appendGiven(arguments, "expectedPlan", c.ExpectedPlan), "overrideReason", c.OverrideReason)
}

// judge returns why a request of an actor for what is proposed is refused at a time, nil if it is not, and records what that
// comes to. Whatever
// makes or starts a deployment asks it, and so does whatever offers to.
func (s *Service) judge(ctx context.Context, a *actor.Actor, p *proposal, r Request, now time.Time) error {
	if err := p.checkPlan(r.ExpectedPlan); err != nil {
		return err
	}
	if p.refusal != nil {
		return p.refusal
	}
	if err := p.require(ctx, now); err != nil {
		return err
	}

	var err error
	if p.override, err = p.goPast(a, r.OverrideReason, now); err != nil {
		return err
	}
	if p.override == nil {
		if p.waits, err = p.outcome(now); err != nil {
			return err
		}
	}

	if !p.waits && p.active != nil {
		return s.inProgress(p.active)
	}
	return checkExpectedLive(r.ExpectedLiveID, p.live)
}

// admit judges a proposal at a time, and sets in what is to be created what that comes to: that it is PENDING or waits for
// approvals, and that it goes past rules. It returns why it is refused, nil if it is not.
func (s *Service) admit(ctx context.Context, p *proposal, r Request, now time.Time) error {
	if err := s.judge(ctx, actor.From(ctx), p, r, now); err != nil {
		return err
	}

	d := p.created
	d.Status, d.Override = deployment.StatusPENDING, p.override
	if p.waits {
		d.Status, d.WaitsUntil, d.ReplacesID = deployment.StatusAWAITING_APPROVAL, new(now.Add(waitTime)), optional.NonZero(p.live)
		// It holds nothing: its service is claimed when it starts.
		d.ServiceArn = nil
	}
	return nil
}

// require records what the rules come to at a time.
func (p *proposal) require(ctx context.Context, at time.Time) (err error) {
	p.requirements, err = gate.Judge(ctx, p.rules, p.facts, at)
	return err
}

// outcome returns whether a proposal waits for approvals by what the rules come to, and why it is refused. One that has waited
// waits no more.
func (p *proposal) outcome(at time.Time) (waits bool, refusal error) {
	if p.starts != nil {
		return false, gate.AtStart(p.requirements, at)
	}
	waits, unmet := gate.AtCreation(p.requirements, at)
	switch {
	case unmet != nil:
		return false, unmet
	case waits && p.waiting >= maxWaiting:
		f := fault.New(fault.DeploymentTooManyWaiting,
			"%d deployments of the module instance %s wait for approvals; at most %d may. Reject or cancel some.", p.waiting, p.instanceID, maxWaiting)
		f.Metadata = map[string]any{"moduleInstanceId": p.instanceID, "limit": maxWaiting}
		return true, f
	}
	return waits, nil
}

// goPast returns that rules are gone past, nil if none is. It fails if the actor may not, or a rule holds in any case.
func (p *proposal) goPast(a *actor.Actor, reason *string, now time.Time) (*gate.Override, error) {
	if reason == nil {
		return nil, nil
	}
	if err := access.CheckIn(a, access.OverrideRules, p.place, fault.DeploymentForbidden); err != nil {
		return nil, err
	}
	return gate.GoPast(p.requirements, a.Name, *reason, now)
}

// write inserts what was proposed and admitted, with all that belongs to it.
func (s *Service) write(ctx context.Context, tx *ent.Tx, e *journal.Entry, p *proposal) error {
	e.Changes = p.changes
	for _, write := range []func(context.Context, *ent.Tx, *journal.Entry) error{
		p.before,
		func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
			return s.insertOfService(ctx, tx, e, p.created, p.ownerID)
		},
		p.after,
	} {
		if write == nil {
			continue
		}
		if err := write(ctx, tx, e); err != nil {
			return err
		}
	}
	e.Changed = p.created
	if o := p.created.Override; o != nil {
		e.Also = append(e.Also, overridden(p.created.ID, o))
	}
	return nil
}

// overridden returns the change that tells of rules that were gone past.
func overridden(deploymentID string, o *gate.Override) journal.Change {
	return journal.Change{ObjectID: deploymentID, Action: "overrideRules", Changes: map[string]any{"override": o}}
}
