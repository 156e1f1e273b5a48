package state

import (
	"context"
	"time"

	"entgo.io/ent/dialect/sql"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/meter"
	"slipway/internal/base/optional"
	"slipway/internal/base/strictjson"
	"slipway/internal/base/textrules"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
	"slipway/internal/pure/ecs"
	"slipway/internal/pure/ecs/cloud"
	"slipway/internal/pure/event"
)

// What starts a deployment.
const (
	TriggerAPI       = "api"
	TriggerRollback  = "rollback"
	TriggerRedeploy  = "redeploy"
	TriggerPromotion = "promotion"
	TriggerDestroy   = store.TriggerDestroy
	TriggerPipeline  = "pipeline"
	// TriggerEvent is the source of a deployment that was started outside and became known by an event of the cloud. It
	// has no release and no runner, is never live and in nobody's way, and ends as its events say.
	TriggerEvent = store.TriggerEvent
)

// CheckOnlyECS returns what is wrong with a value that only deployments of ECS have, given the kind of one.
func CheckOnlyECS(pointer string, value *strictjson.Node, kind string) []fault.Violation {
	if value == nil {
		return nil
	}
	return []fault.Violation{{Pointer: pointer, Rule: "kind",
		Message: "is for modules with the deploymentType " + ecs.Type + " only, found " + kind}}
}

// CheckNotArchived returns why nothing is deployed to an instance that was archived at a time, nil if it was not.
func CheckNotArchived(instanceID string, at *time.Time) error {
	if at == nil {
		return nil
	}
	f := fault.New(
		fault.ModuleInstanceArchived, "The module instance %s is archived since %s, or what it is in.", instanceID,
		at.UTC().Format(time.RFC3339),
	)
	f.Metadata = map[string]any{"moduleInstanceId": instanceID, "archivedAt": at.UTC().Format(time.RFC3339Nano)}
	return f
}

// Find returns a deployment, or DeploymentNotFound.
func Find(ctx context.Context, c *ent.DeploymentClient, deploymentID string) (*ent.Deployment, error) {
	return store.Find(ctx, c.Get, id.Deployment, deploymentID, fault.DeploymentNotFound)
}

// PlaceOf returns the project and the environment of a deployment.
func PlaceOf(d *ent.Deployment) actor.Place {
	return actor.Place{ProjectID: d.ProjectID, EnvironmentID: d.EnvironmentID}
}

// InsertDeployment writes a new deployment of the actor's organization, made at a time; both, its version and what
// searches look in are set here.
func InsertDeployment(ctx context.Context, tx *ent.Tx, d *ent.Deployment, at time.Time) error {
	d.OrganizationID, d.CreatedAt, d.UpdatedAt, d.Version = store.Scope(actor.From(ctx)), at, at, 1
	d.SearchText = SearchText(d.Description, d.Reason)
	return record.Insert(ctx, tx, d)
}

// SearchText returns what a search of deployments looks in, folded: the description and the reason. It is nil without
// either.
func SearchText(description, reason *string) *string {
	if description == nil && reason == nil {
		return nil
	}
	text := optional.OrZero(description)
	if reason != nil {
		text += "\n" + *reason
	}
	return new(textrules.Fold(text))
}

// ServiceOf returns the service by which the cloud's events find a deployment with such data, or nil.
func ServiceOf(data *ecs.Data) *string {
	if data != nil && data.ServiceARN != nil && cloud.IsServiceARN(*data.ServiceARN) {
		return data.ServiceARN
	}
	return nil
}

// SetData sets the data of a deployment, nil for a type that has none.
func SetData(u *ent.DeploymentUpdateOne, data *ecs.Data) *ent.DeploymentUpdateOne {
	return u.SetData(data.Column()).SetNillableServiceArn(ServiceOf(data))
}

// SetSetbacks sets what speaks against a deployment, nil for nothing.
func SetSetbacks(u *ent.DeploymentUpdateOne, setbacks *ecs.Setbacks) {
	if setbacks == nil {
		u.ClearSetbacks()
	} else {
		u.SetSetbacks(setbacks)
	}
}

// DataOf returns the detail of a deployment by its column, nil if its kind has none, counted as work of the
// context's request.
func DataOf(ctx context.Context, column ecs.Column) (*ecs.Data, error) {
	if err := meter.Decode(ctx, meter.Stored, column.JSON()); err != nil {
		return nil, err
	}
	return column.Data()
}

// Events returns what the runner of a deployment has reported, in order, by the columns of its data and its events. For
// aws:ecs they are part of the data.
func Events(ctx context.Context, column ecs.Column, events []event.Event) ([]event.Event, error) {
	data, err := DataOf(ctx, column)
	if err != nil || data == nil {
		return events, err
	}
	return data.Events, nil
}

// IsDestroying is that a deployment is active and destroys.
func IsDestroying(s *sql.Selector) {
	store.IsInProgress(s)
	s.Where(sql.EQ(s.C(deployment.FieldTriggerSource), TriggerDestroy))
}
