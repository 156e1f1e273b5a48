package auth

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/singleflight"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
)

// verify waits for the Verifier's answer; done is called with its error when it is there.
func (a *Authenticator) verify(ctx context.Context, hash string, done func(error)) (*actor.Actor, error) {
	v, err := ask(ctx, &a.lookups, hash, a.lookUp, done)
	switch {
	case errors.Is(err, ErrUnknownToken):
		return nil, unknownToken()
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fault.New(fault.ServerUnavailable, "The bearer token could not be verified in time.").WithCause(err)
	case err != nil:
		return nil, fmt.Errorf("auth: verify token: %w", err)
	default:
		return &v.actor, nil
	}
}

// ask looks something up together with all who ask for the same. The look-up goes on when this caller gives up; done is
// called with its error when it has ended. It has five seconds.
func ask[T any](
	ctx context.Context, lookups *singleflight.Group, key string,
	lookUp func(context.Context, string) (T, error), done func(error),
) (answer T, err error) {
	type result struct {
		answer T
		err    error
	}

	answered := make(chan result, 1)
	go func() {
		answer, err, _ := lookups.Do(key, func() (_ any, err error) {
			// On this goroutine a panic would end the process instead of one request.
			defer func() {
				if p := recover(); p != nil {
					err = fmt.Errorf("panic: %v", p)
				}
			}()
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodFor)
			defer cancel()
			return lookUp(ctx, key)
		})

		done(err)
		r := result{err: err}
		r.answer, _ = answer.(T)
		answered <- r
	}()

	select {
	case <-ctx.Done():
		return answer, context.Cause(ctx)
	case r := <-answered:
		return r.answer, r.err
	}
}

// lookUp asks the Verifier and caches its answer.
func (a *Authenticator) lookUp(ctx context.Context, hash string) (verdict, error) {
	// Who found the cache stale a moment ago may come here when another has just asked.
	switch v, state := a.cache.get(hash, a.now()); state {
	case good:
		return v, nil
	case unknown:
		return verdict{}, ErrUnknownToken
	case absent, stale:
	}

	asked := a.now()
	verified, err := a.verifier.VerifyToken(ctx, hash)
	if err == nil && !verified.ExpiresAt.IsZero() && !asked.Before(verified.ExpiresAt) {
		err = ErrUnknownToken
	}

	if errors.Is(err, ErrUnknownToken) {
		a.cache.addUnknown(hash, asked)
	}
	if err != nil {
		return verdict{}, err
	}

	v := verdict{actor: *verified.Actor, expiresAt: verified.ExpiresAt, asked: asked}
	a.cache.addGood(hash, v)
	return v, nil
}
