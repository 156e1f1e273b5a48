package auth

import (
	"net/http"
	"strconv"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/edge/httpx"
)

// Middleware attaches the actor of each request, who comes in by a channel, to its context. A request whose
// Authorization header bears no valid token goes to fail instead of the next handler, with WWW-Authenticate and
// RateLimit headers set; if its address's queue is full, with Retry-After. fail writes the status and the body.
func (a *Authenticator) Middleware(
	c actor.Channel, fail func(http.ResponseWriter, *http.Request, error),
) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			who, err := a.Authenticate(r)
			if err != nil {
				a.setHeaders(w.Header(), r, err)
				fail(w, r, err)
				return
			}
			next.ServeHTTP(w, r.WithContext(actor.With(r.Context(), who.Via(c))))
		})
	}
}

// setHeaders sets the headers that belong to an error of Authenticate. The failure of the Verifier has none: it
// is not the caller's.
func (a *Authenticator) setHeaders(h http.Header, r *http.Request, err error) {
	switch {
	case fault.Is(err, fault.RequestUnauthenticated):
		h.Set("WWW-Authenticate", `Bearer error="invalid_token"`)
	case fault.Is(err, fault.RequestRateLimited):
		h.Set("Retry-After", strconv.Itoa(retryAfter))
	default:
		return
	}
	a.limiter.setHeaders(h, httpx.ClientNetwork(r.Context()))
}
