package defaults

import (
	"context"

	"slipway/ent"
	"slipway/ent/defaultvaluedefinition"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/data/page"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
	"slipway/internal/pure/inputprop"
	"slipway/internal/service/access"
)

// Reader reads default value definitions.
type Reader struct {
	Store *store.Store
}

// Definition returns one definition, or DefaultValueDefinitionNotFound.
func (r *Reader) Definition(ctx context.Context, definitionID string) (*record.DefaultValueDefinition, error) {
	if err := access.Check(actor.From(ctx), access.Read, fault.DefaultValueDefinitionForbidden); err != nil {
		return nil, err
	}
	return record.DefaultValueDefinitions.In(r.Store).ByID(ctx, definitionID, fault.DefaultValueDefinitionNotFound)
}

func find(
	ctx context.Context, c *ent.DefaultValueDefinitionClient, definitionID string,
) (*ent.DefaultValueDefinition, error) {
	return store.Find(ctx, c.Get, id.DefaultValueDefinition, definitionID, fault.DefaultValueDefinitionNotFound)
}

// DefinitionsByID returns the definitions of the ids that there are, in no order.
func (r *Reader) DefinitionsByID(ctx context.Context, ids []string) ([]*record.DefaultValueDefinition, error) {
	return record.DefaultValueDefinitions.In(r.Store).ByIDs(ctx, ids)
}

// Filter has conditions on default value definitions; nil ones do not count.
type Filter struct {
	GivenID *string `json:",omitempty"`
	// Search is a text that the name or the givenId contains, in any case.
	Search *string `json:",omitempty"`
}

// Definitions returns a page of the organization's definitions.
func (r *Reader) Definitions(
	ctx context.Context, f Filter, args page.Args,
) (*page.DefaultValueDefinitionConnection, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.DefaultValueDefinitionForbidden); err != nil {
		return nil, err
	}
	list, err := record.DefaultValueDefinitions.In(r.Store).
		Where(record.All(record.Given(record.Equal, defaultvaluedefinition.FieldGivenID, f.GivenID))...).Search(ctx, f.Search)
	if err != nil {
		return nil, err
	}
	scope := page.Scope{List: "defaultValueDefinitions", Viewer: a.OrganizationID, Filter: f.GivenID}
	if f.Search != nil {
		scope.Filter = f
	}
	return page.Read(ctx, list, args, scope)
}

// SchemaOf returns the schema of the definition of a givenId, or DefaultValueDefinitionNotFound.
func (r *Reader) SchemaOf(ctx context.Context, givenID string) (inputprop.Property, error) {
	d, err := r.Store.Client.DefaultValueDefinition.Query().Where(defaultvaluedefinition.GivenID(givenID)).Only(ctx)
	if d, err = store.NotFoundAs(d, err, givenID, fault.DefaultValueDefinitionNotFound); err != nil {
		return nil, err
	}
	return d.Schema.Property(ctx)
}
