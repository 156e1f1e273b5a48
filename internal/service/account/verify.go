package account

import (
	"context"

	"slipway/ent"
	"slipway/ent/token"
	"slipway/internal/base/actor"
	"slipway/internal/data/store"
	"slipway/internal/edge/auth"
)

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

	s.recordUse(t, now)
	v := &auth.Verified{Actor: ActorOf(t)}
	if t.ExpiresAt != nil {
		// The Authenticator compares it with the clock of this server.
		v.ExpiresAt = now.Add(t.ExpiresAt.Sub(shared))
	}

	return v, nil
}

// ActorOf returns who acts by a token.
func ActorOf(t *ent.Token) *actor.Actor {
	a := &actor.Actor{
		ID: t.ID, Name: t.Name, Role: t.Role, PrincipalID: store.PrincipalOf(t), Scope: t.Scope, ExpiresAt: t.ExpiresAt,
	}
	if t.Holder != nil {
		a.Holder = *t.Holder
	}
	if t.OrganizationID != nil {
		a.OrganizationID = *t.OrganizationID
	}
	return a
}
