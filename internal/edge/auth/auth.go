// Package auth finds out who sends a request: it defines the form of tokens, verifies them and attaches the actor
// to the request's context. What the actor may do is decided by package access.
package auth

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"golang.org/x/sync/singleflight"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/edge/httpx"
)

// DefaultMaxFailures is how many authentications of one address may fail within a minute before its
// tokens are looked up one at a time.
const DefaultMaxFailures = 20

// ErrUnknownToken is a Verifier's error for a token that does not exist, has expired or is revoked.
var ErrUnknownToken = errors.New("auth: unknown token")

// Verifier looks tokens up.
type Verifier interface {
	// VerifyToken returns the holder of the token whose SHA-256, in lower-case hexadecimal, is hash. The error
	// is, or wraps, ErrUnknownToken if there is no such token or it is not valid; any other error means that
	// the question could not be answered. The context ends after five seconds at the latest.
	VerifyToken(ctx context.Context, hash string) (*Verified, error)
}

// Verified is the holder of a valid token.
type Verified struct {
	Actor *actor.Actor
	// ExpiresAt is when the token expires, by the clock of the Authenticator; zero if it does not.
	ExpiresAt time.Time
}

// Authenticator finds the actor of a request. It caches what its Verifier answers, for at most five seconds for a
// valid token and ten for an unknown one, and asks once for all requests that come with one token at the same
// time.
//
// A token has 256 random bits and cannot be guessed, so only the look-ups need protection. An address may have as
// many look-ups of tokens that were not valid before in progress as it has failures left within the minute, and
// always one; more wait in the address's queue. So a valid token is never refused for the failures of another
// address, and for those of its own only if the queue is full.
type Authenticator struct {
	verifier Verifier
	now      func() time.Time
	lookups  singleflight.Group
	cache    *tokenCache
	limiter  *limiter
}

// New returns an Authenticator that asks a Verifier; now is its clock. A maxFailures of 0 stands for
// DefaultMaxFailures.
func New(verifier Verifier, now func() time.Time, maxFailures int) *Authenticator {
	return &Authenticator{
		verifier: verifier,
		now:      now,
		cache:    newTokenCache(),
		limiter:  newLimiter(cmp.Or(maxFailures, DefaultMaxFailures), now),
	}
}

// Authenticate returns the actor whose token the request's Authorization header bears, Anonymous where
// there is no such header. The error is fault's RequestUnauthenticated for a header that bears no valid token,
// which counts as a failure of the client's address (see httpx.Client), and RequestRateLimited if the address's
// queue is full; any other error means that the token could not be verified, and does not count.
func (a *Authenticator) Authenticate(r *http.Request) (*actor.Actor, error) {
	address := httpx.ClientNetwork(r.Context())
	secret, found, err := bearer(r.Header)
	if err != nil {
		a.limiter.countFailure(address)
		return nil, err
	}

	if !found {
		return actor.Anonymous(), nil
	}

	hash := secret.Hash()
	by, state, err := a.cached(hash)
	switch {
	case err != nil:
		a.limiter.countFailure(address)
		return nil, err
	case by != nil:
		return by, nil
	case state == stale: // it was valid here before, so it need not wait behind tokens that were not
		return a.verify(r.Context(), hash, func(err error) { a.limiter.countResult(address, err) })
	}
	return a.verifyInTurn(r.Context(), hash)
}

// cached returns the actor of a token that the cache has, or the error of one that it knows to be unknown; neither if
// the Verifier has to be asked.
func (a *Authenticator) cached(hash string) (*actor.Actor, cacheState, error) {
	v, s := a.cache.get(hash, a.now())
	switch s {
	case good:
		return &v.actor, s, nil
	case unknown:
		return nil, s, unknownToken()
	case absent, stale:
	}
	return nil, s, nil
}

// verifyInTurn verifies a token when it is the address's turn.
func (a *Authenticator) verifyInTurn(ctx context.Context, hash string) (*actor.Actor, error) {
	address := httpx.ClientNetwork(ctx)
	release, err := a.limiter.acquire(ctx, address)
	if err != nil {
		return nil, err
	}

	done := func(err error) {
		a.limiter.countResult(address, err)
		release()
	}

	// An earlier look-up of the queue may have been of the same token.
	by, _, err := a.cached(hash)
	switch {
	case err != nil:
		done(ErrUnknownToken)
		return nil, err
	case by != nil:
		done(nil)
		return by, nil
	}
	return a.verify(ctx, hash, done)
}

// Recheck does what Authenticate does, for a stream that is already open. It does not count failures and does not
// wait in the queue.
func (a *Authenticator) Recheck(r *http.Request) (*actor.Actor, error) {
	secret, found, err := bearer(r.Header)
	if err != nil {
		return nil, err
	}
	if !found {
		return actor.Anonymous(), nil
	}

	hash := secret.Hash()
	if by, _, err := a.cached(hash); by != nil || err != nil {
		return by, err
	}
	return a.verify(r.Context(), hash, func(error) {})
}

// Forget makes Authenticate refuse a token, which was revoked, from now on, whatever is cached of it and whatever
// the Verifier answers to a question that was asked before.
func (a *Authenticator) Forget(hash string) { a.cache.addUnknown(hash, a.now()) }

func unknownToken() error {
	return fault.New(fault.RequestUnauthenticated, "The bearer token is unknown, expired or revoked.")
}
