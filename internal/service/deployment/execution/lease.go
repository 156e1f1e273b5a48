package execution

import (
	"cmp"
	"context"
	"crypto/subtle"
	"strconv"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/journal"
	"slipway/internal/service/access"
	"slipway/internal/service/deployment/transition"
)

// DefaultLease is how long a runner may be silent, where Service.LeaseTime is 0.
const DefaultLease = 5 * time.Minute

// Lease is the right of one runner to carry out a deployment, for a time.
type Lease struct {
	// ID is what the runner proves it by.
	ID string
	// ExpiresAt is when it runs out, Seconds from now, unless it is renewed.
	ExpiresAt time.Time
	Seconds   int32
	// WaitedSeconds is how long the claim had waited when it was granted, rounded down: a runner that counts Seconds
	// from its request adds them.
	WaitedSeconds int32
	// Fence is the number of its claim, in digits.
	Fence string
	// CancelSeconds is how long the program may still take to end, nil unless its cancellation was requested.
	CancelSeconds *int32
}

func (s *Service) leaseTime() time.Duration { return cmp.Or(s.LeaseTime, DefaultLease) }

// LeaseSeconds returns how long a runner may be silent.
func (s *Service) LeaseSeconds() int32 { return int32(s.leaseTime() / time.Second) }

// RenewLease extends the lease of a RUNNING deployment. That is no change of the deployment: its
// version stays, and there is no audit row. It fails with DeploymentNotFound, DeploymentForbidden and
// DeploymentLeaseLost.
func (s *Service) RenewLease(ctx context.Context, deploymentID, leaseID string) (*ent.Deployment, *Lease, error) {
	renew := func(ctx context.Context, tx *ent.Tx, d *ent.Deployment, e *journal.Entry) error {
		until := e.Shared().Add(s.leaseTime())
		// The status may have changed since it was read.
		n, err := tx.Deployment.Update().
			Where(deployment.ID(deploymentID), deployment.StatusEQ(deployment.StatusRUNNING), deployment.LeaseID(leaseID)).
			SetLeaseExpiresAt(until).Save(ctx)
		if err != nil {
			return err
		}
		if n == 0 {
			return leaseLost(d, "it has just ended")
		}
		d.LeaseExpiresAt = &until
		return nil
	}
	return s.underLease(ctx, "renewLease", deploymentID, leaseID, renew)
}

// leasedFunc makes a change under the lease of a deployment that is no change of it.
type leasedFunc func(context.Context, *ent.Tx, *ent.Deployment, *journal.Entry) error

// underLease carries out what a runner does under a lease that may be renewed, without an audit row, and returns the
// deployment and the lease as they are then.
func (s *Service) underLease(
	ctx context.Context, action, deploymentID, leaseID string, f leasedFunc,
) (d *ent.Deployment, lease *Lease, err error) {
	if err := access.Check(actor.From(ctx), access.Read, fault.DeploymentForbidden); err != nil {
		return nil, nil, err
	}

	err = s.Journal.WriteLatest(ctx, action, func(ctx context.Context, tx *ent.Tx, e *journal.Entry) (err error) {
		e.SkipAudit = true
		if d, err = transition.FindFor(ctx, tx, access.RunDeployments, deploymentID); err != nil {
			return err
		}
		if err := s.checkRenewable(ctx, tx, d, leaseID, e.Shared()); err != nil {
			return err
		}
		if err := f(ctx, tx, d, e); err != nil {
			return err
		}
		lease = s.leaseOf(d, e.Shared())
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return d, lease, nil
}

// leaseOf returns the lease of a RUNNING deployment as its runner may see it at a time.
func (s *Service) leaseOf(d *ent.Deployment, at time.Time) *Lease {
	l := &Lease{
		ID: *d.LeaseID, ExpiresAt: d.LeaseExpiresAt.UTC(), Seconds: secondsUntil(*d.LeaseExpiresAt, at),
		Fence: *FenceOf(d.Fence, d.LeaseID),
	}
	if d.CancelRequestedAt != nil {
		l.CancelSeconds = new(secondsUntil(s.KillTime(d), at))
	}
	return l
}

// secondsUntil rounds down: a runner must not take its time for longer than it is.
func secondsUntil(end, at time.Time) int32 { return int32(max(0, end.Sub(at)/time.Second)) }

// FenceOf returns the number of a deployment's claim in digits, nil before it is claimed, by its fence and its lease.
// Those that were claimed before claims were numbered have 0.
func FenceOf(fence *int64, leaseID *string) *string {
	switch {
	case fence != nil:
		return new(strconv.FormatInt(*fence, 10))
	case leaseID != nil:
		return new("0")
	}
	return nil
}

// checkRenewable refuses also a runner whose program should have ended since its cancellation was requested.
func (s *Service) checkRenewable(
	ctx context.Context, tx *ent.Tx, d *ent.Deployment, leaseID string, at time.Time,
) error {
	if err := s.checkHeld(ctx, tx, d, leaseID, at); err != nil {
		return err
	}
	if d.CancelRequestedAt != nil && !at.Before(s.KillTime(d).Add(renewAfterKill)) {
		return leaseLost(d, "its cancellation was requested at "+d.CancelRequestedAt.UTC().Format(time.RFC3339Nano)+
			", and the time that its program had to end is over")
	}
	return nil
}

// checkHeld refuses a runner whose lease is not the deployment's, or does not hold any more. One that ran out while
// no server looked for such leases still holds, because its runner could not renew it.
func (s *Service) checkHeld(ctx context.Context, tx *ent.Tx, d *ent.Deployment, leaseID string, at time.Time) error {
	switch {
	case d.LeaseID == nil || subtle.ConstantTimeCompare([]byte(*d.LeaseID), []byte(leaseID)) == 0:
		return leaseLost(d, "it is not under this lease")
	case d.Status != deployment.StatusRUNNING:
		return leaseLost(d, "its status is "+string(d.Status))
	case d.LeaseExpiresAt.After(at):
		return nil
	}
	sweep, err := tx.Chore.Get(ctx, leaseSweepID)
	if err != nil {
		return err
	}
	if at.Before(s.graceUntil(sweep, at)) {
		return nil
	}
	return leaseLost(d, "the lease ran out at "+d.LeaseExpiresAt.UTC().Format(time.RFC3339Nano))
}

func leaseLost(d *ent.Deployment, why string) error {
	f := fault.New(fault.DeploymentLeaseLost, "The lease on the deployment %s is lost: %s.", d.ID, why)
	f.Metadata = map[string]any{"deploymentId": d.ID, "status": string(d.Status)}
	return f
}
