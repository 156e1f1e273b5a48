// Package auth says who sends a request: it has the form of tokens, verifies them and attaches the
// actor to the request's context. What the actor may do is not decided here.
package auth

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"golang.org/x/sync/singleflight"

	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/httpx"
)

// DefaultMaxFailures is how many authentications of one address may fail within a minute before its
// tokens are looked up one at a time.
const DefaultMaxFailures = 20

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
	// ExpiresAt is when the token ends by the clock of the Authenticator, zero for never.
	ExpiresAt time.Time
}

// Authenticator finds the actor of a request. It remembers what its Verifier said, for at most five
// seconds of a good token and ten of an unknown one, and asks once for requests that come with one token
// at the same time.
//
// A token has 256 random bits and cannot be guessed, so that all there is to guard is the look-up. An
// address may have as many look-ups of tokens that were not good before under way as it has failures left
// within the minute, and always one; more wait in the address's lane. So a good token is never refused for
// the failures of another address, and for those of its own only where the lane is full.
type Authenticator struct {
	verifier Verifier
	now      func() time.Time
	lookups  singleflight.Group
	memory   *memory
	limiter  *limiter
}

// New makes an Authenticator on a Verifier; now is the clock, and a maxFailures of 0 stands for
// DefaultMaxFailures.
func New(verifier Verifier, now func() time.Time, maxFailures int) *Authenticator {
	return &Authenticator{
		verifier: verifier,
		now:      now,
		memory:   newMemory(),
		limiter:  newLimiter(cmp.Or(maxFailures, DefaultMaxFailures), now),
	}
}

// Authenticate returns the actor whose token the request's Authorization header bears, Anonymous where
// there is no such header. The error is fault's RequestUnauthenticated for a header that bears no valid
// token, which counts as a failure of the client's address (see httpx.Client), and RequestRateLimited where
// the address's lane is full; any other error says that the token could not be verified, and does not count.
func (a *Authenticator) Authenticate(r *http.Request) (*actor.Actor, error) {
	address := httpx.ClientNetwork(r.Context())
	secret, found, err := bearer(r.Header)
	if err != nil {
		a.limiter.fail(address)
		return nil, err
	}
	if !found {
		return actor.Anonymous(), nil
	}
	hash := secret.Hash()
	switch said, seen := a.memory.recall(hash, a.now()); seen {
	case good:
		return &said.actor, nil
	case unknown:
		a.limiter.fail(address)
		return nil, unknownToken()
	case stale: // it was good here before, so that it does not wait behind those that were not
		return a.ask(r.Context(), hash, func(err error) { a.limiter.settle(address, err) })
	case never:
	}
	return a.askInLane(r.Context(), hash)
}

// askInLane asks for a token when it is the address's turn.
func (a *Authenticator) askInLane(ctx context.Context, hash string) (*actor.Actor, error) {
	address := httpx.ClientNetwork(ctx)
	if err := a.limiter.enter(ctx, address); err != nil {
		return nil, err
	}
	done := func(err error) {
		a.limiter.settle(address, err)
		a.limiter.leave(address)
	}
	// Whoever was before in the lane may have come with the same token.
	switch said, seen := a.memory.recall(hash, a.now()); seen {
	case good:
		done(nil)
		return &said.actor, nil
	case unknown:
		done(ErrUnknownToken)
		return nil, unknownToken()
	case never, stale:
	}
	return a.ask(ctx, hash, done)
}

// Recheck is Authenticate for a stream that is open already. It neither counts as an attempt nor waits.
func (a *Authenticator) Recheck(r *http.Request) (*actor.Actor, error) {
	secret, found, err := bearer(r.Header)
	if err != nil {
		return nil, err
	}
	if !found {
		return actor.Anonymous(), nil
	}
	hash := secret.Hash()
	switch said, seen := a.memory.recall(hash, a.now()); seen {
	case good:
		return &said.actor, nil
	case unknown:
		return nil, unknownToken()
	case never, stale:
	}
	return a.ask(r.Context(), hash, func(error) {})
}

// Forget has the token of a hash, which was revoked, refused from now on, whatever is remembered of it and whatever
// the Verifier is about to say that was asked before.
func (a *Authenticator) Forget(hash string) { a.memory.addUnknown(hash, a.now()) }

func unknownToken() error {
	return fault.New(fault.RequestUnauthenticated, "The bearer token is unknown, expired or revoked.")
}
