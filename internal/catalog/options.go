package catalog

import (
	"context"

	"entgo.io/ent/dialect/sql"

	"slipway/ent/moduledefinition"
	"slipway/ent/moduleinstance"
	"slipway/ent/predicate"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/page"
	"slipway/internal/store"
)

// Types returns a page of the definitions that module types stand for: an organization's own goes before a
// global one of the same type.
func (s *Service) Types(ctx context.Context, args page.Args) (*page.ModuleDefinitionConnection, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.ModuleDefinitionForbidden); err != nil {
		return nil, err
	}
	own := func(outer *sql.Selector) {
		t := sql.Dialect(outer.Dialect()).Table(moduledefinition.Table).As("own")
		types := sql.Dialect(outer.Dialect()).Select(t.C(moduledefinition.FieldType)).From(t).
			Where(sql.EQ(t.C(moduledefinition.FieldOrganizationID), a.OrganizationID))
		outer.Where(sql.Or(
			sql.NotNull(outer.C(moduledefinition.FieldOrganizationID)),
			sql.NotIn(outer.C(moduledefinition.FieldType), types),
		))
	}
	q := s.Store.Client.ModuleDefinition.Query().Where(own)
	return page.Read(store.InOrder(ctx), q, args, page.Scope{List: "moduleTypes", Viewer: store.Scope(a)}, definitionKey)
}

// ofType keeps the instances of the module that a type stands for: the organization's own of that type, and the
// global one where it has none.
func ofType(moduleType, organizationID string) predicate.ModuleInstance {
	return func(s *sql.Selector) {
		t, own := ofTypeAs(s, "t", moduleType), ofTypeAs(s, "own", moduleType)
		own.Where(sql.EQ(own.C(moduledefinition.FieldOrganizationID), organizationID))
		owner := t.C(moduledefinition.FieldOrganizationID)
		t.Where(sql.Or(sql.EQ(owner, organizationID), sql.And(sql.IsNull(owner), sql.NotExists(own))))
		s.Where(sql.In(s.C(moduleinstance.FieldModuleDefinitionID), t))
	}
}

// ofTypeAs selects the ids of definitions of a type, whosever they are.
func ofTypeAs(s *sql.Selector, as, moduleType string) *sql.Selector {
	d := sql.Dialect(s.Dialect())
	t := d.Table(moduledefinition.Table).As(as)
	return d.Select(t.C(moduledefinition.FieldID)).From(t).Where(sql.EQ(t.C(moduledefinition.FieldType), moduleType))
}
