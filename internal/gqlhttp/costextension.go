package gqlhttp

import (
	"context"
	"net/http"

	"github.com/99designs/gqlgen/graphql"

	"slipway/internal/httpx"
	"slipway/internal/quota"
)

// costExtension is the extension of an answer that has the cost of its operation.
type costExtension struct {
	Used  int `json:"used"`
	Limit int `json:"limit"`
	// Left is what the caller may still spend now, of Capacity; PerSecond comes back.
	Left      *int `json:"left,omitempty"`
	Capacity  int  `json:"capacity,omitempty"`
	PerSecond int  `json:"perSecond,omitempty"`

	buckets *quota.Buckets
	budget  quota.Budget
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
	c.setBudget(budget)
	return err
}

// settle replaces the assumed cost by what was used: the difference goes back into the caller's bucket, or is taken out
// of it.
func (c *costExtension) settle(ctx context.Context, used int) {
	if c.buckets != nil {
		c.setBudget(c.buckets.Settle(httpx.Caller(ctx).Key, c.Used-used))
	}
	c.Used = used
}

func (c *costExtension) setBudget(b quota.Budget) {
	c.budget = b
	c.Left, c.Capacity, c.PerSecond = new(max(b.Left, 0)), b.Capacity, b.PerSecond
}

// setRateLimit sets the RateLimit headers of an operation whose caller has a bucket.
func setRateLimit(h http.Header, op *graphql.OperationContext) {
	if c, ok := op.Stats.GetExtension(costName).(*costExtension); ok && c.buckets != nil {
		c.budget.Write(h)
	}
}
