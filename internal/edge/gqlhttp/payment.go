package gqlhttp

import (
	"context"
	"sync"
	"time"

	"slipway/internal/base/fault"
	"slipway/internal/edge/gqlhttp/stream"
	"slipway/internal/edge/httpx"
	"slipway/internal/edge/requestlog"
)

// itemPatience is how long an event of a subscription waits until its caller can pay for it.
const itemPatience = 5 * time.Second

// payment is what the caller of a subscription pays for an event.
type payment struct {
	once sync.Once
	// isMade is whether the assumed cost was taken out of the caller's bucket.
	isMade bool
	// refusal is why it was not, for which the event is not resolved and the subscription ends.
	refusal error
}

// pay has the caller of an event pay what its document costs, once. It waits for the caller's bucket, and nothing that
// others need is held meanwhile: the event's turn and its time begin after.
func (e *execution) pay(ctx context.Context) {
	if e == nil || e.payment == nil {
		return
	}
	e.payment.once.Do(func() {
		c := costOf(ctx)
		if c == nil || c.buckets == nil {
			return
		}
		err := c.buckets.Await(ctx, httpx.Caller(ctx).Key, "An item of the subscription", c.Used, itemPatience)
		e.payment.isMade = err == nil
		if fault.Is(err, fault.RequestRateLimited) {
			e.payment.refusal = err
			requestlog.From(ctx).AddError(fault.RequestRateLimited)
			stream.RefuseEvent(ctx, err)
		}
	})
}

// settlePayment replaces what an event was assumed to cost by what it did.
func (e *execution) settlePayment(ctx context.Context, c *costExtension) {
	if e.payment != nil && e.payment.isMade {
		c.buckets.Settle(httpx.Caller(ctx).Key, c.Used-e.meter.Charge())
	}
}
