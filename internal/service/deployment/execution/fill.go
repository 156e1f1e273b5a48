package execution

import (
	"context"
	"fmt"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/data/store"
	"slipway/internal/service/deployment/state"
)

// FillIn writes what servers of before the columns leave out of the deployments that they make: the module, its
// version, the text that searches look in and the principal of the creator. It returns how many deployments it has
// filled in.
func (s *Service) FillIn(ctx context.Context) (filled int, err error) {
	for {
		found, err := s.Store.UnfilledDeployments(actor.WithServer(ctx, ""), batch)
		if err != nil {
			return filled, fmt.Errorf("deployments to fill in: %w", err)
		}

		before, of := filled, map[string][]string{}
		for _, one := range found {
			of[one.OrganizationID] = append(of[one.OrganizationID], one.ID)
		}
		for organizationID, ids := range of {
			n, err := s.fillIn(actor.WithServer(ctx, organizationID), ids)
			if filled += n; err != nil {
				return filled, fmt.Errorf("fill in deployments of %s: %w", organizationID, err)
			}
		}

		if len(found) < batch || filled == before { // or else it would find the same ones for ever
			return filled, nil
		}
	}
}

// fillIn fills in deployments of one organization.
func (s *Service) fillIn(ctx context.Context, ids []string) (filled int, err error) {
	err = s.Store.Tx(ctx, store.Repeatable, func(ctx context.Context, tx *ent.Tx) error {
		list, err := s.Store.ReadUnfilled(ctx, tx, ids)
		if err != nil {
			return err
		}
		for _, u := range list {
			if err := u.Fill(ctx, tx, state.SearchText(u.Description, u.Reason)); err != nil {
				return err
			}
		}
		filled = len(list)
		return nil
	})
	return filled, err
}
