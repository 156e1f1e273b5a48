package account

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"slipway/ent"
	"slipway/ent/predicate"
	"slipway/ent/token"
	"slipway/internal/actor"
	"slipway/internal/auth"
	"slipway/internal/fault"
	"slipway/internal/id"
	"slipway/internal/journal"
	"slipway/internal/store"
	"slipway/internal/textrules"
)

// NewToken is a token to be created.
type NewToken struct {
	Name string
	Role actor.Role
	// ExpiresIn is how long the token is good for; 0 is for ever.
	ExpiresIn time.Duration
}

func (in NewToken) check(organizationID string) error {
	violations := textrules.Name("/name", in.Name)
	if !slices.Contains(actor.Roles, in.Role) {
		violations = append(violations, fault.Violation{Pointer: "/role", Rule: "enum", Message: fmt.Sprintf("must be one of %s, found %.40q", roleNames(), in.Role)})
	}
	if in.ExpiresIn < 0 {
		violations = append(violations, fault.Violation{Pointer: "/expiresIn", Rule: "min", Message: fmt.Sprintf("must not be negative, found %s", in.ExpiresIn)})
	}
	if (in.Role == actor.Superadmin) != (organizationID == "") {
		violations = append(violations, fault.Violation{Pointer: "/organization", Rule: "superadmin", Message: "must be named for every role but superadmin, which takes none"})
	}
	if len(violations) > 0 {
		return fault.Invalid(fault.RequestInvalid, violations...)
	}
	return nil
}

func roleNames() string {
	names := make([]string, len(actor.Roles))
	for i, r := range actor.Roles {
		names[i] = string(r)
	}
	return strings.Join(names, ", ")
}

// CreateToken makes a token of the organization that the actor acts in, of none for superadmins. The
// secret is told this once. For the command line.
func (s *Service) CreateToken(ctx context.Context, in NewToken) (*ent.Token, auth.Secret, error) {
	a := actor.From(ctx)
	if err := in.check(a.OrganizationID); err != nil {
		return nil, auth.Secret{}, err
	}
	secret, err := auth.Generate(in.Role, rand.Reader)
	if err != nil {
		return nil, auth.Secret{}, err
	}
	var created *ent.Token
	tokenID := s.Journal.NewID(id.Token)
	err = s.Journal.Write(ctx, "createToken", func(ctx context.Context, tx *ent.Tx, e *journal.Entry) (err error) {
		e.ObjectID, e.Changes = tokenID, map[string]any{"name": in.Name, "role": in.Role}
		create := tx.Token.Create().
			SetID(tokenID).SetCreatedAt(e.At).SetUpdatedAt(e.At).
			SetName(in.Name).SetRole(string(in.Role)).
			SetHash(secret.Hash()).SetPrefix(secret.Prefix()).SetLastFour(secret.LastFour())
		if a.OrganizationID != "" {
			create.SetOrganizationID(a.OrganizationID)
		}
		if in.ExpiresIn > 0 {
			create.SetExpiresAt(e.Shared.Add(in.ExpiresIn).Truncate(time.Microsecond))
		}
		created, err = create.Save(ctx)
		return err
	})
	return created, secret, err
}

// Tokens lists the tokens of the organization that the actor acts in, oldest first; those of no
// organization where it acts in none. For the command line.
func (s *Service) Tokens(ctx context.Context) ([]*ent.Token, error) {
	return s.Store.Client.Token.Query().Where(ownTokens(actor.From(ctx))).
		Order(ent.Asc(token.FieldCreatedAt, token.FieldID)).All(ctx)
}

// RevokeToken revokes a token: it is refused everywhere within the five seconds that an answer of the cache is good for. It gives TokenNotFound.
// For the command line.
func (s *Service) RevokeToken(ctx context.Context, tokenID string) (*ent.Token, error) {
	if err := store.Known(id.Token, tokenID, fault.TokenNotFound); err != nil {
		return nil, err
	}
	var revoked *ent.Token
	err := s.Journal.Write(ctx, "revokeToken", func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
		t, err := tx.Token.Query().Where(token.ID(tokenID), ownTokens(actor.From(ctx))).Only(ctx)
		if revoked, err = store.Found(t, err, tokenID, fault.TokenNotFound); err != nil {
			return err
		}
		if t.RevokedAt != nil {
			e.Silent = true
			return nil
		}
		e.ObjectID = tokenID
		revoked, err = t.Update().SetRevokedAt(e.At).SetUpdatedAt(e.At).Save(ctx)
		return err
	})
	return revoked, err
}

func ownTokens(a *actor.Actor) predicate.Token {
	if a.OrganizationID == "" {
		return token.OrganizationIDIsNil()
	}
	return token.OrganizationID(a.OrganizationID)
}
