package auth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"slipway/internal/actor"
	"slipway/internal/fault"
)

// answer is what the Verifier said when it was asked. An old one is not believed any more, but still
// tells that the token was good here before.
type answer struct {
	actor     actor.Actor
	expiresAt time.Time
	asked     time.Time
}

// identify gives the actor of a token, out of memory where the last answer is young enough.
func (a *Authenticator) identify(ctx context.Context, hash string) (*actor.Actor, error) {
	said, known := a.recall(hash)
	if !known || a.now().Sub(said.asked) >= maxAge {
		var err error
		if said, err = a.ask(ctx, hash); err != nil {
			return nil, err
		}
	}
	if !said.expiresAt.IsZero() && !a.now().Before(said.expiresAt) {
		return nil, unknownToken()
	}
	return &said.actor, nil
}

// ask waits for the Verifier's answer, together with whoever else asks for the same token. The
// question goes on when this caller leaves.
func (a *Authenticator) ask(ctx context.Context, hash string) (answer, error) {
	outcome := a.lookups.DoChan(hash, func() (any, error) {
		return a.lookUp(context.WithoutCancel(ctx), hash)
	})
	select {
	case <-ctx.Done():
		return answer{}, fmt.Errorf("auth: verify token: %w", context.Cause(ctx))
	case result := <-outcome:
		if errors.Is(result.Err, ErrUnknownToken) {
			return answer{}, unknownToken()
		}
		if result.Err != nil {
			return answer{}, fmt.Errorf("auth: verify token: %w", result.Err)
		}
		return result.Val.(answer), nil
	}
}

// lookUp asks the Verifier and remembers what it says. It runs on a goroutine of its own, where a
// panic would end the process instead of one request: it becomes an error.
func (a *Authenticator) lookUp(ctx context.Context, hash string) (said answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, maxAge)
	defer cancel()
	asked := a.now()
	verified, err := a.verifier.VerifyToken(ctx, hash)
	if errors.Is(err, ErrUnknownToken) {
		a.forget(hash)
	}
	if err != nil {
		return answer{}, err
	}
	said = answer{actor: *verified.Actor, expiresAt: verified.ExpiresAt, asked: asked}
	a.remember(hash, said)
	return said, nil
}

func (a *Authenticator) recall(hash string) (answer, bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.known.get(hash)
}

func (a *Authenticator) remember(hash string, said answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known.put(hash, said)
}

func (a *Authenticator) forget(hash string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known.drop(hash)
}

func unknownToken() error {
	return fault.New(fault.RequestUnauthenticated, "The bearer token is unknown, expired or revoked.")
}
