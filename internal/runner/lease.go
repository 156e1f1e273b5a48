package runner

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// errRanOut is why work is given up whose lease was not renewed in time.
var errRanOut = errors.New("the lease ran out before the server could be reached")

// granted is for how many seconds the server has given or renewed a lease.
type granted struct{ Seconds int }

// lease is the right to carry a deployment out, as long as it lasts by this machine's own clock.
type lease struct {
	id string
	// held ends with the lease; its cause says why.
	held  context.Context
	lose  context.CancelCauseFunc
	timer *time.Timer
	// third is when to renew it, after it was last renewed.
	third time.Duration
}

// newLease gives a lease that was granted by the answer to a request sent then. It ends with ctx.
func newLease(ctx context.Context, id string, sent time.Time, g granted) *lease {
	l := &lease{id: id, third: time.Duration(g.Seconds) * time.Second / 3}
	l.held, l.lose = context.WithCancelCause(ctx)
	l.timer = time.AfterFunc(g.until(sent), func() { l.lose(errRanOut) })
	return l
}

// until is how long a lease lasts from now; it began at the latest when it was asked for.
func (g granted) until(sent time.Time) time.Duration {
	return time.Until(sent.Add(time.Duration(g.Seconds) * time.Second))
}

func (l *lease) extend(sent time.Time, g granted) { l.timer.Reset(g.until(sent)) }

// timeout is how long one request may take under the lease, so that another can follow in time.
func (l *lease) timeout() time.Duration { return min(patience, max(l.third, time.Second)) }

// end gives the lease up.
func (l *lease) end() {
	l.timer.Stop()
	l.lose(context.Canceled)
}

const renewLease = `mutation($input: RenewLeaseInput!) { renewLease(input: $input) { lease { seconds } } }`

// keepLease renews the lease until it ends or is lost.
func (j *job) keepLease() {
	for pause(j.held, j.third) {
		err := j.ask("renewLease", renewLease, map[string]any{})
		if err != nil && j.held.Err() == nil {
			j.lose(fmt.Errorf("the lease was not renewed: %w", err))
		}
	}
}

// ask asks for something that extends the lease, until it is answered, refused or the lease has ended.
func (j *job) ask(what, query string, input map[string]any) error {
	input["id"], input["leaseId"] = j.Deployment.ID, j.lease.id
	return j.client.retry(j.held, what, func() (bool, error) {
		var data map[string]struct{ Lease granted }
		sent := time.Now()
		err := j.client.post(j.held, j.timeout(), query, input, &data)
		if err != nil {
			return transient(err), err
		}
		j.extend(sent, data[what].Lease)
		return false, nil
	})
}
