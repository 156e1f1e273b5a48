package account

import (
	"context"
	"errors"
	"time"

	"slipway/ent"
	"slipway/ent/token"
	"slipway/internal/actor"
	"slipway/internal/auth"
	"slipway/internal/fault"
	"slipway/internal/store"
)

// useInterval is how often the use of a token is stored.
const useInterval = time.Minute

// VerifyToken returns the actor of a token by the hash of its text, or auth.ErrUnknownToken for one that is unknown,
// expired or revoked. It implements auth.Verifier.
func (s *Service) VerifyToken(ctx context.Context, hash string) (*auth.Verified, error) {
	system := actor.With(ctx, &actor.Actor{Name: "system", Role: actor.System})
	now := s.Now()
	q := s.Store.Client.Token.Query().Where(token.Hash(hash))
	q.Modify(store.SelectClock)
	t, err := q.Only(system)
	if ent.IsNotFound(err) {
		return nil, auth.ErrUnknownToken
	}
	if err != nil {
		return nil, err
	}
	shared := s.Journal.Shared(store.ReadClock(t))
	if t.RevokedAt != nil || t.ExpiresAt != nil && !shared.Before(*t.ExpiresAt) {
		return nil, auth.ErrUnknownToken
	}
	s.recordUse(system, t, now)
	v := &auth.Verified{Actor: &actor.Actor{ID: t.ID, Name: t.Name, Role: t.Role, Scope: t.Scope, ExpiresAt: t.ExpiresAt}}
	if t.OrganizationID != nil {
		v.Actor.OrganizationID = *t.OrganizationID
	}
	if t.ExpiresAt != nil {
		// The Authenticator compares it with the clock of this server.
		v.ExpiresAt = now.Add(t.ExpiresAt.Sub(shared))
	}
	return v, nil
}

// recordUse stores that the token was used, for people who look for tokens that nobody needs. If that fails, the request
// continues, and requests of the next minute do not try again.
func (s *Service) recordUse(ctx context.Context, t *ent.Token, now time.Time) {
	if t.LastUsedAt != nil && now.Sub(*t.LastUsedAt) < useInterval || now.UnixNano()-s.useFailedAt.Load() < int64(useInterval) {
		return
	}
	committed := func(context.Context, *ent.Client) (bool, error) { return false, nil } // repeating it does no harm
	err := s.Store.Tx(ctx, committed, func(ctx context.Context, tx *ent.Tx) error {
		return tx.Token.UpdateOneID(t.ID).SetLastUsedAt(now).Exec(ctx)
	})
	if err == nil || errors.Is(err, context.Canceled) {
		return
	}
	s.useFailedAt.Store(now.UnixNano())
	if fault.IsFailure(err) {
		s.Log.WarnContext(ctx, "cannot store that a token was used", "token", t.ID, "error", err)
	}
}
