package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// IdempotencyKey remembers which deployment a request has made, so that the same request again makes no
// other.
type IdempotencyKey struct{ ent.Schema }

// Mixin of IdempotencyKey.
func (IdempotencyKey) Mixin() []ent.Mixin { return []ent.Mixin{Owned{}} }

// Fields of IdempotencyKey.
func (IdempotencyKey) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").Immutable(),
		field.String("actor_id").Immutable(),
		field.String("key").Immutable().
			Comment("as the caller chose it"),
		field.String("request_hash").Immutable().
			Comment("SHA-256 of the operation and its arguments, in hex"),
		field.String("deployment_id").Immutable(),
		field.Time("created_at").Immutable(),
	}
}

// Indexes of IdempotencyKey. The unique one is the lock between equal requests.
func (IdempotencyKey) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("organization_id", "actor_id", "key").Unique().StorageKey("idempotency_key_key"),
		index.Fields("created_at"),
	}
}
