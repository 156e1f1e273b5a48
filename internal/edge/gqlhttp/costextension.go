package gqlhttp

import (
	"context"
	"net/http"
	"strconv"

	"github.com/99designs/gqlgen/graphql"

	"slipway/internal/edge/gqlhttp/wire"
	"slipway/internal/edge/httpx"
	"slipway/internal/edge/quota"
)

// costExtension is the extension of an answer that has the cost of its operation.
type costExtension struct {
	Used, Limit int

	// buckets are those of callers like this one, nil where what they spend is not bounded, and budget is what the caller
	// has left.
	buckets *quota.Buckets
	budget  quota.Budget
}

var _ wire.Extension = (*costExtension)(nil)

// AppendJSON implements wire.Extension. With buckets, left is what the caller may still spend now, of capacity, and
// perSecond comes back.
func (c *costExtension) AppendJSON(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"used":`...), int64(c.Used), 10)
	b = strconv.AppendInt(append(b, `,"limit":`...), int64(c.Limit), 10)
	if c.buckets != nil {
		b = strconv.AppendInt(append(b, `,"left":`...), int64(max(c.budget.Left, 0)), 10)
		b = strconv.AppendInt(append(b, `,"capacity":`...), int64(c.budget.Capacity), 10)
		b = strconv.AppendInt(append(b, `,"perSecond":`...), int64(c.budget.PerSecond), 10)
	}
	return append(b, '}')
}

// spend takes the assumed cost of the operation out of the caller's bucket, if there are buckets. The error is that of
// a bucket that has too little left.
func (c *costExtension) spend(ctx context.Context, costs *quota.Costs) error {
	if !costs.On() {
		return nil
	}
	caller := httpx.Caller(ctx)
	c.buckets = costs.Of(caller)
	budget, err := c.buckets.Spend(caller.Key, c.Used)
	c.budget = budget
	return err
}

// settle replaces the assumed cost by what was used. The difference between it and the charge, which has the steps of
// patterns, too, goes back into the caller's bucket, or is taken out of it.
func (c *costExtension) settle(ctx context.Context, used, charge int) {
	if c.buckets != nil {
		c.budget = c.buckets.Settle(httpx.Caller(ctx).Key, c.Used-charge)
	}
	c.Used = used
}

// costOf returns the cost of the context's operation, nil if it has none.
func costOf(ctx context.Context) *costExtension {
	c, _ := graphql.GetOperationContext(ctx).Stats.GetExtension(costName).(*costExtension)
	return c
}

// setRateLimit sets the RateLimit headers of an operation whose caller has a bucket.
func setRateLimit(h http.Header, op *graphql.OperationContext) {
	if c, ok := op.Stats.GetExtension(costName).(*costExtension); ok && c.buckets != nil {
		c.budget.Write(h)
	}
}
