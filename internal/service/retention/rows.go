package retention

import (
	"context"
	"strconv"
	"time"

	"slipway/ent"
	"slipway/ent/cloudevent"
	"slipway/ent/deploymentchange"
	"slipway/ent/idempotencykey"
	"slipway/ent/runnerask"
	"slipway/internal/base/actor"
	"slipway/internal/data/store"
	"slipway/internal/service/deployment/runners"
)

// removing returns the work that removes what find finds, each organization's in a transaction of its own.
func (s *Service) removing(
	find func(ctx context.Context, before time.Time, limit int) ([]store.OwnedID, error),
	remove func(ctx context.Context, tx *ent.Tx, ids []string) (int, error),
) work {
	return func(ctx context.Context, before time.Time, next func(context.Context) error) (purged int, err error) {
		for {
			if err := next(ctx); err != nil {
				return purged, err
			}
			found, err := find(actor.WithServer(ctx, ""), before, step)
			if err != nil {
				return purged, err
			}

			removed := 0
			for organization, ids := range byOrganization(found) {
				var n int
				err := s.Store.Tx(actor.WithServer(ctx, organization), store.Repeatable,
					func(ctx context.Context, tx *ent.Tx) (err error) {
						n, err = remove(ctx, tx, ids)
						return err
					})
				if err != nil {
					return purged + removed, err
				}
				removed += n
			}

			purged += removed
			// If others have removed what was found, they go on with the rest.
			if len(found) < step || removed == 0 {
				return purged, nil
			}
		}
	}
}

func byOrganization(list []store.OwnedID) map[string][]string {
	ids := map[string][]string{}
	for _, one := range list {
		ids[one.OrganizationID] = append(ids[one.OrganizationID], one.ID)
	}
	return ids
}

func (s *Service) foreignChanges(ctx context.Context, _ time.Time, limit int) ([]store.OwnedID, error) {
	return s.Store.ForeignChanges(ctx, limit)
}

func removeKeys(ctx context.Context, tx *ent.Tx, ids []string) (int, error) {
	return tx.IdempotencyKey.Delete().Where(idempotencykey.IDIn(ids...)).Exec(ctx)
}

func removeChanges(ctx context.Context, tx *ent.Tx, ids []string) (int, error) {
	numbers, err := numbersOf(ids)
	if err != nil {
		return 0, err
	}
	return tx.DeploymentChange.Delete().Where(deploymentchange.IDIn(numbers...)).Exec(ctx)
}

// removeAsks leaves what its runner has asked for again since it was found.
func (s *Service) removeAsks(ctx context.Context, tx *ent.Tx, ids []string) (int, error) {
	numbers, err := numbersOf(ids)
	if err != nil {
		return 0, err
	}
	since := s.Journal.Now().Add(-runners.KnownFor)
	return tx.RunnerAsk.Delete().Where(runnerask.IDIn(numbers...), runnerask.AskedAtLT(since)).Exec(ctx)
}

func removeEvents(ctx context.Context, tx *ent.Tx, ids []string) (int, error) {
	numbers, err := numbersOf(ids)
	if err != nil {
		return 0, err
	}
	return tx.CloudEvent.Delete().Where(cloudevent.IDIn(numbers...)).Exec(ctx)
}

func (s *Service) removePending(ctx context.Context, tx *ent.Tx, ids []string) (int, error) {
	numbers, err := numbersOf(ids)
	if err != nil {
		return 0, err
	}
	return s.Deploy.CloudEvents.RemovePending(ctx, tx, numbers)
}

func numbersOf(texts []string) ([]int64, error) {
	numbers := make([]int64, len(texts))
	for i, text := range texts {
		var err error
		if numbers[i], err = strconv.ParseInt(text, 10, 64); err != nil {
			return nil, err
		}
	}
	return numbers, nil
}
