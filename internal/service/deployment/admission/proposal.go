package admission

import (
	"context"
	"fmt"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/optional"
	"slipway/internal/base/textrules"
	"slipway/internal/data/journal"
	"slipway/internal/data/store"
	"slipway/internal/pure/ecs"
	"slipway/internal/pure/gate"
	"slipway/internal/pure/inputprop"
	"slipway/internal/service/access"
	"slipway/internal/service/deployment/state"
)

const (
	// waitTime is how long a deployment waits for approvals.
	waitTime = 7 * 24 * time.Hour
	// maxWaiting is how many deployments of an instance may wait. If several are made at once there may be a few more.
	maxWaiting = 20
)

// Proposal is a deployment that is to be made, and all that decides whether and how it is. It is read in one
// transaction and changes nothing: a plan shows it, and a mutation goes on to write it.
type Proposal struct {
	Operation gate.Operation
	// Request returns the arguments of the mutation, as far as they decide what is made.
	Request func() []any
	// Place is where it is made, and InstanceID for which instance.
	Place      actor.Place
	InstanceID string
	// Starts is the deployment that has waited and is to be started, nil for one that is to be made.
	Starts *ent.Deployment
	// Created is the deployment as it would be inserted, or what its start would set; nil if it is refused.
	Created *ent.Deployment
	// Digest is that of the release that it ships, "" if nothing is known of one.
	Digest string
	// Content is what that has, in its canonical form.
	Content string
	// Live is the instance's live deployment, "" for none; active the one that is in progress, nil for none; and waiting
	// how many wait for approvals.
	Live    string
	Active  *ent.Deployment
	Waiting int
	// Rules are those in force there, and facts what they are judged by.
	Rules []gate.Rule
	Facts gate.Facts
	// Quarantine is the id of the quarantine of the release that is in force, "" for none.
	Quarantine string
	// TakenBack is what the cloud did with what is replayed after its success, nil for nothing.
	TakenBack *ecs.Setback
	// References are the instances that its inputs choose.
	References []ReadReference
	// Refusal is why it cannot be made whatever the rules say, nil if it can.
	Refusal error
	// Requirements are what the rules come to, override is that they are gone past, and waits whether it waits for
	// approvals, once it was judged.
	Requirements []gate.Requirement
	override     *gate.Override
	waits        bool
	// Warnings are what the caller should see to.
	Warnings []inputprop.Warning
	// Changes are what the audit has of it.
	Changes map[string]any
	// OwnerID is the instance that its service is known to belong to, "" if that is not known.
	OwnerID string
	// Before and after write what belongs to the deployment, before and after its own row; nil for nothing.
	Before, After func(context.Context, *ent.Tx, *journal.Entry) error
}

// ReadReference is a reference of a proposal, and the live deployment that was read.
type ReadReference struct{ Pointer, InstanceID, LiveID string }

// Control is what a caller says of the plan and of the rules.
type Control struct {
	// ExpectedPlan is the token of the plan that the caller has seen; nil is not checked.
	ExpectedPlan *string
	// OverrideReason is why the caller goes past rules that are not met, nil if they hold.
	OverrideReason *string
}

const minOverrideReason, maxOverrideReason = 10, 500

// Check returns what is wrong with the texts.
func (c Control) Check() []fault.Violation {
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

// AppendTo appends what is given to the arguments of a request.
func (c Control) AppendTo(arguments []any) []any {
	return state.AppendGiven(
		state.AppendGiven(arguments, "expectedPlan", c.ExpectedPlan), "overrideReason", c.OverrideReason,
	)
}

// Judge returns why a request of an actor for what is proposed is refused at a time, nil if it is not, and records in
// the proposal what that is decided by. Whatever makes or starts a deployment asks it, and so does whatever offers to.
func (s *Service) Judge(ctx context.Context, a *actor.Actor, p *Proposal, r Request, now time.Time) error {
	if err := p.checkPlan(r.ExpectedPlan); err != nil {
		return err
	}
	if p.Refusal != nil {
		return p.Refusal
	}
	if err := p.Require(ctx, now); err != nil {
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
	if p.waits {
		p.Warnings = append(p.Warnings, inputprop.Warning{Rule: "awaits_approval",
			Message: "It waits for approvals before it starts. " + gate.Summary(gate.Unmet(p.Requirements))})
	}

	if !p.waits && p.Active != nil {
		return s.InProgress(p.Active)
	}
	return checkExpectedLive(r.ExpectedLiveID, p.Live)
}

// Admit judges a proposal at a time, and sets in what is to be created what that comes to: that it is PENDING or waits
// for approvals, and that it goes past rules. It returns why it is refused, nil if it is not.
func (s *Service) Admit(ctx context.Context, p *Proposal, r Request, now time.Time) error {
	if err := s.Judge(ctx, actor.From(ctx), p, r, now); err != nil {
		return err
	}

	d := p.Created
	d.Status, d.Override = deployment.StatusPENDING, p.override
	if p.waits {
		d.Status, d.WaitsUntil, d.ReplacesID = deployment.StatusAWAITING_APPROVAL, new(
			now.Add(waitTime),
		), optional.NonZero(p.Live)
		// It holds nothing: its service is claimed when it starts.
		d.ServiceArn = nil
	}
	return nil
}

// Require records what the rules come to at a time.
func (p *Proposal) Require(ctx context.Context, at time.Time) (err error) {
	p.Requirements, err = gate.Judge(ctx, p.Rules, p.Facts, at)
	return err
}

// outcome returns whether a proposal waits for approvals by what the rules come to, and why it is refused. One that has
// waited waits no more.
func (p *Proposal) outcome(at time.Time) (waits bool, refusal error) {
	if p.Starts != nil {
		return false, gate.AtStart(p.Requirements, at)
	}
	waits, unmet := gate.AtCreation(p.Requirements, at)
	switch {
	case unmet != nil:
		return false, unmet
	case waits && p.Waiting >= maxWaiting:
		f := fault.New(fault.DeploymentTooManyWaiting,
			"%d deployments of the module instance %s wait for approvals; at most %d may. Reject or cancel some.", p.Waiting,
			p.InstanceID, maxWaiting)
		f.Metadata = map[string]any{"moduleInstanceId": p.InstanceID, "limit": maxWaiting}
		return true, f
	}
	return waits, nil
}

// Active returns the active deployment of an instance, or nil. One that was started outside is in nobody's way.
func Active(ctx context.Context, c *ent.DeploymentClient, instanceID string) (*ent.Deployment, error) {
	d, err := c.Query().
		Where(deployment.ModuleInstanceID(instanceID), store.IsInProgress).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil
	}
	return d, err
}

// InProgress returns the error of a request that an active deployment stands in the way of.
func (s *Service) InProgress(blocker *ent.Deployment) *fault.Error {
	since := blocker.CreatedAt.UTC().Format(time.RFC3339Nano)
	f := fault.New(fault.DeploymentInProgress, "Another deployment of the instance is active: %s, started by %s at %s.",
		blocker.ID, blocker.CreatedBy, since)
	named := map[string]any{
		"deploymentId": blocker.ID,
		"status":       string(blocker.Status),
		"startedBy":    blocker.CreatedBy,
		"createdAt":    since,
	}
	if blocker.CancelRequestedAt != nil {
		named["cancelRequestedAt"] = blocker.CancelRequestedAt.UTC().Format(time.RFC3339Nano)
		named["cancelRequestedBy"] = *blocker.CancelRequestedBy
		f.Description = "Its cancellation was requested; the instance is free when its program has ended."
	}
	f.Details = []fault.Section{{Title: "Active deployment", Render: fault.RenderObject, Object: named}}
	f.Metadata = map[string]any{"blockedBy": named}
	f.Action = &fault.Action{Label: "Show the active deployment", URL: s.BaseURL + "/deployments/" + blocker.ID}
	return f
}

// goPast returns that rules are gone past, nil if none is. It fails if the actor may not, or a rule holds in any case.
func (p *Proposal) goPast(a *actor.Actor, reason *string, now time.Time) (*gate.Override, error) {
	if reason == nil {
		return nil, nil
	}
	if err := access.CheckIn(a, access.OverrideRules, p.Place, fault.DeploymentForbidden); err != nil {
		return nil, err
	}
	return gate.GoPast(p.Requirements, a, *reason, now)
}

// Write inserts what was proposed and admitted, with all that belongs to it.
func (s *Service) Write(ctx context.Context, tx *ent.Tx, e *journal.Entry, p *Proposal) error {
	e.Changes = p.Changes
	for _, write := range []func(context.Context, *ent.Tx, *journal.Entry) error{
		p.Before,
		func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
			return s.CloudEvents.InsertOfService(ctx, tx, e, p.Created, p.OwnerID)
		},
		p.After,
	} {
		if write == nil {
			continue
		}
		if err := write(ctx, tx, e); err != nil {
			return err
		}
	}

	e.Changed = p.Created
	if o := p.Created.Override; o != nil {
		e.Also = append(e.Also, Overridden(p.Created.ID, o))
	}
	return nil
}

// Overridden returns the change that tells of rules that were gone past.
func Overridden(deploymentID string, o *gate.Override) journal.Change {
	return journal.Change{ObjectID: deploymentID, Action: "overrideRules", Changes: map[string]any{"override": o}}
}

// checkExpectedLive refuses a deployment if another is live than the caller expects.
func checkExpectedLive(expected *string, live string) error {
	if expected == nil || *expected == live {
		return nil
	}
	f := fault.New(fault.DeploymentLiveChanged,
		"The deployment %.100q is no longer live, %s is; review the change and try again.", *expected, live)
	f.Metadata = map[string]any{"expectedLiveDeploymentId": *expected}
	if live == "" {
		f.Message = fmt.Sprintf("The deployment %.100q is not live, none is.", *expected)
	} else {
		f.Metadata["liveDeploymentId"] = live
	}
	return f
}
