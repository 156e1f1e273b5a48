package defaults

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"slipway/ent"
	"slipway/ent/defaultvaluedefinition"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
	"slipway/internal/base/textrules"
	"slipway/internal/data/journal"
	"slipway/internal/data/store"
	"slipway/internal/pure/inputprop"
	"slipway/internal/service/access"
)

// Patch has the fields to change; nil ones stay. An empty description clears it.
type Patch struct {
	Name        *string
	Description *string
	Schema      *inputprop.RawProperty
	// Version, if it is given, is the version that the change was made on.
	Version *int32
	// DryRun asks what the change would do, and changes nothing.
	DryRun bool
	// Violations are what was already found wrong while the input was read.
	Violations []fault.Violation
}

// Outcome is what an update did or, on a dry run, would do.
type Outcome struct {
	// Definition is as it is now; a dry run leaves it as it was.
	Definition *ent.DefaultValueDefinition
	Changes    []Change
	Impact     Impact
	Warnings   []inputprop.Warning
}

// Change is a field whose value changes. Before and After are JSON, nil if there is no value.
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

// Update changes a definition. It fails with RequestInvalid, which has every violation of the fields,
// DefaultValueDefinitionNotFound, …Forbidden, RequestPreconditionFailed if the version was raised
// since, and DefaultValueDefinitionRuleBroken. What a new schema means for others is returned, and is no
// reason to refuse it.
func (s *Service) Update(ctx context.Context, definitionID string, p Patch) (*Outcome, error) {
	if err := access.Check(actor.From(ctx), access.Read, fault.DefaultValueDefinitionForbidden); err != nil {
		return nil, err
	}
	schema, err := p.check()
	if err != nil {
		return nil, err
	}
	var outcome *Outcome
	err = journal.RetryWhileChanged(ctx, func(ctx context.Context) error {
		outcome, err = s.update(ctx, definitionID, p, schema)
		return err
	})
	if err != nil {
		return nil, err
	}
	return outcome, nil
}

// update is Update, once. It fails with journal.ErrChanged where somebody has changed the schema in between.
func (s *Service) update(ctx context.Context, definitionID string, p Patch, schema *newSchema) (*Outcome, error) {
	current, err := find(ctx, s.Store.Client.DefaultValueDefinition, definitionID)
	if err != nil {
		return nil, err
	}
	if err := access.Check(actor.From(ctx), access.ManageDefaults, fault.DefaultValueDefinitionForbidden); err != nil {
		return nil, err
	}
	if err := p.checkVersion(current); err != nil {
		return nil, err
	}

	if schema != nil { // the two are compared
		err = meter.Decode(ctx, meter.Inputs, current.Schema.JSON())
	} else { // it was read all the same
		err = meter.Spend(ctx, meter.Texts, len(current.Schema.JSON()))
	}
	if err != nil {
		return nil, err
	}

	// Patterns and other people's values take their time: they are checked before the transaction.
	outcome, err := s.preview(ctx, current, p.edit(current, schema))
	if err != nil || p.DryRun || len(outcome.Changes) == 0 {
		return outcome, err
	}

	outcome.Definition, err = s.write(ctx, p, schema, outcome)
	return outcome, err
}

func (p Patch) check() (*newSchema, error) {
	violations := append(p.Violations, textrules.Description("/description", p.Description)...)
	if p.Name != nil {
		violations = append(violations, textrules.Name("/name", *p.Name)...)
	}
	var schema *newSchema
	if p.Schema != nil {
		property, wrong := p.Schema.Decode("/schema")
		violations = append(violations, wrong...)
		schema = &newSchema{raw: p.Schema, property: property}
	}
	if len(violations) > 0 {
		return nil, fault.Invalid(fault.RequestInvalid, violations...)
	}
	if schema != nil {
		schema.column = inputprop.NewColumn(schema.property)
	}
	return schema, nil
}

// newSchema is the schema of a patch. It is encoded once, and compared once with what is stored as long as that stays.
type newSchema struct {
	raw      *inputprop.RawProperty
	property inputprop.Property
	column   inputprop.Column

	stored  inputprop.Column
	differs bool
}

// changes reports whether the schema is another than the stored one.
func (n *newSchema) changes(stored inputprop.Column) bool {
	if n.stored.JSON() == nil || !bytes.Equal(n.stored.JSON(), stored.JSON()) {
		n.stored, n.differs = stored, n.raw.Changes(n.column, stored)
	}
	return n.differs
}

// checkVersion refuses a change that was made on another version of the definition.
func (p Patch) checkVersion(d *ent.DefaultValueDefinition) error {
	if p.Version == nil || *p.Version == d.Version {
		return nil
	}
	return fault.New(
		fault.RequestPreconditionFailed, "The default value definition %s has changed since version %d.", d.ID, *p.Version,
	)
}

// preview returns what an edit of a definition would do. A schema that stays is not checked again.
func (s *Service) preview(ctx context.Context, d *ent.DefaultValueDefinition, e edit) (*Outcome, error) {
	o := &Outcome{Definition: d, Changes: e.changes(d)}
	if e.schema == nil {
		return o, nil
	}
	var err error
	if o.Warnings, err = s.checkSchema(ctx, e.schema.property); err != nil {
		return nil, err
	}
	o.Impact, err = s.Impacts.Impact(ctx, d.GivenID, e.schema.property)
	o.Warnings = append(o.Warnings, o.Impact.Warnings...)
	return o, err
}

// write carries out what was previewed, and returns the definition as it is then.
func (s *Service) write(
	ctx context.Context, p Patch, schema *newSchema, previewed *Outcome,
) (*ent.DefaultValueDefinition, error) {
	var updated *ent.DefaultValueDefinition
	err := s.Journal.Write(ctx, "updateDefaultValueDefinition",
		func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
			d, err := find(ctx, tx.DefaultValueDefinition, previewed.Definition.ID)
			if err != nil {
				return err
			}
			if err := p.checkVersion(d); err != nil {
				return err
			}

			edit := p.edit(d, schema)
			switch {
			case edit.isEmpty():
				updated, e.SkipAudit = d, true
				return nil
			case edit.schema != nil && !previewed.has("schema"):
				return journal.ErrChanged // the schema was not checked
			}

			e.ObjectID, e.Changes = d.ID, edit.audited()
			update := edit.apply(d, d.Update().SetUpdatedAt(e.At).AddVersion(1))
			if p.Version != nil {
				update.Where(defaultvaluedefinition.Version(*p.Version))
			}
			updated, err = update.Save(ctx)
			if ent.IsNotFound(err) && p.Version != nil {
				d.Version++ // somebody else raised it in between
				return p.checkVersion(d)
			}

			updated, err = store.NotFoundAs(updated, err, d.ID, fault.DefaultValueDefinitionNotFound)
			return err
		})

	return updated, err
}

func (o *Outcome) has(field string) bool {
	return slices.ContainsFunc(o.Changes, func(c Change) bool { return c.Field == field })
}

// edit is what a patch changes of a definition; nil fields stay.
type edit struct {
	name, description *string
	schema            *newSchema
}

// edit leaves out what the definition has already. schema is that of the patch, nil for none.
func (p Patch) edit(d *ent.DefaultValueDefinition, schema *newSchema) edit {
	var e edit
	if p.Name != nil && *p.Name != d.Name {
		e.name = p.Name
	}
	if p.Description != nil && !bytes.Equal(text(p.Description), text(d.Description)) {
		e.description = p.Description
	}
	if schema != nil && schema.changes(d.Schema) {
		e.schema = schema
	}
	return e
}

func (e edit) isEmpty() bool { return e.name == nil && e.description == nil && e.schema == nil }

// changes are the fields of the definition that change.
func (e edit) changes(d *ent.DefaultValueDefinition) []Change {
	var changes []Change
	if e.name != nil {
		changes = append(changes, Change{"name", text(&d.Name), text(e.name)})
	}
	if e.description != nil {
		changes = append(changes, Change{"description", text(d.Description), text(e.description)})
	}
	if e.schema != nil {
		changes = append(changes, Change{"schema", d.Schema.JSON(), e.schema.column.JSON()})
	}
	return changes
}

// audited returns what the audit event has of it: the new values.
func (e edit) audited() map[string]any {
	changes := map[string]any{}
	if e.name != nil {
		changes["name"] = *e.name
	}
	if e.description != nil {
		changes["description"] = *e.description
	}
	if e.schema != nil {
		changes["schema"] = e.schema.column.JSON()
	}
	return changes
}

func (e edit) apply(
	d *ent.DefaultValueDefinition, u *ent.DefaultValueDefinitionUpdateOne,
) *ent.DefaultValueDefinitionUpdateOne {
	name := *cmp.Or(e.name, &d.Name)
	u.SetName(name).SetSearchText(textrules.SearchText(name, d.GivenID))
	if e.description != nil {
		u.SetDescription(*e.description)
		if *e.description == "" {
			u.ClearDescription()
		}
	}
	if e.schema != nil {
		u.SetSchema(e.schema.column)
	}
	return u
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
