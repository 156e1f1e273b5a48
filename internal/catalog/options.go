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

// Types gives a page of the definitions that module types stand for: an organization's own goes before a
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

// KnownTypes gives those of the types that the catalogue has a module of.
func (s *Service) KnownTypes(ctx context.Context, types []string) ([]string, error) {
	return s.Store.Client.ModuleDefinition.Query().Where(moduledefinition.TypeIn(types...)).
		Select(moduledefinition.FieldType).Strings(ctx)
}

// ofType keeps the instances of modules of a type: the organization's own of that type, and the global one.
func ofType(moduleType, organizationID string) predicate.ModuleInstance {
	return func(s *sql.Selector) {
		t := sql.Dialect(s.Dialect()).Table(moduledefinition.Table)
		owner := t.C(moduledefinition.FieldOrganizationID)
		s.Where(sql.In(s.C(moduleinstance.FieldModuleDefinitionID),
			sql.Dialect(s.Dialect()).Select(t.C(moduledefinition.FieldID)).From(t).
				Where(sql.And(
					sql.EQ(t.C(moduledefinition.FieldType), moduleType),
					sql.Or(sql.EQ(owner, organizationID), sql.IsNull(owner)),
				))))
	}
}
