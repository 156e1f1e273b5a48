package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/service/defaults"
)

// definitionFile is a default value definition as demo.json has it.
type definitionFile struct {
	GivenID, Name string
	Description   *string
	System        bool
	Schema        json.RawMessage
}

// definitions makes the default value definitions, one of them as the system.
func (d *demo) definitions(ctx context.Context) error {
	for _, in := range d.Definitions {
		d.clock.pass(10 * time.Minute)
		schema, err := strictjson.Parse(in.Schema)
		if err != nil {
			return fmt.Errorf("demo: the definition %s: %w", in.GivenID, err)
		}

		by := d.as(ctx, admin)
		if in.System {
			by = actor.With(ctx, bootstrap().In(d.result.OrganizationID))
		}
		made, _, err := d.Defaults.Create(by, defaults.New{
			GivenID: in.GivenID, Name: in.Name, Description: in.Description,
			Schema: inputprop.NewRawProperty(schema), System: in.System,
		})
		if err != nil {
			return fmt.Errorf("demo: the definition %s: %w", in.GivenID, err)
		}

		if in.GivenID == d.Shown.Definition {
			d.result.DefaultValueDefinitionID = made.ID
		}
	}

	return nil
}
