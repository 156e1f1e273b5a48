package gqlhttp

import (
	"context"
	"net/http"

	"github.com/99designs/gqlgen/graphql"

	"slipway/internal/actor"
	"slipway/internal/httpx"
	"slipway/internal/quota"
)

// callerOf is the token of the request, or where it comes from.
func callerOf(ctx context.Context) quota.Caller {
	if a := actor.From(ctx); a != nil && a.ID != "" {
		return quota.Caller{Key: a.ID}
	}
	return quota.Caller{Key: httpx.ClientNetwork(ctx).String(), Anonymous: true}
}

// spending is what an answer tells of the cost of its operation.
type spending struct {
	Used  int `json:"used"`
	Limit int `json:"limit"`
	// Left is what the caller may still spend now, of Capacity; PerSecond comes back.
	Left      *int `json:"left,omitempty"`
	Capacity  int  `json:"capacity,omitempty"`
	PerSecond int  `json:"perSecond,omitempty"`

	buckets *quota.Buckets
	budget  quota.Budget
}

// spend takes what the operation is taken to cost out of the caller's bucket, if there are buckets.
func (s *spending) spend(ctx context.Context, costs *quota.Costs) error {
	if !costs.On() {
		return nil
	}
	caller := callerOf(ctx)
	s.buckets = costs.Of(caller)
	budget, err := s.buckets.Spend(caller.Key, s.Used)
	s.tell(budget)
	return err
}

// settle gives back what the operation did not cost after all, or takes what it cost beyond.
func (s *spending) settle(ctx context.Context, used int) {
	if s.buckets != nil {
		s.tell(s.buckets.Settle(callerOf(ctx).Key, s.Used-used))
	}
	s.Used = used
}

func (s *spending) tell(b quota.Budget) {
	s.budget = b
	s.Left, s.Capacity, s.PerSecond = new(max(b.Left, 0)), b.Capacity, b.PerSecond
}

// limitRate sets the RateLimit headers of an operation whose caller has a bucket.
func limitRate(h http.Header, op *graphql.OperationContext) {
	if s, ok := op.Stats.GetExtension(spendingName).(*spending); ok && s.buckets != nil {
		s.budget.Write(h)
	}
}
