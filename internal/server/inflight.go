package server

import (
	"net/http"
	"time"

	"slipway/internal/httpx"
	"slipway/internal/quota"
)

// requestsInFlight bounds what each caller may have in flight. What is more than that waits for a second,
// which evens out a burst.
func requestsInFlight(most int) *quota.Gate {
	return quota.New(quota.Limit{
		Name: "requestsPerCaller", Flag: "--max-requests-per-caller", Of: "requests in flight",
		Max: most, Wait: time.Second, Queue: 4 * most,
	})
}

// inFlight bounds the requests of REST, once their caller is known. GraphQL bounds its own, which may come
// over sockets.
func inFlight(requests *quota.Gate, f fail) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			leave, err := requests.Enter(r.Context(), httpx.Caller(r.Context()).Key)
			if err != nil {
				f(w, r, err)
				return
			}
			defer leave()
			next.ServeHTTP(w, r)
		})
	}
}
