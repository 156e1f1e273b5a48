package auth

import (
	"context"
	"errors"
	"fmt"

	"slipway/internal/actor"
)

// ask waits for the Verifier's answer, together with whoever else asks for the same token. The question
// goes on when this caller leaves; done is called with its error when it is answered.
func (a *Authenticator) ask(ctx context.Context, hash string, done func(error)) (*actor.Actor, error) {
	type outcome struct {
		said answer
		err  error
	}
	answered := make(chan outcome, 1)
	go func() {
		said, err, _ := a.lookups.Do(hash, func() (any, error) {
			return a.lookUp(context.WithoutCancel(ctx), hash)
		})
		done(err)
		if err != nil {
			answered <- outcome{err: err}
			return
		}
		answered <- outcome{said: said.(answer)}
	}()
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("auth: verify token: %w", context.Cause(ctx))
	case o := <-answered:
		if errors.Is(o.err, ErrUnknownToken) {
			return nil, unknownToken()
		}
		if o.err != nil {
			return nil, fmt.Errorf("auth: verify token: %w", o.err)
		}
		return &o.said.actor, nil
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
	ctx, cancel := context.WithTimeout(ctx, goodFor)
	defer cancel()
	asked := a.now()
	verified, err := a.verifier.VerifyToken(ctx, hash)
	if err == nil && !verified.ExpiresAt.IsZero() && !asked.Before(verified.ExpiresAt) {
		err = ErrUnknownToken
	}
	if errors.Is(err, ErrUnknownToken) {
		a.memory.addUnknown(hash, asked)
	}
	if err != nil {
		return answer{}, err
	}
	said = answer{actor: *verified.Actor, expiresAt: verified.ExpiresAt, asked: asked}
	a.memory.addGood(hash, said)
	return said, nil
}
