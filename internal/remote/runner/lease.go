package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"slipway/internal/remote/client"
	"slipway/internal/remote/runner/keeper"
)

// errLeaseEnded is the reason why a job is given up whose lease was not renewed in time.
var errLeaseEnded = errors.New("the lease ended before the server could be reached")

// errLetGo is the reason why a job is left to another runner.
var errLetGo = errors.New("the server does not let this runner carry the deployment out")

// maxInterval is the longest time between two renewals of a lease; a short lease is renewed after a third of it.
const maxInterval = 20 * time.Second

// requestTimeout is the longest time for one request.
const requestTimeout = 10 * time.Second

// grantedLease returns a lease that the server has granted or renewed. It counts from when the request was sent, and a
// claim had waited at the server: the server cannot have granted it earlier.
func grantedLease(g client.GrantedLease, id string, sent keeper.Instant) keeper.Lease {
	granted := sent.Add(time.Duration(g.WaitedSeconds) * time.Second)
	length := time.Duration(g.Seconds) * time.Second
	return keeper.Lease{ID: id, End: granted.Add(length), Length: length}
}

// interval returns the time between two renewals of a lease.
func interval(l keeper.Lease) time.Duration { return min(maxInterval, l.Length/3) }

// timeout returns how long one request may take under the lease, so that another can follow in time.
func (j *job) timeout() time.Duration {
	return min(requestTimeout, max(interval(j.lease()), time.Second))
}

// left returns how long the lease still lasts.
func (j *job) left() time.Duration { return j.lease().End.Sub(j.Clock()) }

// minInterval is the shortest time between two renewals, which a clock that has jumped could make too short.
const minInterval = 100 * time.Millisecond

// keepLease renews the lease until it is lost.
func (j *job) keepLease() {
	for {
		lease := j.lease()
		if !sleep(j.leaseCtx, max(minInterval, interval(lease)-lease.Length+j.left())) {
			return
		}

		renew := func(ctx context.Context) (client.GrantedLease, error) {
			response, err := client.RenewLease(ctx, j.client, client.RenewLeaseInput{Id: j.DeploymentID, LeaseId: lease.ID})
			if err != nil {
				return client.GrantedLease{}, err
			}
			return response.RenewLease.Lease, nil
		}

		if err := j.request("renewLease", renew); err != nil {
			j.refused("the lease was not renewed", err)
		}
	}
}

// refused ends the job if the server has refused its lease, or this runner. What else it has refused is no reason to
// stop a program.
func (j *job) refused(what string, err error) {
	switch {
	case leaseLost(err):
		j.loseLease(fmt.Errorf("%s: %w", what, err))
	case notOurs(err):
		j.loseLease(fmt.Errorf("%w: %s: %w", errLetGo, what, err))
	case j.leaseCtx.Err() == nil:
		j.log.Warn(what, "error", err)
	}
}

// request sends an operation whose answer renews the lease, until it is answered, refused or the lease is lost.
func (j *job) request(operation string, send func(context.Context) (client.GrantedLease, error)) error {
	return j.client.Retry(j.leaseCtx, operation, func() (bool, error) {
		ctx, cancel := context.WithTimeout(j.leaseCtx, j.timeout())
		defer cancel()
		sent := j.Clock()
		granted, err := send(ctx)
		if err != nil {
			return !leaseLost(err) && !notOurs(err) && !aboutContent(err), err
		}
		j.renewed(granted, sent)
		return false, nil
	})
}

// renewed passes the server's answer on to the keeper.
func (j *job) renewed(g client.GrantedLease, sent keeper.Instant) {
	if err := j.program.Renew(grantedLease(g, j.lease().ID, sent)); err != nil {
		j.log.Error("cannot pass the renewed lease to the keeper", "error", err)
	}
	if g.CancelSeconds == nil {
		return
	}
	if err := j.program.Stop(keeper.Canceled, sent.Add(time.Duration(*g.CancelSeconds)*time.Second)); err != nil {
		j.log.Error("cannot stop the program of a canceled deployment", "error", err)
	}
}

const (
	// overdueInterval is how often watch checks that the program has not outlived its time.
	overdueInterval = 100 * time.Millisecond
	// silenceInterval is how often watch checks that a program whose end was not told has not ended.
	silenceInterval = 5 * time.Second
)

// watch waits until the program has ended, also after its lease was lost. It kills the program when its lease or its
// stop is over and its keeper, which may be frozen, has not. The error says why the program is left to another runner.
func (j *job) watch() (keeper.End, error) {
	silence := time.NewTicker(silenceInterval)
	defer silence.Stop()
	for {
		ctx, cancel := context.WithTimeout(j.requestCtx, overdueInterval)
		end, err := j.program.Wait(ctx)
		cancel()
		cause := context.Cause(j.leaseCtx)
		switch {
		case err == nil:
			return end, nil
		case j.requestCtx.Err() != nil, errors.Is(cause, errLetGo):
			return end, cause
		case !errors.Is(err, context.DeadlineExceeded):
			return end, err
		}
		j.enforce(silence.C)
	}
}

// enforce does what the keeper should have done: it kills the program if that is overdue, and, when it is to look for
// that, a keeper that does not tell the end.
func (j *job) enforce(silence <-chan time.Time) {
	if j.program.Overdue(j.Clock()) {
		if err := j.program.Kill(); err != nil {
			j.log.Error("cannot kill the program", "error", err)
		}
	}
	select {
	case <-silence:
		if err := j.program.KillSilent(); err != nil {
			j.log.Error("cannot find out whether the program has ended", "error", err)
		}
	default:
	}
}

// waitForRenewal waits, after a program was stopped because its lease was about to end, until the lease is renewed
// after all. It loses the lease if that ends before.
func (j *job) waitForRenewal() {
	for lease := j.lease(); j.lease() == lease; {
		if j.left() <= 0 {
			j.loseLease(errLeaseEnded)
		}
		if !sleep(j.leaseCtx, overdueInterval) {
			return
		}
	}
}
