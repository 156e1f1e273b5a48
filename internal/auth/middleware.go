package auth

import (
	"net/http"
	"strconv"

	"slipway/internal/actor"
	"slipway/internal/fault"
)

// Middleware attaches the actor of each request to its context. A request whose Authorization header
// bears no valid token goes to fail instead of the next handler, with WWW-Authenticate and RateLimit
// headers set; over the limit of failures with Retry-After. fail writes the status and the body.
func (a *Authenticator) Middleware(fail func(http.ResponseWriter, *http.Request, error)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			who, err := a.AuthenticateRequest(r)
			if err != nil {
				a.explain(w.Header(), r, err)
				fail(w, r, err)
				return
			}
			next.ServeHTTP(w, r.WithContext(actor.With(r.Context(), who)))
		})
	}
}

// explain sets the headers that go with a refusal. That the Verifier failed is not the caller's doing
// and has none.
func (a *Authenticator) explain(h http.Header, r *http.Request, err error) {
	left := a.failures.budget(clientAddress(r), a.now())
	switch {
	case fault.Is(err, fault.RequestUnauthenticated):
		h.Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		left.write(h)
	case fault.Is(err, fault.RequestRateLimited):
		h.Set("Retry-After", strconv.Itoa(left.seconds()))
		left.write(h)
	}
}
