package rest

import (
	"net/http"

	"slipway/internal/base/meter"
	"slipway/internal/edge/httpx"
	"slipway/internal/edge/requestlog"
)

// charge takes a cost out of the caller's bucket, and returns the request with a meter of its further work;
// settle takes that too, once it is known. The RateLimit headers have what is left.
func (s Surface) charge(
	w http.ResponseWriter, r *http.Request, cost int,
) (metered *http.Request, settle func(), err error) {
	m := meter.New(meter.Limits{Cost: s.MaxCost}, float64(cost), nil)
	metered = r.WithContext(meter.With(r.Context(), m))
	line := requestlog.From(r.Context())
	if s.Costs == nil || !s.Costs.On() {
		return metered, func() { line.SetCost(m.Cost()) }, nil
	}
	caller := httpx.Caller(r.Context())
	buckets := s.Costs.Of(caller)
	budget, err := buckets.Spend(caller.Key, cost)
	budget.Write(w.Header())
	return metered, func() {
		line.SetCost(m.Cost())
		buckets.Settle(caller.Key, cost-m.Charge()).Write(w.Header())
	}, err
}

// FailKnown answers with an error before anything is charged for, to a caller who is known: the headers have what is
// left in the bucket.
func (s Surface) FailKnown(w http.ResponseWriter, r *http.Request, err error) {
	if s.Costs != nil && s.Costs.On() {
		caller := httpx.Caller(r.Context())
		s.Costs.Of(caller).Settle(caller.Key, 0).Write(w.Header())
	}
	s.Fail(w, r, err)
}
