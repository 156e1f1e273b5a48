package deployment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/access"
	"slipway/internal/fault"
	"slipway/internal/journal"
)

// An expiry may be late and never early: a runner cannot renew its lease while no server is at work, and must find
// it still there afterwards. So each round of the sweep is noted in the database; where none was carried out for a
// while, the servers were away, and no lease is found to have run out within one lease of their return.
const (
	// leaseSweepID is the id of the one row that notes the rounds.
	leaseSweepID = "leases"
	// noteEvery is how old the note of a round may be before the next one is noted.
	noteEvery = 5 * time.Second
	// awayAfter is how old it may be before the servers count as away.
	awayAfter = 3 * noteEvery
)

// away reports whether no round was carried out of late, or the clock has been set back.
func away(sweep *ent.LeaseSweep, at time.Time) bool { return at.Sub(sweep.WorkedAt).Abs() > awayAfter }

// sparedUntil returns the time until which leases that have run out are spared.
func (s *Service) sparedUntil(sweep *ent.LeaseSweep, at time.Time) time.Time {
	if away(sweep, at) {
		return at.Add(s.leaseTime())
	}
	return sweep.ResumedAt.Add(s.leaseTime())
}

// noteRound notes a round of the sweep. It returns the time, and until when leases are spared.
func (s *Service) noteRound(ctx context.Context) (at, spared time.Time, err error) {
	err = s.Store.TxAt(system(ctx, ""), repeatable, func(ctx context.Context, tx *ent.Tx, began time.Time) error {
		at = s.Journal.Shared(began)
		sweep, err := tx.LeaseSweep.Get(ctx, leaseSweepID)
		if err != nil {
			return err
		}
		spared = s.sparedUntil(sweep, at)
		switch {
		case away(sweep, at):
			return sweep.Update().SetWorkedAt(at).SetResumedAt(at).Exec(ctx)
		case at.Sub(sweep.WorkedAt) >= noteEvery:
			return sweep.Update().SetWorkedAt(at).Exec(ctx)
		}
		return nil
	})
	return at, spared, err
}

// ExpireLeases ends the deployments whose lease has run out, and returns how many they were: FAILED with
// DeploymentLeaseExpired, or CANCELED where their cancellation was requested. They are not carried out again: they
// may have changed the world half-way.
func (s *Service) ExpireLeases(ctx context.Context) (expired int, err error) {
	for {
		at, spared, err := s.noteRound(ctx)
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

// errStillHeld says that a lease was renewed, or its deployment ended, since it was found.
var errStillHeld = errors.New("the lease is held, or is no more")

func (s *Service) expire(ctx context.Context, deploymentID string) error {
	_, err := s.change(ctx, "expireLease", access.RunDeployments, deploymentID,
		func(_ context.Context, _ *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry) error {
			if d.Status != deployment.StatusRUNNING || d.LeaseExpiresAt == nil || d.LeaseExpiresAt.After(e.Shared) {
				return errStillHeld
			}
			// A renewal raises no version, so it is compared too.
			u.Where(deployment.LeaseExpiresAtLTE(e.Shared))
			status, why := expiry(d)
			end(u, status, e.At, why)
			e.Changes = map[string]any{"status": status}
			return nil
		})
	return err
}

// expiry is how a deployment ends whose lease has run out.
func expiry(d *ent.Deployment) (deployment.Status, *fault.Data) {
	silent := fmt.Sprintf("The runner %s did not renew its lease, which ran out at %s.", *d.Runner, d.LeaseExpiresAt.UTC().Format(time.RFC3339))
	if d.CancelRequestedAt == nil {
		return deployment.StatusFAILED, &fault.Data{Code: string(fault.DeploymentLeaseExpired), Message: silent, Description: unknownExtent}
	}
	why := canceled(*d.CancelRequestedBy, nil)
	why.Message += " " + silent
	why.Description = unknownExtent
	return deployment.StatusCANCELED, why
}
