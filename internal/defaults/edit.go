package defaults

import (
	"bytes"
	"encoding/json"
	"fmt"

	"slipway/ent"
	"slipway/internal/inputprop"
)

// edit is what a patch changes of a definition; nil fields stay.
type edit struct {
	name, description *string
	schema            inputprop.Property
}

// edit leaves out what the definition has already. schema is that of the patch, nil for none.
func (p Patch) edit(d *ent.DefaultValueDefinition, schema inputprop.Property) edit {
	var e edit
	if p.Name != nil && *p.Name != d.Name {
		e.name = p.Name
	}
	if p.Description != nil && !bytes.Equal(text(p.Description), text(d.Description)) {
		e.description = p.Description
	}
	if schema != nil && p.Schema.Changes(schema, d.Schema) {
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
		changes = append(changes, Change{"schema", d.Schema.JSON(), inputprop.Encode(e.schema)})
	}
	return changes
}

// told is what the audit event has of it.
func (e edit) told() map[string]any {
	told := map[string]any{}
	if e.name != nil {
		told["name"] = *e.name
	}
	if e.description != nil {
		told["description"] = *e.description
	}
	if e.schema != nil {
		told["schema"] = inputprop.Encode(e.schema)
	}
	return told
}

func (e edit) apply(u *ent.DefaultValueDefinitionUpdateOne) *ent.DefaultValueDefinitionUpdateOne {
	u.SetNillableName(e.name)
	if e.description != nil {
		u.SetDescription(*e.description)
		if *e.description == "" {
			u.ClearDescription()
		}
	}
	if e.schema != nil {
		u.SetSchema(inputprop.NewColumn(e.schema))
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
