// Package auth says who sends a request: it has the form of tokens, verifies them and attaches the
// actor to the request's context. What the actor may do is not decided here.
package auth

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"slipway/internal/actor"
	"slipway/internal/fault"
)

const (
	// maxAge is how long an answer of the Verifier is used, counted from the question: the longest
	// time for which a token still works after it was revoked.
	maxAge    = 5 * time.Second
	maxTokens = 10_000
)

// ErrUnknownToken is a Verifier's answer for a token that does not exist, has expired or is revoked.
var ErrUnknownToken = errors.New("auth: unknown token")

// Verifier looks tokens up.
type Verifier interface {
	// VerifyToken gives the holder of the token whose SHA-256, in lower-case hexadecimal, is hash. The
	// error is, or wraps, ErrUnknownToken where no such token is valid; any other error says that the
	// question could not be answered. The context ends after five seconds at the latest.
	VerifyToken(ctx context.Context, hash string) (*Verified, error)
}

// Verified is the holder of a valid token.
type Verified struct {
	Actor *actor.Actor
	// ExpiresAt is when the token ends, zero for never.
	ExpiresAt time.Time
}

// Authenticator finds the actor of a request. It remembers verified tokens for at most five seconds
// and asks its Verifier once for requests that come with one token at the same time. Refusals are not
// remembered, so that a new token works at once; the limit of failures keeps them few.
type Authenticator struct {
	verifier Verifier
	now      func() time.Time
	lookups  singleflight.Group
	failures *limiter

	mu    sync.RWMutex
	known *recent[string, answer]
}

// New makes an Authenticator on a Verifier; now is the clock.
func New(verifier Verifier, now func() time.Time) *Authenticator {
	return &Authenticator{
		verifier: verifier,
		now:      now,
		failures: newLimiter(),
		known:    newRecent[string, answer](maxTokens),
	}
}

// Authenticate gives the actor whose token the Authorization header bears, Anonymous where there is no
// such header. It does not limit failures: AuthenticateRequest does. The error is fault's
// RequestUnauthenticated for a header that bears no valid token; any other error says that the token
// could not be verified.
func (a *Authenticator) Authenticate(ctx context.Context, header http.Header) (*actor.Actor, error) {
	secret, found, err := bearer(header)
	if err != nil {
		return nil, err
	}
	if !found {
		return actor.Anonymous(), nil
	}
	return a.identify(ctx, secret.Hash())
}

// AuthenticateRequest is Authenticate with the limit of 20 failures a minute and client address, the
// request's RemoteAddr; a server behind a proxy has to put the client's address there before. Over the
// limit, every token but those that were good here before is refused with RequestRateLimited, before
// the Verifier is asked. Anonymous requests and failures of the Verifier do not count.
func (a *Authenticator) AuthenticateRequest(r *http.Request) (*actor.Actor, error) {
	address := clientAddress(r)
	if err := a.admit(r.Header, address); err != nil {
		return nil, err
	}
	who, err := a.Authenticate(r.Context(), r.Header)
	if fault.Is(err, fault.RequestUnauthenticated) {
		a.failures.fail(address, a.now())
	}
	return who, err
}

// admit refuses what is over the address's limit.
func (a *Authenticator) admit(header http.Header, address netip.Prefix) error {
	refusal := a.failures.budget(address, a.now()).err()
	if refusal == nil {
		return nil
	}
	secret, found, err := bearer(header)
	if err != nil {
		return refusal
	}
	if _, known := a.recall(secret.Hash()); known || !found {
		return nil
	}
	return refusal
}
