package waiting

import (
	"context"
	"errors"
	"fmt"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/data/journal"
	"slipway/internal/service/access"
	"slipway/internal/service/deployment/state"
)

// expiredAtOnce is how many deployments that have waited for too long are ended at once.
const expiredAtOnce = 100

// ExpireWaiting ends the deployments that have waited for approvals for too long, and returns how many they were.
func (s *Service) ExpireWaiting(ctx context.Context) (expired int, err error) {
	at, err := s.Journal.Clock(ctx)
	if err != nil {
		return 0, err
	}

	found, err := s.Store.ExpiredWaiting(actor.WithServer(ctx, ""), at, expiredAtOnce)
	for _, one := range found {
		if failed := s.expireOne(actor.WithServer(ctx, one.OrganizationID), one.ID); failed != nil {
			// The others do not wait for it.
			err = errors.Join(err, fmt.Errorf("expire %s, which waits for approvals: %w", one.ID, failed))
			continue
		}
		expired++
	}
	return expired, err
}

func (s *Service) expireOne(ctx context.Context, deploymentID string) error {
	_, err := s.Transition.Make(ctx, "expireDeployment", access.Deploy, deploymentID,
		func(_ context.Context, _ *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry) error {
			if e.SkipAudit = d.Status != state.StatusAwaiting || d.WaitsUntil.After(e.Shared()); e.SkipAudit {
				return nil
			}
			state.SetEnded(u, state.StatusCanceled, e.At, expiredError(d))
			e.Changes = map[string]any{"status": state.StatusCanceled}
			return nil
		}, nil)
	return err
}
