package account

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"slipway/ent"
	"slipway/ent/predicate"
	"slipway/ent/token"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/optional"
	"slipway/internal/base/textrules"
	"slipway/internal/data/journal"
	"slipway/internal/data/page"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
	"slipway/internal/edge/auth"
	"slipway/internal/service/access"
)

// How long a token is valid that is not created on the command line.
const (
	defaultLife = 90 * day
	maxLife     = 366 * day // a year from today, in every year

	day = 24 * time.Hour
)

// NewToken is a token to be created.
type NewToken struct {
	Name string
	Role actor.Role
	// ExpiresAt is when the token expires. If it is nil the token expires after 90 days; one that is created on the
	// command line after ExpiresIn, or never if that is 0.
	ExpiresAt *time.Time
	ExpiresIn time.Duration
	// Scope is where in the organization the token may change something, nil for all of it.
	Scope *actor.Scope
	// Holder is whose the token is, nil if nobody is named.
	Holder *string
}

// principal returns the principal of a token that the actor creates: its holder, else who creates it, else, if no
// token does, itself.
func (in NewToken) principal(a *actor.Actor, tokenID string) string {
	switch {
	case in.Holder != nil:
		return actor.HolderPrincipal(*in.Holder)
	case a.PrincipalID != "":
		return a.PrincipalID
	}
	return tokenID
}

// expiry returns when a token expires that the actor creates at a time, nil for never.
func (in NewToken) expiry(a *actor.Actor, at time.Time) *time.Time {
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

// check returns what is wrong with a token that the actor would create at a time.
func (in NewToken) check(a *actor.Actor, at time.Time) []fault.Violation {
	violations := textrules.Name("/name", in.Name)
	refuse := func(pointer, rule, message string, args ...any) {
		violations = append(violations, fault.Violation{Pointer: pointer, Rule: rule, Message: fmt.Sprintf(message, args...)})
	}
	switch superadmin := in.Role == actor.Superadmin; {
	case superadmin && a.OrganizationID != "":
		refuse("/role", "superadmin", "must be one of an organization's roles where one is named, found %s, whose tokens "+
			"belong to none", in.Role)
	case !superadmin && a.OrganizationID == "":
		refuse("/role", "superadmin", "must be superadmin where no organization is named, found %s", in.Role)
	case superadmin && in.Scope != nil:
		refuse(
			"/role", "scope", "must be one of an organization's roles if a scope is given, found %s",
			in.Role,
		)
	}

	end, latest := in.expiry(a, at), at.Add(maxLife)
	switch {
	case end == nil:
	case in.ExpiresIn < 0:
		refuse("/expiresIn", "min", "must not be negative, found %s", in.ExpiresIn)
	case !end.After(at):
		refuse("/expiresAt", "future", "must be in the future, found %s", end.Format(time.RFC3339Nano))
	case a.Role != actor.System && end.After(latest):
		refuse(
			"/expiresAt", "max", "must be within 366 days, until %s, found %s", latest.Format(time.RFC3339),
			end.Format(time.RFC3339Nano),
		)
	}

	if in.Holder != nil {
		violations = append(violations, textrules.GivenID("/holder", *in.Holder)...)
	}
	return append(violations, checkScope(in.Scope)...)
}

// CreateToken creates a token of the organization that the actor acts in; a superadmin's belongs to none. The secret
// is returned only here. The errors are RequestInvalid, ProjectNotFound, EnvironmentNotFound,
// ModuleDefinitionNotFound, and TokenForbidden if the actor may not give the role or the scope. A token may expire
// later than the one that created it, and is not revoked with it: otherwise nobody could create the token that takes
// the place of theirs.
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
	tokenID, end := s.Journal.NewID(id.Token), in.expiry(a, at)
	err = s.Journal.Write(ctx, "createToken", func(ctx context.Context, tx *ent.Tx, e *journal.Entry) (err error) {
		if err := checkNewScope(ctx, tx, in.Scope); err != nil {
			return err
		}
		e.ObjectID, e.Changes = tokenID, auditedToken{in.Name, in.Role, end, auditedScopeOf(in.Scope), in.Holder}
		create := tx.Token.Create().
			SetID(tokenID).SetCreatedAt(e.At).SetUpdatedAt(e.At).SetCreatedBy(a.Name).
			SetName(in.Name).SetSearchText(textrules.SearchText(in.Name)).SetRole(in.Role).SetNillableExpiresAt(end).
			SetNillableHolder(in.Holder).SetPrincipalID(in.principal(a, tokenID)).
			SetHash(secret.Hash()).SetPrefix(secret.Prefix()).SetLastFour(secret.LastFour())

		if a.ID != "" {
			create.SetCreatedByID(a.ID)
		}
		if a.PrincipalID != "" {
			create.SetMadeByID(a.PrincipalID)
		}
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

// auditedToken is what an audit event has of a token.
type auditedToken struct {
	Name      string        `json:"name"`
	Role      actor.Role    `json:"role"`
	ExpiresAt *time.Time    `json:"expiresAt"`
	Scope     *auditedScope `json:"scope,omitempty"`
	Holder    *string       `json:"holder,omitempty"`
}

// auditedScope is a scope by the names of the API.
type auditedScope struct {
	ProjectIDs     []string `json:"projectIds"`
	EnvironmentIDs []string `json:"environmentIds"`
	// ModuleDefinitionIDs is left out if there are none, as it was before a scope could have some.
	ModuleDefinitionIDs []string `json:"moduleDefinitionIds,omitempty"`
}

func auditedScopeOf(s *actor.Scope) *auditedScope {
	if s == nil {
		return nil
	}
	return &auditedScope{s.Projects, s.Environments, s.ModuleDefinitions}
}

// TokenFilter has conditions on tokens; nil ones do not count.
type TokenFilter struct {
	Role   *actor.Role `json:",omitempty"`
	Holder *string     `json:",omitempty"`
	// Active has those kept that are neither revoked nor expired, or the others.
	Active *bool `json:",omitempty"`
	// Search is a text that the name contains, in any case.
	Search *string `json:",omitempty"`
}

// conditions are those of the filter, but for its search, at a time.
func (f TokenFilter) conditions(at time.Time) []record.Condition {
	list := record.All(slices.Concat(
		record.Given(record.Equal, token.FieldRole, (*string)(f.Role)),
		record.Given(record.Equal, token.FieldHolder, f.Holder),
	))
	if f.Active == nil {
		return list
	}
	active := `"revoked_at" IS NULL AND ("expires_at" IS NULL OR "expires_at" > ?)`
	if !*f.Active {
		active = `NOT (` + active + `)`
	}
	return append(list, record.Where(active, at))
}

// Tokens returns a page of the tokens of the organization that the actor acts in, or of superadmins' tokens if it acts
// in none. The error may be TokenForbidden.
func (s *Service) Tokens(ctx context.Context, f TokenFilter, args page.Args) (*page.TokenConnection, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.ReadTokens, fault.TokenForbidden); err != nil {
		return nil, err
	}
	list, err := s.tokensOf(a).Where(f.conditions(s.Journal.Now())...).Search(ctx, f.Search)
	if err != nil {
		return nil, err
	}
	scope := page.Scope{List: "tokens", Viewer: store.Scope(a)}
	if text := page.FilterText(f); text != "" {
		scope.Filter = text
	}
	return page.Read(ctx, list, args, scope)
}

// Token returns one of the tokens that Tokens returns in pages. The error may be TokenForbidden or TokenNotFound.
func (s *Service) Token(ctx context.Context, tokenID string) (*ent.Token, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.ReadTokens, fault.TokenForbidden); err != nil {
		return nil, err
	}
	return s.tokensOf(a).ByID(ctx, tokenID, fault.TokenNotFound)
}

// ActingTokens returns the tokens of the ids, in no order, for what they tell of those who acted: the organization's,
// and superadmins'.
func (s *Service) ActingTokens(ctx context.Context, ids []string) ([]*ent.Token, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	of := token.OrganizationIDIsNil()
	if a := actor.From(ctx); a.OrganizationID != "" {
		of = token.Or(of, token.OrganizationID(a.OrganizationID))
	}
	return s.Store.Client.Token.Query().Where(token.IDIn(ids...), of).All(ctx)
}

// CheckReadsTokens returns why the actor may not read tokens, nil if it may.
func (s *Service) CheckReadsTokens(ctx context.Context) error {
	return access.Check(actor.From(ctx), access.ReadTokens, fault.TokenForbidden)
}

// IsOwn reports whether a token belongs to where the actor acts, so that Tokens returns it.
func (s *Service) IsOwn(ctx context.Context, t *ent.Token) bool {
	return optional.OrZero(t.OrganizationID) == actor.From(ctx).OrganizationID
}

// TokensByID returns the tokens of the ids that the organization has, in no order. The error is TokenForbidden for
// those who are not admins.
func (s *Service) TokensByID(ctx context.Context, ids []string) ([]*ent.Token, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.ReadTokens, fault.TokenForbidden); err != nil {
		return nil, err
	}
	return s.tokensOf(a).ByIDs(ctx, ids)
}

// AllTokens returns all tokens that Tokens returns in pages, oldest first. It is for the command line.
func (s *Service) AllTokens(ctx context.Context) ([]*ent.Token, error) {
	return s.Store.Client.Token.Query().Where(ownTokens(actor.From(ctx))).
		Order(ent.Asc(token.FieldCreatedAt, token.FieldID)).All(ctx)
}

// RevokeToken revokes a token, which may be the actor's own. This server refuses it at once, and others within five
// seconds, for which they may cache it. To revoke it again changes nothing. The errors are TokenNotFound, and
// TokenForbidden for a token whose scope is not within the actor's.
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

		e.ObjectID, e.Changes = tokenID, auditedToken{t.Name, t.Role, t.ExpiresAt, auditedScopeOf(t.Scope), t.Holder}
		revoked, err = t.Update().SetRevokedAt(e.At).SetUpdatedAt(e.At).SetRevokedBy(a.Name).
			SetNillableRevokedByActor(optional.NonZero(a.ID)).Save(ctx)
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

// tokensOf returns the tokens that belong to where the actor acts.
func (s *Service) tokensOf(a *actor.Actor) record.Query[ent.Token] {
	all := record.Tokens.In(s.Store)
	if a.OrganizationID == "" {
		return all.Where(record.IsNull(token.FieldOrganizationID))
	}
	return all.Where(record.Equal(token.FieldOrganizationID, a.OrganizationID))
}

// ownTokens is the condition that a token belongs to where the actor acts.
func ownTokens(a *actor.Actor) predicate.Token {
	if a.OrganizationID == "" {
		return token.OrganizationIDIsNil()
	}
	return token.OrganizationID(a.OrganizationID)
}
