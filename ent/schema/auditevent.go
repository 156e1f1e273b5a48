package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// AuditEvent says who did what to which object. Append-only, written in the transaction of the change.
type AuditEvent struct{ ent.Schema }

// Mixin of AuditEvent.
func (AuditEvent) Mixin() []ent.Mixin { return []ent.Mixin{Owned{}} }

// Fields of AuditEvent.
func (AuditEvent) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").Immutable(),
		field.Time("created_at").Immutable(),
		field.String("actor_id").Immutable(),
		field.String("actor_name").Immutable(),
		field.String("actor_role").Immutable(),
		field.String("channel").Immutable(),
		field.String("action").Immutable().
			Comment("the mutation, in lower camel case"),
		field.String("object_id").Immutable(),
		field.String("request_id").Immutable(),
		field.JSON("changes", json.RawMessage{}).Optional().SchemaType(jsonColumn).Immutable().
			Comment("the changed fields and their new values"),
	}
}

// Indexes of AuditEvent.
func (AuditEvent) Indexes() []ent.Index {
	return []ent.Index{
		newestFirst("organization_id"),
		newestFirst("organization_id", "object_id"),
		newestFirst("organization_id", "actor_id"),
		newestFirst("organization_id", "action"),
	}
}
