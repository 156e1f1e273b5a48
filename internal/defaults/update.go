package defaults

import (
	"context"

	"slipway/ent"
	"slipway/ent/defaultvaluedefinition"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/inputprop"
	"slipway/internal/journal"
	"slipway/internal/store"
)

// Patch has the fields to change; nil ones stay. An empty description clears it.
type Patch struct {
	Name        *string
	Description *string
	Schema      *inputprop.Draft
	// Version, where it is given, is the version that the change was made on.
	Version *int32
	// Violations are what was already found wrong while the input was read.
	Violations []fault.Violation
}

// changesNothing says whether the patch has no field.
func (p Patch) changesNothing() bool { return p.Name == nil && p.Description == nil && p.Schema == nil }

func (p Patch) check() (inputprop.Property, error) {
	violations := append(p.Violations, checkName(p.Name)...)
	var schema inputprop.Property
	if p.Schema != nil {
		var wrong []fault.Violation
		schema, wrong = p.Schema.Decode("/schema")
		violations = append(violations, wrong...)
	}
	if len(violations) > 0 {
		return nil, fault.Invalid(fault.RequestInvalid, violations...)
	}
	return schema, nil
}

// Update changes a definition. It gives RequestInvalid with every violation of the fields,
// DefaultValueDefinitionNotFound, …Forbidden, RequestPreconditionFailed where the version was raised
// since, and DefaultValueDefinitionRuleBroken.
func (s *Service) Update(ctx context.Context, definitionID string, p Patch) (*ent.DefaultValueDefinition, []inputprop.Warning, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.DefaultValueDefinitionForbidden); err != nil {
		return nil, nil, err
	}
	schema, err := p.check()
	if err != nil {
		return nil, nil, err
	}
	// Patterns take their time: they are tried before the transaction, and told after what comes first.
	warnings, broken := s.judge(ctx, schema)
	var updated *ent.DefaultValueDefinition
	err = s.Journal.Write(ctx, "updateDefaultValueDefinition", func(ctx context.Context, tx *ent.Tx, e *journal.Entry) (err error) {
		if updated, err = find(ctx, tx.DefaultValueDefinition, definitionID); err != nil {
			return err
		}
		if err := access.Check(a, access.EditDefaults, fault.DefaultValueDefinitionForbidden); err != nil {
			return err
		}
		if p.Version != nil && *p.Version != updated.Version {
			return changedSince(definitionID, *p.Version)
		}
		if broken != nil {
			return broken
		}
		if p.changesNothing() {
			e.Silent = true
			return nil
		}
		e.ObjectID, e.Changes = definitionID, p.changes(schema)
		updated, err = p.apply(updated.Update().SetUpdatedAt(e.At), schema).Save(ctx)
		if ent.IsNotFound(err) && p.Version != nil {
			return changedSince(definitionID, *p.Version)
		}
		updated, err = store.Found(updated, err, definitionID, fault.DefaultValueDefinitionNotFound)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return updated, warnings, nil
}

func (p Patch) apply(u *ent.DefaultValueDefinitionUpdateOne, schema inputprop.Property) *ent.DefaultValueDefinitionUpdateOne {
	u.AddVersion(1).SetNillableName(p.Name)
	if p.Version != nil {
		u.Where(defaultvaluedefinition.Version(*p.Version))
	}
	if p.Description != nil {
		u.SetDescription(*p.Description)
		if *p.Description == "" {
			u.ClearDescription()
		}
	}
	if schema != nil {
		u.SetSchema(inputprop.NewColumn(schema))
	}
	return u
}

func (p Patch) changes(schema inputprop.Property) map[string]any {
	changes := map[string]any{}
	if p.Name != nil {
		changes["name"] = *p.Name
	}
	if p.Description != nil {
		changes["description"] = *p.Description
	}
	if schema != nil {
		changes["schema"] = inputprop.Encode(schema)
	}
	return changes
}

func changedSince(definitionID string, version int32) error {
	return fault.New(fault.RequestPreconditionFailed, "The default value definition %s has changed since version %d.", definitionID, version)
}
