// Package retention removes what is too old. Idempotency keys, change rows and events of the cloud go when nobody can
// need them any more; the details of deployments and the audit stay for ever, unless the operator says for how long.
package retention

import (
	"context"
	"errors"
	"fmt"
	"time"

	"slipway/internal/data/feed"
	"slipway/internal/data/journal"
	"slipway/internal/data/store"
	"slipway/internal/service/deployment"
	"slipway/internal/service/deployment/cloudevents"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/deployment/runners"
)

// step is how many rows are removed at once.
const step = 100

// MinKeep is the shortest time for which the details of deployments and the audit may be kept.
const MinKeep = 24 * time.Hour

// Keep says for how long something is kept that the operator may have removed; 0 is for ever.
type Keep struct {
	// Details are the events, the log and the states of listeners of a deployment, from its end on.
	Details time.Duration
	Audit   time.Duration
	// Archive takes the rows of the audit before they are removed. It is needed where Audit is not 0.
	Archive *Archive
}

// Service removes what is too old.
type Service struct {
	Store   *store.Store
	Journal *journal.Journal
	Deploy  *deployment.Services
	Keep    Keep
	// Purged, if it is not nil, is called with how many rows of a kind were removed, and Ended after each purge, with
	// what has failed.
	Purged func(what string, rows int)
	Ended  func(error)
}

// Purge removes what is too old, and returns how many rows that were, or that lost their details. What fails keeps
// nothing else from being removed.
func (s *Service) Purge(ctx context.Context) (purged int, err error) {
	return s.purge(ctx, func(context.Context) error { return nil })
}

// PurgeIfDue is Purge if the last purge began at least an hour ago and has ended, or if no server has worked on it for
// a minute. It ends early if another server has taken over, because this one did not get on for a minute.
func (s *Service) PurgeIfDue(ctx context.Context) (purged int, err error) {
	r, err := s.begin(ctx)
	if err != nil || r == nil {
		return 0, err
	}
	purged, err = s.purge(ctx, r.renew)
	if ctx.Err() != nil { // the server stops, and another one takes over
		return purged, err
	}
	return purged, errors.Join(err, r.end(ctx))
}

// work removes rows of a kind that are older than a time in steps, and returns how many they were. It calls next before
// each step, and ends with its error.
type work func(ctx context.Context, before time.Time, next func(context.Context) error) (int, error)

func (s *Service) purge(ctx context.Context, next func(context.Context) error) (purged int, err error) {
	defer func() {
		if s.Ended != nil && ctx.Err() == nil {
			s.Ended(err)
		}
	}()

	now, err := s.Journal.Clock(ctx)
	if err != nil {
		return 0, fmt.Errorf("purge: %w", err)
	}

	for _, c := range s.kinds() {
		n, failed := c.run(ctx, now.Add(-c.keep), next)
		purged += n
		if s.Purged != nil {
			s.Purged(c.what, n)
		}
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("purge %s: %w", c.what, failed))
		}
		if errors.Is(failed, errOvertaken) || ctx.Err() != nil {
			break
		}
	}

	return purged, err
}

// kind is a kind of rows and how they are removed once they are older than keep.
type kind struct {
	what string
	keep time.Duration
	run  work
}

func (s *Service) kinds() []kind {
	list := []kind{
		{"idempotency keys", propose.KeepKeys, s.removing(s.Store.OldIdempotencyKeys, removeKeys)},
		{"change rows", feed.Retention, s.removing(s.Store.OldChanges, removeChanges)},
		{"asks of runners", runners.KeepAsks, s.removing(s.Store.OldAsks, s.removeAsks)},
		{"change rows of another cluster", 0, s.removing(s.foreignChanges, removeChanges)},
		// Before those that are too old in any case: what never became known is logged.
		{"events of the cloud that wait", cloudevents.KeepPending, s.removing(s.Store.PendingEvents, s.removePending)},
		{"events of the cloud", cloudevents.KeepEvents, s.removing(s.Store.OldEvents, removeEvents)},
	}
	if s.Keep.Details > 0 {
		list = append(list, kind{"details of deployments", s.Keep.Details, s.foldDetails})
	}
	if s.Keep.Audit > 0 {
		list = append(list, kind{"audit events", s.Keep.Audit, s.moveAudit})
	}
	return list
}
