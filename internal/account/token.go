package account

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"slipway/ent"
	"slipway/ent/predicate"
	"slipway/ent/token"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/auth"
	"slipway/internal/fault"
	"slipway/internal/id"
	"slipway/internal/journal"
	"slipway/internal/page"
	"slipway/internal/store"
	"slipway/internal/textrules"
)

// How long a token is good for that is not made on the command line.
const (
	defaultLife = 90 * day
	maxLife     = 366 * day

	day = 24 * time.Hour
)

// NewToken is a token to be created.
type NewToken struct {
	Name string
	Role actor.Role
	// ExpiresAt is when it ends. Where it is nil it ends after 90 days, and one that is made on the command line
	// after ExpiresIn, or never where that is 0.
	ExpiresAt *time.Time
	ExpiresIn time.Duration
	// Scope is where in the organization it may change something, nil for all of it.
	Scope *actor.Scope
}

// end returns when a token ends that somebody makes at a time, nil for never.
func (in NewToken) end(a *actor.Actor, at time.Time) *time.Time {
	end := at.Add(defaultLife)
	switch {
	case in.ExpiresAt != nil:
		end = *in.ExpiresAt
	case in.ExpiresIn != 0:
		end = at.Add(in.ExpiresIn)
	case a.Role == actor.System:
		return nil
	}
	return new(end.UTC().Truncate(time.Microsecond))
}

// check returns what is wrong with a token that somebody would make at a time.
func (in NewToken) check(a *actor.Actor, at time.Time) []fault.Violation {
	violations := textrules.Name("/name", in.Name)
	refuse := func(pointer, rule, message string, args ...any) {
		violations = append(violations, fault.Violation{Pointer: pointer, Rule: rule, Message: fmt.Sprintf(message, args...)})
	}
	switch superadmin := in.Role == actor.Superadmin; {
	case superadmin && a.OrganizationID != "":
		refuse("/role", "superadmin", "must be one of an organization's roles where one is named, found %s, whose tokens belong to none", in.Role)
	case !superadmin && a.OrganizationID == "":
		refuse("/role", "superadmin", "must be superadmin where no organization is named, found %s", in.Role)
	case superadmin && in.Scope != nil:
		refuse("/role", "scope", "must be one of an organization's roles where projects or environments are given, found %s", in.Role)
	}
	end, latest := in.end(a, at), at.Add(maxLife)
	switch {
	case end == nil:
	case in.ExpiresIn < 0:
		refuse("/expiresIn", "min", "must not be negative, found %s", in.ExpiresIn)
	case !end.After(at):
		refuse("/expiresAt", "future", "must be in the future, found %s", end.Format(time.RFC3339Nano))
	case a.Role != actor.System && end.After(latest):
		refuse("/expiresAt", "max", "must be within 366 days, until %s, found %s", latest.Format(time.RFC3339), end.Format(time.RFC3339Nano))
	}
	return append(violations, checkScope(in.Scope)...)
}

// CreateToken makes a token of the organization that the actor acts in, of none for superadmins. The secret is told
// this once. It gives RequestInvalid, ProjectNotFound and EnvironmentNotFound, and TokenForbidden where the token
// would have a role or a scope that the actor has not.
func (s *Service) CreateToken(ctx context.Context, in NewToken) (*ent.Token, auth.Secret, error) {
	a := actor.From(ctx)
	if err := access.CheckRole(a, access.ManageTokens, fault.TokenForbidden); err != nil {
		return nil, auth.Secret{}, err
	}
	if err := access.CheckGiven(a, in.Role, fault.TokenForbidden); err != nil {
		return nil, auth.Secret{}, err
	}
	at, err := s.Journal.Clock(ctx)
	if err != nil {
		return nil, auth.Secret{}, err
	}
	if violations := in.check(a, at); len(violations) > 0 {
		return nil, auth.Secret{}, fault.Invalid(fault.RequestInvalid, violations...)
	}
	secret, err := auth.Generate(in.Role, rand.Reader)
	if err != nil {
		return nil, auth.Secret{}, err
	}
	var created *ent.Token
	tokenID, end := s.Journal.NewID(id.Token), in.end(a, at)
	err = s.Journal.Write(ctx, "createToken", func(ctx context.Context, tx *ent.Tx, e *journal.Entry) (err error) {
		if err := checkGivenScope(ctx, tx, in.Scope); err != nil {
			return err
		}
		e.ObjectID, e.Changes = tokenID, noted{in.Name, in.Role, end, in.Scope}
		create := tx.Token.Create().
			SetID(tokenID).SetCreatedAt(e.At).SetUpdatedAt(e.At).SetCreatedBy(a.Name).
			SetName(in.Name).SetRole(in.Role).SetNillableExpiresAt(end).
			SetHash(secret.Hash()).SetPrefix(secret.Prefix()).SetLastFour(secret.LastFour())
		if a.OrganizationID != "" {
			create.SetOrganizationID(a.OrganizationID)
		}
		if in.Scope != nil {
			create.SetScope(in.Scope)
		}
		created, err = create.Save(ctx)
		return err
	})
	return created, secret, err
}

// noted is what the audit keeps of a token.
type noted struct {
	Name      string       `json:"name"`
	Role      actor.Role   `json:"role"`
	ExpiresAt *time.Time   `json:"expiresAt"`
	Scope     *actor.Scope `json:"scope,omitempty"`
}

// Tokens gives a page of the tokens of the organization that the actor acts in, of those of no organization where it
// acts in none. It gives TokenForbidden.
func (s *Service) Tokens(ctx context.Context, args page.Args) (*page.TokenConnection, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.ReadTokens, fault.TokenForbidden); err != nil {
		return nil, err
	}
	q := s.Store.Client.Token.Query().Where(ownTokens(a))
	return page.Read(ctx, q, args, page.Scope{List: "tokens", Viewer: store.Scope(a)}, tokenKey)
}

func tokenKey(t *ent.Token) (time.Time, string) { return t.CreatedAt, t.ID }

// TokensByID gives the tokens of the ids that there are in the organization, in no order; TokenForbidden to others than
// admins.
func (s *Service) TokensByID(ctx context.Context, ids []string) ([]*ent.Token, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.ReadTokens, fault.TokenForbidden); err != nil {
		return nil, err
	}
	return s.Store.Client.Token.Query().Where(token.IDIn(ids...), ownTokens(a)).All(ctx)
}

// AllTokens lists the tokens that Tokens gives in pages, oldest first. For the command line.
func (s *Service) AllTokens(ctx context.Context) ([]*ent.Token, error) {
	return s.Store.Client.Token.Query().Where(ownTokens(actor.From(ctx))).
		Order(ent.Asc(token.FieldCreatedAt, token.FieldID)).All(ctx)
}

// RevokeToken revokes a token, which may be the actor's own: it is refused here at once, and everywhere within the five
// seconds that another server's memory of it is good for. To revoke it again changes nothing. It gives TokenNotFound,
// and TokenForbidden for one whose scope is not within the actor's.
func (s *Service) RevokeToken(ctx context.Context, tokenID string) (*ent.Token, error) {
	a := actor.From(ctx)
	if err := access.CheckRole(a, access.ManageTokens, fault.TokenForbidden); err != nil {
		return nil, err
	}
	if err := store.CheckID(id.Token, tokenID, fault.TokenNotFound); err != nil {
		return nil, err
	}
	var revoked *ent.Token
	err := s.Journal.Write(ctx, "revokeToken", func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
		t, err := tx.Token.Query().Where(token.ID(tokenID), ownTokens(a)).Only(ctx)
		if revoked, err = store.NotFoundAs(t, err, tokenID, fault.TokenNotFound); err != nil {
			return err
		}
		if err := checkStoredScope(ctx, tx, t.Scope); err != nil {
			return err
		}
		if t.RevokedAt != nil {
			e.SkipAudit = true
			return nil
		}
		e.ObjectID, e.Changes = tokenID, noted{t.Name, t.Role, t.ExpiresAt, t.Scope}
		revoked, err = t.Update().SetRevokedAt(e.At).SetUpdatedAt(e.At).Save(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	if s.Revoked != nil {
		s.Revoked(revoked.Hash)
	}
	return revoked, nil
}

func ownTokens(a *actor.Actor) predicate.Token {
	if a.OrganizationID == "" {
		return token.OrganizationIDIsNil()
	}
	return token.OrganizationID(a.OrganizationID)
}
