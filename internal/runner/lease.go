package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"slipway/internal/keeper"
)

// errRanOut is why work is given up whose lease was not renewed in time.
var errRanOut = errors.New("the lease ran out before the server could be reached")

// renewal is the longest time between two renewals of a lease; a shorter lease is renewed after a third.
const renewal = 20 * time.Second

// granted is what the server says of a lease that it gives or renews.
type granted struct {
	// Seconds is how long it lasts. CancelSeconds is how long the program still may take to end where its
	// deployment is to be canceled.
	Seconds       int
	CancelSeconds *int
}

// lease returns what was granted by the answer to a request that was sent then: it began no earlier.
func (g granted) lease(id string, sent keeper.Instant) keeper.Lease {
	length := time.Duration(g.Seconds) * time.Second
	return keeper.Lease{ID: id, End: sent.Add(length), Length: length}
}

// interval is the time between two renewals of the lease.
func interval(l keeper.Lease) time.Duration { return min(renewal, l.Length/3) }

// timeout is how long one request may take under the lease, so that another can follow in time.
func (j *job) timeout() time.Duration { return min(patience, max(interval(j.lease()), time.Second)) }

// left is how long the lease still lasts.
func (j *job) left() time.Duration { return j.lease().End.Sub(j.Clock()) }

const renewLease = `mutation($input: RenewLeaseInput!) { renewLease(input: $input) { lease { seconds cancelSeconds } } }`

// shortPause keeps renewals apart where the clock has jumped.
const shortPause = 100 * time.Millisecond

// keepLease renews the lease until it is lost.
func (j *job) keepLease() {
	for {
		lease := j.lease()
		if !pause(j.held, max(shortPause, interval(lease)-lease.Length+j.left())) {
			return
		}
		if err := j.ask("renewLease", renewLease, map[string]any{}); err != nil {
			j.lose(fmt.Errorf("the lease was not renewed: %w", err))
		}
	}
}

// ask asks for something that renews the lease, until it is answered, refused or the lease is lost.
func (j *job) ask(what, query string, input map[string]any) error {
	input["id"], input["leaseId"] = j.DeploymentID, j.lease().ID
	return j.client.retry(j.held, what, func() (bool, error) {
		var data map[string]struct{ Lease granted }
		sent := j.Clock()
		err := j.client.post(j.held, j.timeout(), query, input, &data)
		if err != nil {
			return transient(err), err
		}
		j.renewed(data[what].Lease, sent)
		return false, nil
	})
}

// renewed passes on to the keeper what the server has answered.
func (j *job) renewed(g granted, sent keeper.Instant) {
	if err := j.kept.Renew(g.lease(j.lease().ID, sent)); err != nil {
		j.log.Error("the lease was renewed, and its keeper cannot be told", "error", err)
	}
	if g.CancelSeconds == nil {
		return
	}
	if err := j.kept.Stop(keeper.Canceled, sent.Add(time.Duration(*g.CancelSeconds)*time.Second)); err != nil {
		j.log.Error("the program was canceled and cannot be stopped", "error", err)
	}
}

// watch waits for the end of the program, and kills what the keeper has not stopped in time. Where the
// program was stopped because the lease was about to end, it waits until the lease is renewed all the same
// or has run out, and then is lost.
func (j *job) watch() (end keeper.End, err error) {
	for {
		looking, done := context.WithTimeout(j.held, shortPause)
		end, err = j.kept.Wait(looking)
		done()
		switch {
		case err == nil && end.Stopped == keeper.Expiring:
			return end, j.renewedLate()
		case err == nil || !errors.Is(err, context.DeadlineExceeded):
			return end, err
		case j.lease().Overdue(j.Clock()):
			if err := j.kept.Kill(); err != nil {
				j.log.Error("the program cannot be killed", "error", err)
			}
		}
	}
}

// renewedLate waits until the lease is renewed, and loses it where it runs out before.
func (j *job) renewedLate() error {
	for lease := j.lease(); j.lease() == lease; {
		if j.left() <= 0 {
			j.lose(errRanOut)
		}
		if !pause(j.held, shortPause) {
			return context.Cause(j.held)
		}
	}
	return nil
}
