package defaults

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"slipway/ent"
	"slipway/ent/defaultvaluedefinition"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/inputprop"
	"slipway/internal/journal"
	"slipway/internal/store"
	"slipway/internal/textrules"
)

// Patch has the fields to change; nil ones stay. An empty description clears it.
type Patch struct {
	Name        *string
	Description *string
	Schema      *inputprop.Draft
	// Version, where it is given, is the version that the change was made on.
	Version *int32
	// DryRun asks what the change would do, and changes nothing.
	DryRun bool
	// Violations are what was already found wrong while the input was read.
	Violations []fault.Violation
}

// changesNothing says whether the patch has no field.
func (p Patch) changesNothing() bool { return p.Name == nil && p.Description == nil && p.Schema == nil }

func (p Patch) check() (inputprop.Property, error) {
	violations := append(p.Violations, textrules.Description("/description", p.Description)...)
	if p.Name != nil {
		violations = append(violations, textrules.Name("/name", *p.Name)...)
	}
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

// Outcome is what an update did or, on a dry run, would do.
type Outcome struct {
	// Definition is as it is now; a dry run leaves it as it was.
	Definition *ent.DefaultValueDefinition
	Changes    []Change
	Impact     Impact
	Warnings   []inputprop.Warning
}

// Change is a field whose value changes. Before and After are JSON, nil where there is no value.
type Change struct {
	Field         string
	Before, After json.RawMessage
}

// Impact is what the change of a schema means for others.
type Impact struct {
	// Versions are the organization's module versions that take options from the definition.
	Versions []*ent.ModuleVersion
	// Instances are those whose live values would not be valid any more.
	Instances []*ent.ModuleInstance
	// Warnings say the same, for people.
	Warnings []inputprop.Warning
}

// Update changes a definition. It gives RequestInvalid with every violation of the fields,
// DefaultValueDefinitionNotFound, …Forbidden, RequestPreconditionFailed where the version was raised
// since, and DefaultValueDefinitionRuleBroken. What a new schema means for others is told, and is no
// reason to refuse it.
func (s *Service) Update(ctx context.Context, definitionID string, p Patch) (*Outcome, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.DefaultValueDefinitionForbidden); err != nil {
		return nil, err
	}
	schema, err := p.check()
	if err != nil {
		return nil, err
	}
	current, err := find(ctx, s.Store.Client.DefaultValueDefinition, definitionID)
	if err != nil {
		return nil, err
	}
	if err := access.Check(a, access.EditDefaults, fault.DefaultValueDefinitionForbidden); err != nil {
		return nil, err
	}
	if err := p.madeOn(current); err != nil {
		return nil, err
	}
	// Patterns and other people's values take their time: they are judged before the transaction.
	outcome, err := s.foresee(ctx, current, p, schema)
	if err != nil || p.DryRun {
		return outcome, err
	}
	outcome.Definition, err = s.write(ctx, definitionID, p, schema)
	if err != nil {
		return nil, err
	}
	return outcome, nil
}

// madeOn refuses a change that was made on another version of the definition.
func (p Patch) madeOn(d *ent.DefaultValueDefinition) error {
	if p.Version == nil || *p.Version == d.Version {
		return nil
	}
	return fault.New(fault.RequestPreconditionFailed, "The default value definition %s has changed since version %d.", d.ID, *p.Version)
}

// foresee says what the change of a definition would do.
func (s *Service) foresee(ctx context.Context, d *ent.DefaultValueDefinition, p Patch, schema inputprop.Property) (*Outcome, error) {
	o := &Outcome{Definition: d, Changes: p.changesOf(d, schema)}
	if schema == nil || bytes.Equal(inputprop.Encode(schema), d.Schema.JSON()) {
		return o, nil // what is stored stays, whatever today's rules say of it
	}
	var err error
	if o.Warnings, err = s.judge(ctx, schema); err != nil {
		return nil, err
	}
	o.Impact, err = s.Rules.Impact(ctx, d.GivenID, schema)
	o.Warnings = append(o.Warnings, o.Impact.Warnings...)
	return o, err
}

func (s *Service) write(ctx context.Context, definitionID string, p Patch, schema inputprop.Property) (*ent.DefaultValueDefinition, error) {
	var updated *ent.DefaultValueDefinition
	err := s.Journal.Write(ctx, "updateDefaultValueDefinition", func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
		d, err := find(ctx, tx.DefaultValueDefinition, definitionID)
		if err != nil {
			return err
		}
		if err := p.madeOn(d); err != nil {
			return err
		}
		if updated = d; p.changesNothing() {
			e.Silent = true
			return nil
		}
		e.ObjectID, e.Changes = definitionID, p.changes(schema)
		updated, err = p.apply(d.Update().SetUpdatedAt(e.At), schema).Save(ctx)
		if ent.IsNotFound(err) && p.Version != nil {
			d.Version++ // somebody else raised it in between
			return p.madeOn(d)
		}
		updated, err = store.Found(updated, err, definitionID, fault.DefaultValueDefinitionNotFound)
		return err
	})
	return updated, err
}

// changesOf gives the fields that the patch changes.
func (p Patch) changesOf(d *ent.DefaultValueDefinition, schema inputprop.Property) []Change {
	var changes []Change
	add := func(field string, before, after json.RawMessage) {
		if !bytes.Equal(before, after) {
			changes = append(changes, Change{field, before, after})
		}
	}
	if p.Name != nil {
		add("name", text(&d.Name), text(p.Name))
	}
	if p.Description != nil {
		add("description", text(d.Description), text(p.Description))
	}
	if schema != nil {
		add("schema", d.Schema.JSON(), inputprop.Encode(schema))
	}
	return changes
}

// text is a text as JSON, nil for none; an empty description is none.
func text(t *string) json.RawMessage {
	if t == nil || *t == "" {
		return nil
	}
	encoded, err := json.Marshal(*t)
	if err != nil {
		panic(fmt.Errorf("defaults: encode a text: %w", err))
	}
	return encoded
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
