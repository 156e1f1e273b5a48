package defaults

import (
	"context"

	"slipway/ent"
	"slipway/ent/defaultvaluedefinition"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/id"
	"slipway/internal/inputprop"
	"slipway/internal/journal"
	"slipway/internal/store"
	"slipway/internal/textrules"
)

// New is a definition to be created.
type New struct {
	// GivenID has the form of a GivenId.
	GivenID     string
	Name        string
	Description *string
	Schema      inputprop.RawProperty
	// System marks what slipway itself makes.
	System bool
	// Violations are what was already found wrong while the input was read.
	Violations []fault.Violation
}

func (in New) check() (inputprop.Property, error) {
	violations := append(in.Violations, textrules.Name("/name", in.Name)...)
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

// Create creates a definition, and warns of what may not be meant. It fails with
// DefaultValueDefinitionRuleBroken, and DefaultValueDefinitionGivenIDTaken where the organization has one
// of the givenId.
func (s *Service) Create(ctx context.Context, in New) (*ent.DefaultValueDefinition, []inputprop.Warning, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.EditDefaults, fault.DefaultValueDefinitionForbidden); err != nil {
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
	err = s.Journal.Write(ctx, "createDefaultValueDefinition", func(ctx context.Context, tx *ent.Tx, e *journal.Entry) (err error) {
		e.ObjectID, e.Changes = definitionID, map[string]any{"givenId": in.GivenID, "name": in.Name}
		create := tx.DefaultValueDefinition.Create().
			SetID(definitionID).SetOrganizationID(a.OrganizationID).SetCreatedAt(e.At).SetUpdatedAt(e.At).
			SetGivenID(in.GivenID).SetName(in.Name).SetSchema(inputprop.NewColumn(schema)).SetCreatedByType(createdBy)
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
