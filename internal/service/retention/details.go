package retention

import (
	"context"
	"errors"
	"fmt"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/data/store"
)

// maxFailures is how many deployments may fail to lose their details before a purge gives up: the database does not
// answer then. One whose record cannot be read keeps the others from nothing.
const maxFailures = 10

// foldDetails has deployments that ended long ago lose their details, and returns how many had any.
func (s *Service) foldDetails(
	ctx context.Context, before time.Time, next func(context.Context) error,
) (folded int, err error) {
	var last store.EndedDeployment
	for failures := 0; ; {
		if err := next(ctx); err != nil {
			return folded, err
		}
		found, failed := s.Store.UnfoldedDeployments(actor.WithServer(ctx, ""), last, before, step)
		if failed != nil {
			return folded, errors.Join(err, failed)
		}

		for _, last = range found {
			had, failed := s.Deploy.Execution.FoldDetails(actor.WithServer(ctx, last.OrganizationID), last.ID)
			if had {
				folded++
			}
			if failed == nil {
				continue
			}
			err = errors.Join(err, fmt.Errorf("%s: %w", last.ID, failed))
			if failures++; failures == maxFailures {
				return folded, err
			}
		}

		if len(found) < step {
			return folded, err
		}
	}
}
