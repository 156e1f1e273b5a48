package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"slipway/internal/base/actor"
	"slipway/internal/pure/ecs/cloud"
)

// CloudEvent is an event of the cloud's container service. It is kept to be known again when it is sent again, and for
// what it says together with others that come before or after it.
type CloudEvent struct{ ent.Schema }

// Mixin of CloudEvent.
func (CloudEvent) Mixin() []ent.Mixin { return []ent.Mixin{Owned{}} }

// Fields of CloudEvent.
func (CloudEvent) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id").Immutable(),
		field.String("event_id").Immutable().
			Comment("as the cloud gave it"),
		field.String("service_arn").Immutable(),
		field.String("subject").Optional().Nillable().Immutable().
			Comment("the cloud's id of what it is of: a deployment, or for hooks a service deployment; null for the service"),
		field.Time("occurred_at").Immutable().
			Comment("by the clock of the cloud"),

		field.JSON("event", cloud.Event{}).SchemaType(jsonColumn).Immutable(),
		field.String("deployment_id").Optional().Nillable().
			Comment("the deployment that it is of; null while none is known"),
		field.Time("pending_since").Optional().Nillable().
			Comment("when it was received, while its deployment is not known"),

		field.String("created_by").Immutable().
			Comment("name of the actor"),
		field.String("created_by_actor").Optional().Nillable().Immutable().
			Comment("id of the actor's token; null for none, and for those from before it was noted"),
		field.JSON("scope", &actor.Scope{}).Optional().SchemaType(jsonColumn).Immutable().
			Comment("that of the actor's token; null for the whole organization"),
		field.Time("created_at").Immutable(),
	}
}

// Indexes of CloudEvent.
func (CloudEvent) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("organization_id", "event_id").Unique().StorageKey("cloud_event_id"),
		index.Fields("organization_id", "service_arn", "subject").StorageKey("cloud_event_subject").
			Annotations(entsql.IndexWhere("subject IS NOT NULL")),
		index.Fields("organization_id", "deployment_id", "occurred_at", "id").StorageKey("cloud_event_deployment").
			Annotations(entsql.IndexWhere("deployment_id IS NOT NULL")),
		index.Fields("organization_id", "service_arn", "occurred_at", "id").StorageKey("cloud_event_waiting").
			Annotations(entsql.IndexWhere("pending_since IS NOT NULL")),
		index.Fields("organization_id", "pending_since").StorageKey("cloud_event_pending").
			Annotations(entsql.IndexWhere("pending_since IS NOT NULL")),
		// For the sweeps, which look over all organizations.
		index.Fields("pending_since").Annotations(entsql.IndexWhere("pending_since IS NOT NULL")),
		index.Fields("created_at"),
	}
}
