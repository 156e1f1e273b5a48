package deployment

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"slipway/ent"
	"slipway/ent/deploymentchange"
	"slipway/ent/idempotencykey"
	"slipway/internal/actor"
	"slipway/internal/fault"
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

// Keep keeps the house until ctx ends: it ends the deployments whose lease has run out, and removes
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

// Purge removes the idempotency keys and the change rows that are too old, and gives how many they were.
func (s *Service) Purge(ctx context.Context) (purged int, err error) {
	now, err := s.Journal.Clock(ctx)
	if err != nil {
		return 0, fmt.Errorf("purge: %w", err)
	}
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
