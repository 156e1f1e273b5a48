package auth

import (
	"context"
	"errors"
	"fmt"

	"slipway/internal/actor"
)

// verify waits for the Verifier's answer, together with all who ask for the same token. The question goes on when
// this caller gives up; done is called with its error when it is answered.
func (a *Authenticator) verify(ctx context.Context, hash string, done func(error)) (*actor.Actor, error) {
	type result struct {
		verdict verdict
		err     error
	}
	answered := make(chan result, 1)
	go func() {
		v, err, _ := a.lookups.Do(hash, func() (any, error) {
			return a.lookUp(context.WithoutCancel(ctx), hash)
		})
		done(err)
		if err != nil {
			answered <- result{err: err}
			return
		}
		answered <- result{verdict: v.(verdict)}
	}()
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("auth: verify token: %w", context.Cause(ctx))
	case r := <-answered:
		if errors.Is(r.err, ErrUnknownToken) {
			return nil, unknownToken()
		}
		if r.err != nil {
			return nil, fmt.Errorf("auth: verify token: %w", r.err)
		}
		return &r.verdict.actor, nil
	}
}

// lookUp asks the Verifier and caches its answer. It runs on a goroutine of its own, where a panic would end the
// process instead of one request, so a panic becomes an error.
func (a *Authenticator) lookUp(ctx context.Context, hash string) (v verdict, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	// Who found the cache stale a moment ago may come here when another has just asked.
	switch v, state := a.cache.get(hash, a.now()); state {
	case good:
		return v, nil
	case unknown:
		return verdict{}, ErrUnknownToken
	case absent, stale:
	}
	ctx, cancel := context.WithTimeout(ctx, goodFor)
	defer cancel()
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
	v = verdict{actor: *verified.Actor, expiresAt: verified.ExpiresAt, asked: asked}
	a.cache.addGood(hash, v)
	return v, nil
}
