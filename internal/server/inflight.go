package server

import (
	"cmp"
	"net/http"
	"runtime"
	"time"

	"slipway/internal/base/turns"
	"slipway/internal/edge/httpx"
)

// requestsInFlight bounds what each caller may have in flight. What is more than that waits for a second,
// which evens out a burst.
func requestsInFlight(most int) *turns.Gate {
	return turns.NewGate(turns.Limit{
		Name: "requestsPerCaller", Flag: "--max-requests-per-caller", Of: "requests in flight",
		Max: most, Wait: time.Second, Queue: 4 * most,
	})
}

// operationsPerProcessor is how many operations are worth executing at once for each processor: some of them wait for
// the database, the others would only hold memory while they wait for a processor.
const operationsPerProcessor = 8

// operationsAtOnce bounds what is executed at once, whoever asks. What is more than that waits, and
// has then the rest of the time that a request may take.
func operationsAtOnce(most int, wait time.Duration) *turns.Turns {
	return turns.New(turns.Limit{
		Name: "operations", Flag: "--max-operations", Of: "operations",
		Max: cmp.Or(most, operationsPerProcessor*runtime.GOMAXPROCS(0)), Wait: wait,
	})
}

// inFlight bounds the requests of REST, once their caller is known. GraphQL bounds its own, which may come
// over sockets.
func inFlight(requests *turns.Gate, f fail) func(http.Handler) http.Handler {
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
