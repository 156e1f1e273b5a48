package execution

import (
	"context"
	"fmt"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/record"
	"slipway/internal/pure/event"
	"slipway/internal/pure/output"
)

// What a deployment has made is kept as its runner reports it with the success, and never changes. A replay has what
// its own run reports.

// checkOutputs returns what is wrong with the outputs of an end; nil is none, which is right for any.
func (o outcome) checkOutputs() []fault.Violation {
	switch {
	case o.outputs == nil:
		return nil
	case o.status != deployment.StatusSUCCEEDED:
		return []fault.Violation{
			{Pointer: "/outputs", Rule: "only_success", Message: "must be left out where the deployment has not succeeded"},
		}
	}
	return output.Check(o.outputs, "/outputs")
}

// refuseOutputs refuses the outputs of a destroy; nil is none.
func refuseOutputs(outputs *strictjson.Node) error {
	if outputs == nil {
		return nil
	}
	return fault.Invalid(
		fault.RequestInvalid,
		fault.Violation{
			Pointer: "/outputs", Rule: "only_apply", Message: "must be left out where the deployment was to destroy",
		},
	)
}

// keepOutputs stores the outputs of a deployment that succeeded; nil is none. What its version declares and was not
// reported, and what is not kept, is an event.
func keepOutputs(
	ctx context.Context, tx *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne,
	version *ent.ModuleVersion, reported *strictjson.Node, at time.Time,
) error {
	var declared []output.Declared
	if version != nil {
		var err error
		// a success is recorded, whatever that takes
		if declared, err = version.Outputs.Declared(meter.Without(ctx)); err != nil {
			return err
		}
	}

	var events []event.Event
	tell := func(names []string, sentence string) {
		if len(names) > 0 {
			events = append(events, event.Event{Message: new(fmt.Sprintf(sentence, output.Names(names)))})
		}
	}

	tell(output.Missing(reported, declared), "Outputs that the module version declares were not reported: %s.")
	if reported != nil {
		kept, secrets := output.Kept(reported, declared)
		tell(secrets, "Outputs are not kept because they are secrets: %s.")
		row := &ent.DeploymentOutput{OrganizationID: d.OrganizationID, DeploymentID: d.ID, Content: string(kept.JSON())}
		if err := record.Insert(ctx, tx, row); err != nil {
			return err
		}
	}

	if len(events) == 0 {
		return nil
	}
	return Report{Events: events}.apply(d, u, at)
}
