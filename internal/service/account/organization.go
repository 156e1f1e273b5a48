package account

import (
	"context"
	"fmt"
	"strings"

	"slipway/ent"
	"slipway/ent/organization"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/textrules"
	"slipway/internal/data/journal"
	"slipway/internal/data/page"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
	"slipway/internal/edge/auth"
	"slipway/internal/service/access"
)

// Organization returns the organization that the actor acts in, nil if it acts in none.
func (s *Service) Organization(ctx context.Context) (*ent.Organization, error) {
	a := actor.From(ctx)
	if a.OrganizationID == "" {
		return nil, nil
	}
	return s.OrganizationByID(ctx, a.OrganizationID)
}

// Membership is an organization that an actor may act in, and its role there.
type Membership struct {
	ID, Slug, Name string
	Role           actor.Role
}

// maxMemberships bounds the list of a superadmin, which fills a menu. Any other organization can be named as well.
const maxMemberships = 100

// Memberships returns the organizations that the actor may act in, oldest first and at most maxMemberships: its own, or
// all for a superadmin.
func (s *Service) Memberships(ctx context.Context) ([]*Membership, error) {
	a := actor.From(ctx)
	if a.IsAnonymous() {
		return nil, access.Check(a, access.Read, fault.RequestForbidden)
	}
	q := s.Store.Client.Organization.Query().Order(ent.Asc(organization.FieldID)).Limit(maxMemberships)
	if !a.IsSuperadmin() {
		q.Where(organization.ID(a.OrganizationID))
	}
	found, err := q.All(ctx)
	list := make([]*Membership, len(found))
	for i, o := range found {
		list[i] = &Membership{ID: o.ID, Slug: o.Slug, Name: o.Name, Role: a.Role}
	}
	return list, err
}

// OrganizationByID returns an organization: the actor's own, or any for a superadmin. The error is OrganizationNotFound
// for any other id.
func (s *Service) OrganizationByID(ctx context.Context, organizationID string) (*ent.Organization, error) {
	a := actor.From(ctx)
	if a.IsAnonymous() {
		return nil, access.Check(a, access.Read, fault.RequestForbidden)
	}
	if a.OrganizationID != organizationID && !a.IsSuperadmin() {
		return nil, store.NotFound(organizationID, fault.OrganizationNotFound)
	}
	return record.Organizations.In(s.Store).ByID(ctx, organizationID, fault.OrganizationNotFound)
}

// OrganizationsByID returns the organizations of the ids, in no order, without those that do not exist or that the
// actor may not see.
func (s *Service) OrganizationsByID(ctx context.Context, ids []string) ([]*ent.Organization, error) {
	visible := record.Organizations.In(s.Store)
	if a := actor.From(ctx); !a.IsSuperadmin() {
		visible = visible.Where(record.Equal(organization.FieldID, a.OrganizationID))
	}
	return visible.ByIDs(ctx, ids)
}

// OrganizationBySlug returns any organization by its slug; the error may be OrganizationNotFound.
func (s *Service) OrganizationBySlug(ctx context.Context, slug string) (*ent.Organization, error) {
	o, err := s.Store.Client.Organization.Query().Where(organization.Slug(slug)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, unknownSlug(slug)
	}
	return o, err
}

func unknownSlug(slug string) error {
	return fault.New(fault.OrganizationNotFound, "There is no organization with the slug %.100q.", slug)
}

// VisibleOrganization returns an organization by its slug: the actor's own, or any for a superadmin. The error is
// OrganizationNotFound for any other slug.
func (s *Service) VisibleOrganization(ctx context.Context, slug string) (*ent.Organization, error) {
	a := actor.From(ctx)
	if a.IsAnonymous() {
		return nil, access.Check(a, access.Read, fault.RequestForbidden)
	}
	o, err := s.OrganizationBySlug(ctx, slug)
	if err == nil && o.ID != a.OrganizationID && !a.IsSuperadmin() {
		return nil, unknownSlug(slug)
	}
	return o, err
}

// OrganizationFilter has conditions on organizations; nil ones do not count.
type OrganizationFilter struct {
	// Search is a text that the name or the slug contains, in any case.
	Search *string `json:",omitempty"`
}

// Organizations returns a page of all organizations. The error may be OrganizationForbidden.
func (s *Service) Organizations(
	ctx context.Context, f OrganizationFilter, args page.Args,
) (*page.OrganizationConnection, error) {
	a := actor.From(ctx)
	if a.IsSuperadmin() { // who needs the list to know what to name
		a = a.InGlobal()
	}
	if err := access.Check(a, access.ManageOrganizations, fault.OrganizationForbidden); err != nil {
		return nil, err
	}
	list, err := record.Organizations.In(s.Store).Search(ctx, f.Search)
	if err != nil {
		return nil, err
	}
	scope := page.Scope{List: "organizations"}
	if text := page.FilterText(f); text != "" {
		scope.Filter = text
	}
	return page.Read(ctx, list, args, scope)
}

// FindOrganization implements auth.Finder.
func (s *Service) FindOrganization(ctx context.Context, idOrSlug string) (auth.Organization, error) {
	named := organization.Slug(idOrSlug)
	if id.Of(id.Organization, idOrSlug) { // no slug has this form
		named = organization.ID(idOrSlug)
	}
	system := actor.With(ctx, &actor.Actor{Name: "system", Role: actor.System})
	o, err := s.Store.Client.Organization.Query().Where(named).Only(system)
	if ent.IsNotFound(err) {
		return auth.Organization{}, auth.ErrUnknownOrganization
	}
	if err != nil {
		return auth.Organization{}, err
	}
	return auth.Organization{ID: o.ID, Slug: o.Slug}, nil
}

// AllOrganizations returns all organizations, ordered by slug. It is for the command line.
func (s *Service) AllOrganizations(ctx context.Context) ([]*ent.Organization, error) {
	return s.Store.Client.Organization.Query().Order(ent.Asc(organization.FieldSlug)).All(ctx)
}

// CreateOrganization creates an organization. The errors are OrganizationForbidden, RequestInvalid, and
// OrganizationSlugTaken if another has the slug.
func (s *Service) CreateOrganization(ctx context.Context, name, slug string) (*ent.Organization, error) {
	if err := access.Check(actor.From(ctx), access.ManageOrganizations, fault.OrganizationForbidden); err != nil {
		return nil, err
	}
	if err := CheckOrganization(name, slug); err != nil {
		return nil, err
	}

	var created *ent.Organization
	organizationID := s.Journal.NewID(id.Organization)
	ctx = actor.With(ctx, actor.From(ctx).In(organizationID))
	err := s.Journal.Write(ctx, "createOrganization", func(ctx context.Context, tx *ent.Tx, e *journal.Entry) (err error) {
		e.ObjectID, e.Changes = organizationID, map[string]any{"name": name, "slug": slug}
		created, err = tx.Organization.Create().
			SetID(organizationID).SetCreatedAt(e.At).SetUpdatedAt(e.At).SetName(name).SetSlug(slug).
			SetSearchText(textrules.SearchText(name, slug)).
			Save(ctx)
		return err
	})
	if store.IsUniqueViolation(err) {
		return nil, fault.New(fault.OrganizationSlugTaken, "There is an organization with the slug %q.", slug).WithCause(err)
	}
	return created, err
}

// CheckOrganization returns RequestInvalid for a name or a slug that no organization may have.
func CheckOrganization(name, slug string) error {
	violations := append(textrules.Name("/name", name), textrules.GivenID("/slug", slug)...)
	if strings.EqualFold(slug, actor.Global) || id.Of(id.Organization, slug) {
		violations = append(violations, fault.Violation{Pointer: "/slug", Rule: "reserved", Message: fmt.Sprintf(
			"must not be %s, which stands for what is no organization's, "+
				"nor have the form of an organization's id, found %.70q", actor.Global, slug)})
	}
	if len(violations) > 0 {
		return fault.Invalid(fault.RequestInvalid, violations...)
	}
	return nil
}
