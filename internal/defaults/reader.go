package defaults

import (
	"context"

	"entgo.io/ent/dialect/sql"

	"slipway/ent"
	"slipway/ent/defaultvaluedefinition"
	"slipway/ent/moduleversion"
	"slipway/ent/predicate"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/id"
	"slipway/internal/inputprop"
	"slipway/internal/page"
	"slipway/internal/record"
	"slipway/internal/store"
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

func find(ctx context.Context, c *ent.DefaultValueDefinitionClient, definitionID string) (*ent.DefaultValueDefinition, error) {
	if err := store.CheckID(id.DefaultValueDefinition, definitionID, fault.DefaultValueDefinitionNotFound); err != nil {
		return nil, err
	}
	d, err := c.Get(ctx, definitionID)
	return store.NotFoundAs(d, err, definitionID, fault.DefaultValueDefinitionNotFound)
}

// DefinitionsByID returns the definitions of the ids that there are, in no order.
func (r *Reader) DefinitionsByID(ctx context.Context, ids []string) ([]*record.DefaultValueDefinition, error) {
	return record.DefaultValueDefinitions.In(r.Store).ByIDs(ctx, ids)
}

// Definitions returns a page of the organization's definitions, only that of a givenId where it is not
// nil.
func (r *Reader) Definitions(ctx context.Context, givenID *string, args page.Args) (*page.DefaultValueDefinitionConnection, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.DefaultValueDefinitionForbidden); err != nil {
		return nil, err
	}
	list := record.DefaultValueDefinitions.In(r.Store)
	if givenID != nil {
		list = list.Where(record.Equal(defaultvaluedefinition.FieldGivenID, *givenID))
	}
	scope := page.Scope{List: "defaultValueDefinitions", Viewer: a.OrganizationID, Filter: givenID}
	return page.Read(ctx, list, args, scope)
}

// SchemaOf returns the schema of the definition of a givenId, or DefaultValueDefinitionNotFound.
func (r *Reader) SchemaOf(ctx context.Context, givenID string) (inputprop.Property, error) {
	d, err := r.Store.Client.DefaultValueDefinition.Query().Where(defaultvaluedefinition.GivenID(givenID)).Only(ctx)
	if d, err = store.NotFoundAs(d, err, givenID, fault.DefaultValueDefinitionNotFound); err != nil {
		return nil, err
	}
	return d.Schema.Property()
}

// batch is how many module versions are looked at in one statement: their inputs may be large.
const batch = 20

// VersionsNaming returns the published module versions of the organization that take options from the
// definition of a givenId, the first most of them. Their inputs are JSON as inputprop writes it, so the
// database leaves out those that do not have the givenId anywhere.
func VersionsNaming(ctx context.Context, c *ent.ModuleVersionClient, givenID string, most int) ([]*ent.ModuleVersion, error) {
	mentions := predicate.ModuleVersion(func(s *sql.Selector) {
		s.Where(sql.P(func(b *sql.Builder) {
			b.WriteString("CAST(").Ident(s.C(moduleversion.FieldInputs)).WriteString(" AS TEXT) LIKE ").
				Arg(`%"` + inputprop.ParamGivenID + `":"` + givenID + `"%`)
		}))
	})
	var naming []*ent.ModuleVersion
	for after := ""; ; {
		versions, err := c.Query().
			Where(moduleversion.IDGT(after), moduleversion.OrganizationIDNotNil(), mentions).
			Order(ent.Asc(moduleversion.FieldID)).Limit(batch).All(ctx)
		if err != nil {
			return nil, err
		}
		for _, v := range versions {
			inputs, err := v.Inputs.Properties()
			if err != nil {
				return nil, err
			}
			if inputprop.NamesDefinition(inputs, givenID) {
				naming = append(naming, v)
			}
			if len(naming) == most {
				return naming, nil
			}
		}
		if len(versions) < batch {
			return naming, nil
		}
		after = versions[len(versions)-1].ID
	}
}
