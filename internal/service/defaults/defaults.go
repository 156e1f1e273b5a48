// Package defaults has the default value definitions: named, typed descriptions of the values that an
// organization's defaults take.
package defaults

import (
	"context"

	"slipway/ent"
	"slipway/ent/defaultvaluedefinition"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/textrules"
	"slipway/internal/data/journal"
	"slipway/internal/data/store"
	"slipway/internal/pure/inputprop"
	"slipway/internal/service/access"
)

// Service reads and writes default value definitions. A schema may take its options from another definition, so what
// finds the impact of a schema reads definitions itself: it is made of a Reader, and the Service is made of it.
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

// New is a definition to be created.
type New struct {
	// GivenID has the form of a GivenId.
	GivenID     string
	Name        string
	Description *string
	Schema      inputprop.RawProperty
	// System marks a definition that Slipway itself makes.
	System bool
	// Violations are what was already found wrong while the input was read.
	Violations []fault.Violation
}

// Create creates a definition, and warns of what may not be meant. It fails with
// DefaultValueDefinitionRuleBroken, and DefaultValueDefinitionGivenIDTaken if the organization has one
// of the givenId.
func (s *Service) Create(ctx context.Context, in New) (*ent.DefaultValueDefinition, []inputprop.Warning, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.ManageDefaults, fault.DefaultValueDefinitionForbidden); err != nil {
		return nil, nil, err
	}
	schema, err := in.check()
	if err != nil {
		return nil, nil, err
	}

	warnings, err := s.checkSchema(ctx, schema)
	if err != nil {
		return nil, nil, err
	}

	createdBy := defaultvaluedefinition.CreatedByTypeUSER
	if in.System {
		createdBy = defaultvaluedefinition.CreatedByTypeSYSTEM
	}
	var created *ent.DefaultValueDefinition

	definitionID := s.Journal.NewID(id.DefaultValueDefinition)
	err = s.Journal.Write(ctx, "createDefaultValueDefinition",
		func(ctx context.Context, tx *ent.Tx, e *journal.Entry) (err error) {
			e.ObjectID, e.Changes = definitionID, map[string]any{"givenId": in.GivenID, "name": in.Name}
			create := tx.DefaultValueDefinition.Create().
				SetID(definitionID).SetOrganizationID(a.OrganizationID).SetCreatedAt(e.At).SetUpdatedAt(e.At).
				SetGivenID(in.GivenID).SetName(in.Name).SetSearchText(textrules.SearchText(in.Name, in.GivenID)).
				SetSchema(inputprop.NewColumn(schema)).SetCreatedByType(createdBy)
			if in.Description != nil && *in.Description != "" {
				create.SetDescription(*in.Description)
			}
			created, err = create.Save(ctx)
			return err
		})
	if store.IsUniqueViolation(err) {
		return nil, nil, fault.New(fault.DefaultValueDefinitionGivenIDTaken,
			"The organization has a default value definition with the givenId %q.", in.GivenID).WithCause(err)
	}
	return created, warnings, err
}

func (in New) check() (inputprop.Property, error) {
	violations := append(in.Violations, textrules.GivenID("/givenId", in.GivenID)...)
	violations = append(violations, textrules.Name("/name", in.Name)...)
	violations = append(violations, textrules.Description("/description", in.Description)...)
	var schema inputprop.Property
	if len(in.Violations) == 0 {
		var wrong []fault.Violation
		schema, wrong = in.Schema.Decode("/schema")
		violations = append(violations, wrong...)
	}
	if len(violations) > 0 {
		return nil, fault.Invalid(fault.RequestInvalid, violations...)
	}
	return schema, nil
}

// checkSchema returns the warnings of a schema, or DefaultValueDefinitionRuleBroken. No schema, nil, breaks no rule.
func (s *Service) checkSchema(ctx context.Context, schema inputprop.Property) ([]inputprop.Warning, error) {
	broken, warnings, err := s.Schemas.CheckOne(ctx, schema, "/schema")
	if err == nil && len(broken) > 0 {
		err = fault.Invalid(fault.DefaultValueDefinitionRuleBroken, broken...)
	}
	return warnings, err
}

// namedUsers is how many of those that use a definition are named if they keep it from being deleted.
const namedUsers = 100

// Delete deletes a definition and returns it as it was. It fails with DefaultValueDefinitionInUse if a published
// module version of the organization names it. No lock holds a version back that is published meanwhile: a version may
// name a definition that is not there, so either order is right.
func (s *Service) Delete(ctx context.Context, definitionID string) (*ent.DefaultValueDefinition, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.DefaultValueDefinitionForbidden); err != nil {
		return nil, err
	}

	var deleted *ent.DefaultValueDefinition
	err := s.Journal.Write(ctx, "deleteDefaultValueDefinition",
		func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
			d, err := find(ctx, tx.DefaultValueDefinition, definitionID)
			if err != nil {
				return err
			}
			if err := access.Check(a, access.ManageDefaults, fault.DefaultValueDefinitionForbidden); err != nil {
				return err
			}
			if err := recordLate(ctx, tx); err != nil {
				return err
			}

			users, err := naming(ctx, tx.DefinitionUse, d.GivenID, namedUsers)
			if err != nil {
				return err
			}

			if len(users) > 0 {
				if len(users) == namedUsers {
					users = append(users, "…")
				}
				f := fault.New(
					fault.DefaultValueDefinitionInUse, "Published module versions name the default value definition %q.", d.GivenID,
				)
				f.Details = []fault.Section{{Title: "Module versions", Render: fault.RenderList, Items: users}}
				return f
			}

			e.ObjectID, e.Changes = definitionID, map[string]any{"givenId": d.GivenID}
			deleted, err = store.NotFoundAs(
				d, tx.DefaultValueDefinition.DeleteOne(d).Exec(ctx), definitionID, fault.DefaultValueDefinitionNotFound,
			)
			return err
		})

	return deleted, err
}
