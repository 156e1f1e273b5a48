package rest

import (
	"net/http"

	"slipway/internal/meter"
	"slipway/internal/quota"
)

// charge takes a cost out of the caller's bucket, and returns the request with a meter of its further work;
// settle takes that too, once it is known. What is left is told in the RateLimit headers.
func (s Surface) charge(w http.ResponseWriter, r *http.Request, cost int) (metered *http.Request, settle func(), err error) {
	m := meter.New(meter.Limits{Cost: s.MaxCost}, float64(cost), nil)
	metered = r.WithContext(meter.With(r.Context(), m))
	if s.Costs == nil || !s.Costs.On() {
		return metered, func() {}, nil
	}
	caller := s.Caller(r)
	buckets := s.Costs.Of(caller)
	tell := func(b quota.Budget) { b.Write(w.Header()) }
	budget, err := buckets.Spend(caller.Key, cost)
	tell(budget)
	return metered, func() { tell(buckets.Settle(caller.Key, cost-m.Cost())) }, err
}
