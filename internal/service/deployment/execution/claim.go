package execution

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/optional"
	"slipway/internal/data/journal"
	"slipway/internal/data/store"
	"slipway/internal/pure/module"
	"slipway/internal/service/access"
	"slipway/internal/service/deployment/state"
)

// Claim is the request of a runner for work.
type Claim struct {
	// Kinds are the deployment types that it carries out, at least one of module.DeploymentTypes.
	Kinds []string
	// Actions are what its program can do, at least one; nil is Apply.
	Actions []state.Action
	// LeaseID is the id of the lease that the runner chose; if it is nil the service draws one.
	LeaseID *string
	// Wait is for how many seconds at most it waits for a deployment if none is there, up to MaxClaimWait; nil is not
	// at all. Await then waits until changed has an item, and reports whether it has: it returns false after atMost,
	// and where there is another reason to answer.
	Wait  *int32
	Await func(ctx context.Context, atMost time.Duration, changed <-chan struct{}) (bool, error)
}

// MaxClaimWait is how many seconds a claim may wait.
const MaxClaimWait = 30

// Claim takes the oldest PENDING deployment of the kinds within the actor's scope and sets it RUNNING under a lease;
// it returns nil if there is none, and none comes while it waits. A claim under a lease id that was used before
// returns the deployment that is carried out under it, or DeploymentLeaseLost if that has ended.
func (s *Service) Claim(ctx context.Context, in Claim) (*ent.Deployment, *Lease, error) {
	// The statement that claims keeps to the scope.
	if err := access.CheckRole(actor.From(ctx), access.RunDeployments, fault.DeploymentForbidden); err != nil {
		return nil, nil, err
	}
	if err := checkKinds(in.Kinds); err != nil {
		return nil, nil, err
	}
	if err := checkActions(in.Actions); err != nil {
		return nil, nil, err
	}
	if err := checkWait(in.Wait); err != nil {
		return nil, nil, err
	}

	leaseID, err := s.newLeaseID(in.LeaseID)
	if err != nil {
		return nil, nil, err
	}

	s.Runners.add(actor.From(ctx).ID, in.Kinds, slices.Contains(in.Actions, state.DestroyAction), s.Journal.Now())
	s.Asks.Note(actor.From(ctx), in.Kinds, in.actions())
	return s.claimWithin(ctx, in, leaseID)
}

// actions returns what the program can do.
func (c Claim) actions() []state.Action {
	if c.Actions == nil {
		return []state.Action{state.Apply}
	}
	return c.Actions
}

// checkActions refuses a list of actions that can be of no program.
func checkActions(actions []state.Action) error {
	if actions != nil && len(actions) == 0 {
		return fault.Invalid(fault.RequestInvalid, fault.Violation{Pointer: "/actions", Rule: "min_items",
			Message: "must have at least 1 item, found none; leave it out for " + string(state.Apply)})
	}
	if most := 2; len(actions) > most {
		return fault.Invalid(fault.RequestInvalid, fault.Violation{Pointer: "/actions", Rule: "max_items",
			Message: fmt.Sprintf("must have at most %d items, as many as there are actions, found %d", most, len(actions))})
	}
	return nil
}

func checkWait(seconds *int32) error {
	if seconds != nil && (*seconds < 0 || *seconds > MaxClaimWait) {
		return fault.Invalid(fault.RequestInvalid, fault.Violation{Pointer: "/wait", Rule: "range",
			Message: fmt.Sprintf("must be between 0 and %d seconds, found %d", MaxClaimWait, *seconds)})
	}
	return nil
}

// claimWithin claims until there is something or the claim has waited as long as it wants to.
func (s *Service) claimWithin(ctx context.Context, in Claim, leaseID string) (*ent.Deployment, *Lease, error) {
	if in.Wait == nil || *in.Wait == 0 {
		return s.claim(ctx, in, leaseID)
	}
	begun := time.Now()
	deadline := begun.Add(time.Duration(*in.Wait) * time.Second)
	created, stop := s.Feed.WatchPending(store.Scope(actor.From(ctx)))
	defer stop()

	for {
		waited := time.Since(begun)
		claimed, lease, err := s.claim(ctx, in, leaseID)
		switch {
		case err != nil:
			return nil, nil, err
		case claimed != nil:
			lease.WaitedSeconds = int32(waited / time.Second)
			return claimed, lease, nil
		}
		if goOn, err := in.Await(ctx, time.Until(deadline), created); !goOn {
			return nil, nil, err
		}
	}
}

func checkKinds(kinds []string) error {
	if len(kinds) == 0 {
		return fault.Invalid(fault.RequestInvalid, fault.Violation{Pointer: "/deploymentTypes", Rule: "min_items",
			Message: "must have at least 1 item, found none"})
	}
	if most := len(module.DeploymentTypes); len(kinds) > most {
		return fault.Invalid(fault.RequestInvalid, fault.Violation{Pointer: "/deploymentTypes", Rule: "max_items",
			Message: fmt.Sprintf("must have at most %d items, one for each deploymentType, found %d", most, len(kinds))})
	}

	var wrong fault.Violations
	for i, k := range kinds {
		if !slices.Contains(module.DeploymentTypes, k) {
			wrong.Add(
				fmt.Sprintf("/deploymentTypes/%d", i), "enum", "must be one of %s, found %.60q",
				strings.Join(module.DeploymentTypes, ", "), k,
			)
		}
	}

	if wrong.Count() > 0 {
		return fault.Invalid(fault.RequestInvalid, wrong.All("/deploymentTypes")...)
	}
	return nil
}

var leaseForm = regexp.MustCompile(`^[A-Za-z0-9_-]{8,100}$`)

// newLeaseID returns the id that the runner has chosen, or draws one.
func (s *Service) newLeaseID(chosen *string) (string, error) {
	if chosen == nil {
		return s.Journal.NewID(id.Lease), nil
	}
	if !leaseForm.MatchString(*chosen) {
		return "", fault.Invalid(fault.RequestInvalid, fault.Violation{Pointer: "/leaseId", Rule: "pattern",
			Message: fmt.Sprintf("must be 8 to 100 letters, digits, underscores or hyphens, found %.60q", *chosen)})
	}
	return *chosen, nil
}

// claim claims. If the same claim is made twice at once and the other has its answer, it is claim's, too.
func (s *Service) claim(
	ctx context.Context, in Claim, leaseID string,
) (claimed *ent.Deployment, lease *Lease, err error) {
	a := actor.From(ctx)
	err = s.Journal.WriteLatest(ctx, "claimDeployment",
		func(ctx context.Context, tx *ent.Tx, e *journal.Entry) (err error) {
			claimed, lease = nil, nil
			if in.LeaseID != nil {
				earlier, err := tx.Deployment.Query().Where(deployment.LeaseID(leaseID)).Only(ctx)
				if !ent.IsNotFound(err) {
					e.SkipAudit = true
					if err == nil {
						claimed = earlier
						lease, err = s.leaseAgain(ctx, tx, earlier, leaseID, e.Shared())
					}
					return err
				}
			}

			deploymentID, err := s.Store.ClaimDeployment(ctx, tx, store.Claim{
				Kinds: in.Kinds, Scope: a.Scope, Runner: a.Name, RunnerID: optional.NonZero(a.ID), LeaseID: leaseID, At: e.At,
				ExpiresAt:    e.Shared().Add(s.leaseTime()),
				Destroys:     slices.Contains(in.Actions, state.DestroyAction),
				OnlyDestroys: !slices.Contains(in.Actions, state.Apply),
			})
			if err != nil || deploymentID == "" {
				e.SkipAudit = true
				return err
			}

			e.ObjectID = deploymentID
			if claimed, err = tx.Deployment.Get(ctx, deploymentID); err != nil {
				return err
			}

			lease, e.Changed = s.leaseOf(claimed, e.Shared()), claimed
			return nil
		})
	if err != nil {
		return nil, nil, err
	}
	return claimed, lease, nil
}

// leaseAgain returns the lease of a deployment that was claimed under it before.
func (s *Service) leaseAgain(
	ctx context.Context, tx *ent.Tx, d *ent.Deployment, leaseID string, now time.Time,
) (*Lease, error) {
	if err := access.CheckIn(
		actor.From(ctx), access.RunDeployments, state.PlaceOf(d), fault.DeploymentForbidden,
	); err != nil {
		return nil, err
	}
	if err := s.checkHeld(ctx, tx, d, leaseID, now); err != nil {
		return nil, err
	}
	return s.leaseOf(d, now), nil
}
