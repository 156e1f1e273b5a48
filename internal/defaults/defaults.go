// Package defaults has the default value definitions: named, typed descriptions of the values that an
// organization's defaults take.
package defaults

import (
	"context"
	"time"

	"slipway/ent"
	"slipway/ent/defaultvaluedefinition"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/id"
	"slipway/internal/inputprop"
	"slipway/internal/journal"
	"slipway/internal/page"
	"slipway/internal/store"
)

// Reader reads default value definitions.
type Reader struct {
	Store *store.Store
}

// Service also writes them. A schema may take its options from another definition, so what checks a schema reads
// definitions itself: it takes a Reader, and the Service takes it.
type Service struct {
	*Reader
	Journal *journal.Journal
	Schemas SchemaChecker
	Impacts ImpactFinder
}

// SchemaChecker checks a schema before it is saved.
type SchemaChecker interface {
	// CheckOne returns every violation of the rules that take several fields, a pattern or a template, and
	// warnings; pointers start with at. The error is that of a look-up.
	CheckOne(ctx context.Context, schema inputprop.Property, at string) ([]fault.Violation, []inputprop.Warning, error)
}

// ImpactFinder finds who would notice another schema.
type ImpactFinder interface {
	// Impact returns what another schema of the definition of a givenId would mean for others.
	Impact(ctx context.Context, givenID string, schema inputprop.Property) (Impact, error)
}

// Definition returns one definition, or DefaultValueDefinitionNotFound.
func (r *Reader) Definition(ctx context.Context, definitionID string) (*ent.DefaultValueDefinition, error) {
	if err := access.Check(actor.From(ctx), access.Read, fault.DefaultValueDefinitionForbidden); err != nil {
		return nil, err
	}
	return find(ctx, r.Store.Client.DefaultValueDefinition, definitionID)
}

func find(ctx context.Context, c *ent.DefaultValueDefinitionClient, definitionID string) (*ent.DefaultValueDefinition, error) {
	if err := store.CheckID(id.DefaultValueDefinition, definitionID, fault.DefaultValueDefinitionNotFound); err != nil {
		return nil, err
	}
	d, err := c.Get(ctx, definitionID)
	return store.NotFoundAs(d, err, definitionID, fault.DefaultValueDefinitionNotFound)
}

// DefinitionsByID returns the definitions of the ids that there are, in no order.
func (r *Reader) DefinitionsByID(ctx context.Context, ids []string) ([]*ent.DefaultValueDefinition, error) {
	return r.Store.Client.DefaultValueDefinition.Query().Where(defaultvaluedefinition.IDIn(ids...)).All(ctx)
}

// Definitions returns a page of the organization's definitions, only that of a givenId where it is not
// nil.
func (r *Reader) Definitions(ctx context.Context, givenID *string, args page.Args) (*page.DefaultValueDefinitionConnection, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.DefaultValueDefinitionForbidden); err != nil {
		return nil, err
	}
	q := r.Store.Client.DefaultValueDefinition.Query()
	if givenID != nil {
		q.Where(defaultvaluedefinition.GivenID(*givenID))
	}
	scope := page.Scope{List: "defaultValueDefinitions", Viewer: a.OrganizationID, Filter: givenID}
	return page.Read(ctx, q, args, scope, func(d *ent.DefaultValueDefinition) (time.Time, string) { return d.CreatedAt, d.ID })
}

// SchemaOf returns the schema of the definition of a givenId, or DefaultValueDefinitionNotFound.
func (r *Reader) SchemaOf(ctx context.Context, givenID string) (inputprop.Property, error) {
	d, err := r.Store.Client.DefaultValueDefinition.Query().Where(defaultvaluedefinition.GivenID(givenID)).Only(ctx)
	if d, err = store.NotFoundAs(d, err, givenID, fault.DefaultValueDefinitionNotFound); err != nil {
		return nil, err
	}
	return d.Schema.Property()
}

// checkSchema returns the warnings of a schema, or DefaultValueDefinitionRuleBroken. No schema, nil, breaks no rule.
func (s *Service) checkSchema(ctx context.Context, schema inputprop.Property) ([]inputprop.Warning, error) {
	if schema == nil {
		return nil, nil
	}
	broken, warnings, err := s.Schemas.CheckOne(ctx, schema, "/schema")
	if err == nil && len(broken) > 0 {
		err = fault.Invalid(fault.DefaultValueDefinitionRuleBroken, broken...)
	}
	return warnings, err
}
