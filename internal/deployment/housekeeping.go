package deployment

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"slipway/ent"
	"slipway/ent/cloudevent"
	"slipway/ent/deployment"
	"slipway/ent/deploymentchange"
	"slipway/ent/idempotencykey"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/feed"
	"slipway/internal/journal"
	"slipway/internal/store"
)

const (
	// sweepEvery is how late a lease may be found to have run out.
	sweepEvery = time.Second
	purgeEvery = time.Hour
	retryEvery = time.Minute
	// batch is how many rows are ended or removed at once.
	batch = 100
)

// RunHousekeeping works until ctx ends: every second it ends the deployments whose lease has run out, and every
// hour it removes what is too old of idempotency keys, change rows and events of the cloud. Every minute it looks again
// at the events that wait for their deployment. Any number of servers may do so at once.
func (s *Service) RunHousekeeping(ctx context.Context, log *slog.Logger) {
	var all sync.WaitGroup
	all.Go(func() { repeat(ctx, log, sweepEvery, s.ExpireLeases) })
	all.Go(func() { repeat(ctx, log, purgeEvery, s.Purge) })
	all.Go(func() { repeat(ctx, log, retryEvery, s.RetryEvents) })
	all.Wait()
}

// repeat calls work now and then at intervals, until ctx ends.
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

// ExpireLeases ends the deployments whose lease has run out, and returns how many they were: FAILED with
// DeploymentLeaseExpired, or CANCELED where their cancellation was requested. They are not carried out again: they
// may have made half of their changes.
func (s *Service) ExpireLeases(ctx context.Context) (expired int, err error) {
	for {
		at, spared, err := s.recordSweep(ctx)
		if err != nil || at.Before(spared) {
			return expired, err
		}
		found, err := s.Store.ExpiredLeases(system(ctx, ""), at, batch)
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

// An expiry may be late and never early: a runner cannot renew its lease while no server is at work, and must find
// it still there afterwards. So each sweep of the leases is recorded in the database. Where none was carried out for a
// while, the servers were away, and for the time of one lease after their return no lease is ended.
const (
	// leaseSweepID is the id of the one row that records the sweeps.
	leaseSweepID = "leases"
	// recordEvery is how old the record may be before a sweep is recorded again.
	recordEvery = 5 * time.Second
	// pausedAfter is how old it may be before the servers count as away.
	pausedAfter = 3 * recordEvery
)

// recordSweep records a sweep. It returns the time, and until when no lease is ended.
func (s *Service) recordSweep(ctx context.Context) (at, spared time.Time, err error) {
	err = s.Store.TxAt(system(ctx, ""), store.Repeatable, func(ctx context.Context, tx *ent.Tx, clock func() time.Time) error {
		sweep, err := tx.LeaseSweep.Get(ctx, leaseSweepID)
		if err != nil {
			return err
		}
		at = s.Journal.Shared(clock())
		spared = s.graceUntil(sweep, at)
		switch {
		case sweepPaused(sweep, at):
			return sweep.Update().SetWorkedAt(at).SetResumedAt(at).Exec(ctx)
		case at.Sub(sweep.WorkedAt) >= recordEvery:
			return sweep.Update().SetWorkedAt(at).Exec(ctx)
		}
		return nil
	})
	return at, spared, err
}

// graceUntil returns the time until which leases that have run out are not ended.
func (s *Service) graceUntil(sweep *ent.LeaseSweep, at time.Time) time.Time {
	if sweepPaused(sweep, at) {
		return at.Add(s.leaseTime())
	}
	return sweep.ResumedAt.Add(s.leaseTime())
}

// sweepPaused reports whether no sweep was carried out of late, or the clock has been set back.
func sweepPaused(sweep *ent.LeaseSweep, at time.Time) bool {
	return at.Sub(sweep.WorkedAt).Abs() > pausedAfter
}

// errStillHeld reports that a lease was renewed, or its deployment ended, since it was found.
var errStillHeld = errors.New("the lease is held, or is no more")

func (s *Service) expire(ctx context.Context, deploymentID string) error {
	_, err := s.transition(ctx, "expireLease", access.RunDeployments, deploymentID,
		func(_ context.Context, _ *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry) error {
			if d.Status != deployment.StatusRUNNING || d.LeaseExpiresAt == nil || d.LeaseExpiresAt.After(e.Shared()) {
				return errStillHeld
			}
			// A renewal raises no version, so it is compared too.
			u.Where(deployment.LeaseExpiresAtLTE(e.Shared()))
			status, why := expiredOutcome(d)
			setEnded(u, status, e.At, why)
			e.Changes = map[string]any{"status": status}
			return nil
		})
	return err
}

// expiredOutcome returns how a deployment ends whose lease has run out.
func expiredOutcome(d *ent.Deployment) (deployment.Status, *fault.Data) {
	silent := fmt.Sprintf("The runner %s did not renew its lease, which ran out at %s.", *d.Runner, d.LeaseExpiresAt.UTC().Format(time.RFC3339))
	if d.CancelRequestedAt == nil {
		return deployment.StatusFAILED, &fault.Data{Code: string(fault.DeploymentLeaseExpired), Message: silent, Description: unknownOutcome}
	}
	why := canceledError(*d.CancelRequestedBy, nil)
	why.Message += " " + silent
	why.Description = unknownOutcome
	return deployment.StatusCANCELED, why
}

// RetryEvents looks again at the events of the cloud that wait for their deployment and whose service is known, and
// returns how many services these were.
func (s *Service) RetryEvents(ctx context.Context) (services int, err error) {
	found, err := s.Store.WaitingServices(system(ctx, ""), batch)
	if err != nil {
		return 0, err
	}
	for _, service := range found {
		if failed := s.retryService(system(ctx, service.OrganizationID), service.ID); failed != nil {
			// The others do not wait for it.
			err = errors.Join(err, fmt.Errorf("events of the service %s: %w", service.ID, failed))
		}
	}
	return len(found), err
}

// Purge removes the idempotency keys, the change rows and the events of the cloud that are too old, and the change rows that a
// restore has brought from another cluster, and returns how many they were. Events whose deployment did not become known in
// a day are logged.
func (s *Service) Purge(ctx context.Context) (purged int, err error) {
	now, err := s.Journal.Clock(ctx)
	if err != nil {
		return 0, fmt.Errorf("purge: %w", err)
	}
	for _, p := range s.purges() {
		n, err := s.purge(ctx, p, now)
		purged += n
		if s.Purged != nil {
			s.Purged(p.what, n)
		}
		if err != nil {
			return purged, fmt.Errorf("purge %s: %w", p.what, err)
		}
	}
	return purged, nil
}

// purge is a kind of rows that are removed once they are older than keep.
type purge struct {
	what   string
	keep   time.Duration
	find   func(ctx context.Context, before time.Time, limit int) ([]store.OwnedID, error)
	remove func(ctx context.Context, tx *ent.Tx, ids []string) (int, error)
}

func (s *Service) purges() []purge {
	foreign := func(ctx context.Context, _ time.Time, limit int) ([]store.OwnedID, error) {
		return s.Store.ForeignChanges(ctx, limit)
	}
	return []purge{
		{"idempotency keys", keepKeys, s.Store.OldIdempotencyKeys, removeKeys},
		{"change rows", feed.Retention, s.Store.OldChanges, removeChanges},
		{"change rows of another cluster", 0, foreign, removeChanges},
		// Before those that are too old in any case: what never became known is logged.
		{"events of the cloud that wait", keepPending, s.Store.PendingEvents, s.removePending},
		{"events of the cloud", keepEvents, s.Store.OldEvents, removeEvents},
	}
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

func removeEvents(ctx context.Context, tx *ent.Tx, ids []string) (int, error) {
	numbers, err := numbersOf(ids)
	if err != nil {
		return 0, err
	}
	return tx.CloudEvent.Delete().Where(cloudevent.IDIn(numbers...)).Exec(ctx)
}

// removePending removes events that have waited too long, unless they have been placed since they were found.
func (s *Service) removePending(ctx context.Context, tx *ent.Tx, ids []string) (int, error) {
	numbers, err := numbersOf(ids)
	if err != nil {
		return 0, err
	}
	n, err := tx.CloudEvent.Delete().Where(cloudevent.PendingSinceNotNil(), cloudevent.IDIn(numbers...)).Exec(ctx)
	if err == nil && n > 0 {
		s.logRemoved(ctx, "none became known within a day", n)
	}
	return n, err
}

// purge removes rows of a kind in batches, each organization's in a transaction of its own.
func (s *Service) purge(ctx context.Context, p purge, now time.Time) (purged int, err error) {
	for {
		found, err := p.find(system(ctx, ""), now.Add(-p.keep), batch)
		if err != nil {
			return purged, err
		}
		removed := 0
		for organization, ids := range byOrganization(found) {
			var n int
			err := s.Store.Tx(system(ctx, organization), store.Repeatable, func(ctx context.Context, tx *ent.Tx) (err error) {
				n, err = p.remove(ctx, tx, ids)
				return err
			})
			if err != nil {
				return purged + removed, err
			}
			removed += n
		}
		purged += removed
		// Where other servers have removed what was found, they go on with the rest.
		if len(found) < batch || removed == 0 {
			return purged, nil
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

// system returns a context in which the server itself acts in an organization.
func system(ctx context.Context, organizationID string) context.Context {
	return actor.With(ctx, &actor.Actor{Name: "slipway", Role: actor.System, OrganizationID: organizationID, Channel: actor.Server})
}
