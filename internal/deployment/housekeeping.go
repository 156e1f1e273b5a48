package deployment

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/ent/deploymentchange"
	"slipway/ent/idempotencykey"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/journal"
	"slipway/internal/store"
)

const (
	// sweepEvery is how long after its end a lease may be found to have run out.
	sweepEvery = time.Second
	purgeEvery = time.Hour
	// keepChanges is how long a follower of deployments may be away and miss nothing.
	keepChanges = 7 * 24 * time.Hour
	// batch bounds what is swept or purged at once.
	batch = 100
)

// Keep keeps the house until ctx ends: it fails the deployments whose lease has run out, and removes
// idempotency keys and change rows that are too old. Any number of servers may do so at once.
func (s *Service) Keep(ctx context.Context, log *slog.Logger) {
	var both sync.WaitGroup
	both.Go(func() { repeat(ctx, log, sweepEvery, s.ExpireLeases) })
	both.Go(func() { repeat(ctx, log, purgeEvery, s.Purge) })
	both.Wait()
}

// repeat does a piece of the housekeeping now and then again and again, until ctx ends.
func repeat(ctx context.Context, log *slog.Logger, every time.Duration, work func(context.Context) (int, error)) {
	next := time.NewTicker(every)
	defer next.Stop()
	for {
		if _, err := work(ctx); err != nil && ctx.Err() == nil && fault.IsFailure(err) {
			log.ErrorContext(ctx, "housekeeping failed; it is tried again", "in", every, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
	}
}

// system is the server itself, acting in an organization.
func system(ctx context.Context, organizationID string) context.Context {
	return actor.With(ctx, &actor.Actor{Name: "slipway", Role: actor.System, OrganizationID: organizationID, Channel: actor.Server})
}

// ExpireLeases puts the deployments whose lease has run out to FAILED with DeploymentLeaseExpired, and
// gives how many they were. They are not carried out again: they may have changed the world half-way.
func (s *Service) ExpireLeases(ctx context.Context) (expired int, err error) {
	for {
		found, err := s.Store.ExpiredLeases(system(ctx, ""), s.Journal.Now(), batch)
		if err != nil {
			return expired, err
		}
		for _, one := range found {
			switch failed := s.expire(system(ctx, one.OrganizationID), one.ID); {
			case errors.Is(failed, errStillHeld):
			case failed != nil:
				// The others do not wait for it.
				err = errors.Join(err, fmt.Errorf("expire the lease of %s: %w", one.ID, failed))
			default:
				expired++
			}
		}
		if err != nil || len(found) < batch {
			return expired, err
		}
	}
}

// errStillHeld says that a lease was renewed, or its deployment ended, since it was found.
var errStillHeld = errors.New("the lease is held, or is no more")

func (s *Service) expire(ctx context.Context, deploymentID string) error {
	_, err := s.change(ctx, "expireLease", access.RunDeployments, deploymentID,
		func(_ context.Context, _ *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry) error {
			if d.Status != deployment.StatusRUNNING || d.LeaseExpiresAt == nil || d.LeaseExpiresAt.After(e.At) {
				return errStillHeld
			}
			// A renewal raises no version, so it is compared too.
			u.Where(deployment.LeaseExpiresAtLTE(e.At))
			end(u, deployment.StatusFAILED, e.At, &fault.Data{
				Code: string(fault.DeploymentLeaseExpired),
				Message: fmt.Sprintf("The runner %s did not renew its lease, which ran out at %s.",
					*d.Runner, d.LeaseExpiresAt.UTC().Format(time.RFC3339)),
				Description: "How far it got is not known. See what was changed before it is deployed again.",
			})
			e.Changes = map[string]any{"status": deployment.StatusFAILED}
			return nil
		})
	return err
}

// Purge removes the idempotency keys and the change rows that are too old, and gives how many they were.
func (s *Service) Purge(ctx context.Context) (purged int, err error) {
	now := s.Journal.Now()
	keys, err := purge(ctx, s.Store, func(ctx context.Context) ([]store.OwnedID, error) {
		return s.Store.OldIdempotencyKeys(ctx, now.Add(-keepKeys), batch)
	}, func(ctx context.Context, tx *ent.Tx, ids []string) (int, error) {
		return tx.IdempotencyKey.Delete().Where(idempotencykey.IDIn(ids...)).Exec(ctx)
	})
	if err != nil {
		return keys, fmt.Errorf("purge idempotency keys: %w", err)
	}
	changes, err := purge(ctx, s.Store, func(ctx context.Context) ([]store.OwnedID, error) {
		return s.Store.OldChanges(ctx, now.Add(-keepChanges), batch)
	}, func(ctx context.Context, tx *ent.Tx, ids []string) (int, error) {
		numbers, err := numbersOf(ids)
		if err != nil {
			return 0, err
		}
		return tx.DeploymentChange.Delete().Where(deploymentchange.IDIn(numbers...)).Exec(ctx)
	})
	if err != nil {
		return keys + changes, fmt.Errorf("purge change rows: %w", err)
	}
	return keys + changes, nil
}
