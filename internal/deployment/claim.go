package deployment

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"slipway/ent"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/catalog"
	"slipway/internal/fault"
	"slipway/internal/journal"
)

// Claim takes the oldest PENDING deployment of the kinds and sets it RUNNING; it gives nil where there
// is none.
func (s *Service) Claim(ctx context.Context, kinds []string) (*ent.Deployment, error) {
	if err := access.Check(actor.From(ctx), access.RunDeployments, fault.DeploymentForbidden); err != nil {
		return nil, err
	}
	if err := checkKinds(kinds); err != nil {
		return nil, err
	}
	var claimed *ent.Deployment
	err := s.Journal.Write(ctx, "claimDeployment", func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
		claimed = nil
		deploymentID, err := s.Store.ClaimDeployment(ctx, tx, kinds, e.At)
		if err != nil || deploymentID == "" {
			e.Silent = true
			return err
		}
		e.ObjectID = deploymentID
		claimed, err = tx.Deployment.Get(ctx, deploymentID)
		return err
	})
	return claimed, err
}

func checkKinds(kinds []string) error {
	if len(kinds) == 0 {
		return fault.Invalid(fault.RequestInvalid, fault.Violation{Pointer: "/kinds", Rule: "min_items",
			Message: "must have at least 1 item, found none"})
	}
	var violations []fault.Violation
	for i, k := range kinds {
		if !slices.Contains(catalog.Kinds, k) {
			violations = append(violations, fault.Violation{Pointer: fmt.Sprintf("/kinds/%d", i), Rule: "enum",
				Message: fmt.Sprintf("must be one of %s, found %.60q", strings.Join(catalog.Kinds, ", "), k)})
		}
	}
	if len(violations) > 0 {
		return fault.Invalid(fault.RequestInvalid, violations...)
	}
	return nil
}
