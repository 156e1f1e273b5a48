package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"slipway/internal/keeper"
)

// errLeaseEnded is the reason why a job is given up whose lease was not renewed in time.
var errLeaseEnded = errors.New("the lease ended before the server could be reached")

// maxInterval is the longest time between two renewals of a lease; a short lease is renewed after a third of it.
const maxInterval = 20 * time.Second

// leaseGrant is the server's answer when it grants or renews a lease.
type leaseGrant struct {
	// Seconds is how long the lease lasts.
	Seconds int
	// CancelSeconds is how long the program still may take to end if the deployment is being canceled, else nil.
	CancelSeconds *int
}

// lease returns the granted lease. It counts from when the request was sent: the server cannot have granted it earlier.
func (g leaseGrant) lease(id string, sent keeper.Instant) keeper.Lease {
	length := time.Duration(g.Seconds) * time.Second
	return keeper.Lease{ID: id, End: sent.Add(length), Length: length}
}

// interval returns the time between two renewals of a lease.
func interval(l keeper.Lease) time.Duration { return min(maxInterval, l.Length/3) }

// timeout returns how long one request may take under the lease, so that another can follow in time.
func (j *job) timeout() time.Duration {
	return min(requestTimeout, max(interval(j.lease()), time.Second))
}

// left returns how long the lease still lasts.
func (j *job) left() time.Duration { return j.lease().End.Sub(j.Clock()) }

const renewLease = `mutation($input: RenewLeaseInput!) { renewLease(input: $input) { lease { seconds cancelSeconds } } }`

// minInterval is the shortest time between two renewals, which a clock that has jumped could make too short.
const minInterval = 100 * time.Millisecond

// keepLease renews the lease until it is lost.
func (j *job) keepLease() {
	for {
		lease := j.lease()
		if !sleep(j.leaseCtx, max(minInterval, interval(lease)-lease.Length+j.left())) {
			return
		}
		if err := j.request("renewLease", renewLease, map[string]any{}); err != nil {
			j.loseLease(fmt.Errorf("the lease was not renewed: %w", err))
		}
	}
}

// request sends an operation whose answer renews the lease, until it is answered, refused or the lease is lost.
func (j *job) request(operation, query string, input map[string]any) error {
	input["id"], input["leaseId"] = j.DeploymentID, j.lease().ID
	return j.client.retry(j.leaseCtx, operation, func() (bool, error) {
		var data map[string]struct{ Lease leaseGrant }
		sent := j.Clock()
		err := j.client.post(j.leaseCtx, j.timeout(), query, input, &data)
		if err != nil {
			return transient(err), err
		}
		j.renewed(data[operation].Lease, sent)
		return false, nil
	})
}

// renewed passes the server's answer on to the keeper.
func (j *job) renewed(g leaseGrant, sent keeper.Instant) {
	if err := j.program.Renew(g.lease(j.lease().ID, sent)); err != nil {
		j.log.Error("cannot pass the renewed lease to the keeper", "error", err)
	}
	if g.CancelSeconds == nil {
		return
	}
	if err := j.program.Stop(keeper.Canceled, sent.Add(time.Duration(*g.CancelSeconds)*time.Second)); err != nil {
		j.log.Error("cannot stop the program of a canceled deployment", "error", err)
	}
}

// overdueInterval is how often watch checks that the program has not outlived its time.
const overdueInterval = 100 * time.Millisecond

// watch waits for the end of the program, and kills it if the keeper has not stopped it in time. If the program was
// stopped because the lease was about to end, watch waits until the lease is renewed after all, or ends and is lost.
func (j *job) watch() (end keeper.End, err error) {
	for {
		ctx, cancel := context.WithTimeout(j.leaseCtx, overdueInterval)
		end, err = j.program.Wait(ctx)
		cancel()
		switch {
		case err == nil && end.Stopped == keeper.LeaseExpiring:
			return end, j.waitForRenewal()
		case err == nil || !errors.Is(err, context.DeadlineExceeded):
			return end, err
		case j.lease().Overdue(j.Clock()):
			if err := j.program.Kill(); err != nil {
				j.log.Error("cannot kill the program", "error", err)
			}
		}
	}
}

// waitForRenewal waits until the lease is renewed, and loses it if it ends before.
func (j *job) waitForRenewal() error {
	for lease := j.lease(); j.lease() == lease; {
		if j.left() <= 0 {
			j.loseLease(errLeaseEnded)
		}
		if !sleep(j.leaseCtx, overdueInterval) {
			return context.Cause(j.leaseCtx)
		}
	}
	return nil
}
