package execution

import (
	"context"
	"errors"
	"fmt"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/journal"
	"slipway/internal/data/store"
	"slipway/internal/service/access"
	"slipway/internal/service/deployment/state"
)

// batch is how many deployments are ended at once.
const batch = 100

// ExpireLeases ends the deployments whose lease has run out, and returns how many they were: FAILED with
// DeploymentLeaseExpired, or CANCELED where their cancellation was requested. They are not carried out again: they
// may have made half of their changes.
func (s *Service) ExpireLeases(ctx context.Context) (expired int, err error) {
	for {
		at, spared, err := s.recordSweep(ctx)
		if err != nil || at.Before(spared) {
			return expired, err
		}
		found, err := s.Store.ExpiredLeases(actor.WithServer(ctx, ""), at, batch)
		if err != nil {
			return expired, err
		}

		for _, one := range found {
			switch failed := s.expire(actor.WithServer(ctx, one.OrganizationID), one.ID); {
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
// it still there afterwards. So each sweep of the leases is recorded in the database. If none was carried out for a
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
	err = s.Store.TxAt(actor.WithServer(ctx, ""), store.Repeatable,
		func(ctx context.Context, tx *ent.Tx, clock func() time.Time) error {
			sweep, err := tx.Chore.Get(ctx, leaseSweepID)
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
func (s *Service) graceUntil(sweep *ent.Chore, at time.Time) time.Time {
	if sweepPaused(sweep, at) {
		return at.Add(s.leaseTime())
	}
	return sweep.ResumedAt.Add(s.leaseTime())
}

// sweepPaused reports whether no sweep was carried out of late, or the clock has been set back.
func sweepPaused(sweep *ent.Chore, at time.Time) bool {
	return at.Sub(sweep.WorkedAt).Abs() > pausedAfter
}

// errStillHeld reports that a lease was renewed, or its deployment ended, since it was found.
var errStillHeld = errors.New("the lease is held, or is no more")

func (s *Service) expire(ctx context.Context, deploymentID string) error {
	_, err := s.carryOut(ctx, "expireLease", access.RunDeployments, deploymentID,
		func(_ context.Context, _ *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry) error {
			if d.Status != deployment.StatusRUNNING || d.LeaseExpiresAt == nil || d.LeaseExpiresAt.After(e.Shared()) {
				return errStillHeld
			}
			// A renewal raises no version, so it is compared too.
			u.Where(deployment.LeaseExpiresAtLTE(e.Shared()))
			status, why := expiredOutcome(d)
			state.SetEnded(u, status, e.At, why)
			e.Changes = map[string]any{"status": status}
			return nil
		})
	return err
}

// expiredOutcome returns how a deployment ends whose lease has run out.
func expiredOutcome(d *ent.Deployment) (deployment.Status, *fault.Data) {
	silent := fmt.Sprintf(
		"The runner %s did not renew its lease, which ran out at %s.", *d.Runner, d.LeaseExpiresAt.UTC().Format(time.RFC3339),
	)
	if d.CancelRequestedAt == nil {
		return deployment.StatusFAILED, &fault.Data{
			Code: string(fault.DeploymentLeaseExpired), Message: silent, Description: unknownOutcome,
		}
	}
	why := canceledError(*d.CancelRequestedBy, nil)
	why.Message += " " + silent
	why.Description = unknownOutcome
	return deployment.StatusCANCELED, why
}
