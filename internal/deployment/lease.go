package deployment

import (
	"context"
	"crypto/subtle"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/id"
	"slipway/internal/journal"
)

// DefaultLease is how long a runner may be silent, where Service.LeaseTime is 0.
const DefaultLease = 30 * time.Second

// Lease is the right of one runner to carry a deployment out, for a time.
type Lease struct {
	// ID is what the runner proves it by.
	ID string
	// ExpiresAt is when it runs out, Seconds from now, unless it is renewed.
	ExpiresAt time.Time
	Seconds   int32
	// Fence is the number of its claim, in digits.
	Fence string
	// CancelSeconds is how long the program may still take to end, nil unless its cancellation was requested.
	CancelSeconds *int32
}

func (s *Service) leaseTime() time.Duration {
	if s.LeaseTime > 0 {
		return s.LeaseTime
	}
	return DefaultLease
}

// leaseOf gives the lease of a RUNNING deployment as its runner may see it.
func (s *Service) leaseOf(d *ent.Deployment) *Lease {
	left := d.LeaseExpiresAt.Sub(s.Journal.Now())
	return &Lease{ID: *d.LeaseID, ExpiresAt: d.LeaseExpiresAt.UTC(), Seconds: int32(max(0, left/time.Second)), Fence: *FenceOf(d)}
}

// FenceOf returns the number of a deployment's claim in digits, nil before it is claimed. Those that were claimed
// before claims were numbered have 0.
func FenceOf(d *ent.Deployment) *string {
	switch {
	case d.Fence != nil:
		return new(strconv.FormatInt(*d.Fence, 10))
	case d.LeaseID != nil:
		return new("0")
	}
	return nil
}

var leaseForm = regexp.MustCompile(`^[A-Za-z0-9_-]{8,100}$`)

// newLeaseID gives the id that the runner has chosen, or draws one.
func (s *Service) newLeaseID(chosen *string) (string, error) {
	if chosen == nil {
		return s.Journal.NewID(id.Lease), nil
	}
	if !leaseForm.MatchString(*chosen) {
		return "", fault.Invalid(fault.RequestInvalid, fault.Violation{Pointer: "/leaseId", Rule: "pattern",
			Message: fmt.Sprintf("must be 8 to 100 letters, digits, underscores or hyphens, found %.60q", *chosen)})
	}
	return *chosen, nil
}

// held refuses a runner whose lease is not the deployment's, or does not hold any more.
func held(d *ent.Deployment, leaseID string, at time.Time) error {
	switch {
	case d.LeaseID == nil || subtle.ConstantTimeCompare([]byte(*d.LeaseID), []byte(leaseID)) == 0:
		return leaseLost(d, "it is not under this lease")
	case d.Status != deployment.StatusRUNNING:
		return leaseLost(d, "its status is "+string(d.Status))
	case !d.LeaseExpiresAt.After(at):
		return leaseLost(d, "the lease ran out at "+d.LeaseExpiresAt.UTC().Format(time.RFC3339Nano))
	}
	return nil
}

func leaseLost(d *ent.Deployment, why string) error {
	f := fault.New(fault.DeploymentLeaseLost, "The lease on the deployment %s is lost: %s.", d.ID, why)
	f.Metadata = map[string]any{"deploymentId": d.ID, "status": string(d.Status)}
	return f
}

// RenewLease makes the lease of a RUNNING deployment last anew. That is no change of the deployment: its
// version stays, and there is no audit row. It gives DeploymentNotFound, DeploymentForbidden and
// DeploymentLeaseLost.
func (s *Service) RenewLease(ctx context.Context, deploymentID, leaseID string) (*ent.Deployment, *Lease, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.DeploymentForbidden); err != nil {
		return nil, nil, err
	}
	var renewed *ent.Deployment
	err := s.Journal.Write(ctx, "renewLease", func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
		e.Silent = true
		d, err := find(ctx, tx.Deployment, deploymentID)
		if err != nil {
			return err
		}
		if err := access.Check(a, access.RunDeployments, fault.DeploymentForbidden); err != nil {
			return err
		}
		if err := held(d, leaseID, e.At); err != nil {
			return err
		}
		until := e.At.Add(s.leaseTime())
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
		d.LeaseExpiresAt, renewed = &until, d
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return renewed, s.leaseOf(renewed), nil
}
