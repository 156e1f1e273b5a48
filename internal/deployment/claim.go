package deployment

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/catalog"
	"slipway/internal/fault"
	"slipway/internal/journal"
	"slipway/internal/store"
)

// Claim is a runner that looks for work.
type Claim struct {
	// Kinds are those of the deployments that it carries out, at least one of catalog.Kinds.
	Kinds []string
	// LeaseID is what the runner chose to prove the claim by; the service draws one where it is nil.
	LeaseID *string
}

// Claim takes the oldest PENDING deployment of the kinds within the actor's scope and sets it RUNNING under a lease;
// it gives nil where there is none. A claim under a lease id that was used before gives the deployment that is carried
// out under it, or DeploymentLeaseLost where that has ended.
func (s *Service) Claim(ctx context.Context, in Claim) (*ent.Deployment, *Lease, error) {
	// The claim's own statement keeps to the scope.
	if err := access.CheckRole(actor.From(ctx), access.RunDeployments, fault.DeploymentForbidden); err != nil {
		return nil, nil, err
	}
	if err := checkKinds(in.Kinds); err != nil {
		return nil, nil, err
	}
	leaseID, err := s.newLeaseID(in.LeaseID)
	if err != nil {
		return nil, nil, err
	}
	claimed, lease, err := s.claim(ctx, in, leaseID)
	for store.IsUniqueViolation(err) {
		// The same claim, made twice at once: the other has its answer.
		claimed, lease, err = s.claim(ctx, in, leaseID)
	}
	if err != nil || claimed == nil {
		return nil, nil, err
	}
	s.Feed.Changed(claimed.ID)
	return claimed, lease, nil
}

func (s *Service) claim(ctx context.Context, in Claim, leaseID string) (claimed *ent.Deployment, lease *Lease, err error) {
	a := actor.From(ctx)
	err = s.Journal.Write(ctx, "claimDeployment", func(ctx context.Context, tx *ent.Tx, e *journal.Entry) (err error) {
		if in.LeaseID != nil {
			claimed, err = tx.Deployment.Query().Where(deployment.LeaseID(leaseID)).Only(ctx)
			if !ent.IsNotFound(err) {
				e.Silent = true
				if err == nil {
					err = access.CheckIn(a, access.RunDeployments, placeOf(claimed), fault.DeploymentForbidden)
				}
				if err == nil {
					err = s.checkHeld(ctx, tx, claimed, leaseID, e.Shared)
				}
				if err == nil {
					lease = s.leaseOf(claimed, e.Shared)
				}
				return err
			}
		}
		claimed = nil
		deploymentID, err := s.Store.ClaimDeployment(ctx, tx, store.Claim{
			Kinds: in.Kinds, Scope: a.Scope, Runner: a.Name, LeaseID: leaseID, At: e.At, ExpiresAt: e.Shared.Add(s.leaseTime()),
		})
		if err != nil || deploymentID == "" {
			e.Silent = true
			return err
		}
		e.ObjectID = deploymentID
		if claimed, err = tx.Deployment.Get(ctx, deploymentID); err != nil {
			return err
		}
		lease = s.leaseOf(claimed, e.Shared)
		return tell(ctx, tx, claimed)
	})
	return claimed, lease, err
}

func checkKinds(kinds []string) error {
	if len(kinds) == 0 {
		return fault.Invalid(fault.RequestInvalid, fault.Violation{Pointer: "/kinds", Rule: "min_items",
			Message: "must have at least 1 item, found none"})
	}
	if most := len(catalog.Kinds); len(kinds) > most {
		return fault.Invalid(fault.RequestInvalid, fault.Violation{Pointer: "/kinds", Rule: "max_items",
			Message: fmt.Sprintf("must have at most %d items, as many as there are kinds, found %d", most, len(kinds))})
	}
	var wrong fault.Violations
	for i, k := range kinds {
		if !slices.Contains(catalog.Kinds, k) {
			wrong.Add(fmt.Sprintf("/kinds/%d", i), "enum", "must be one of %s, found %.60q", strings.Join(catalog.Kinds, ", "), k)
		}
	}
	if wrong.Count() > 0 {
		return fault.Invalid(fault.RequestInvalid, wrong.All("/kinds")...)
	}
	return nil
}
