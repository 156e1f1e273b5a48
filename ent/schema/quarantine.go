package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Quarantine marks a release as bad: while it holds, the release is not deployed again.
type Quarantine struct{ ent.Schema }

// Mixin of Quarantine.
func (Quarantine) Mixin() []ent.Mixin { return []ent.Mixin{Owned{}} }

// Fields of Quarantine.
func (Quarantine) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").Immutable(),
		field.String("release_id").Immutable(),
		field.String("reason").Immutable(),
		field.Time("created_at").Immutable(),
		field.String("created_by").Immutable().
			Comment("name of the actor"),
		field.String("created_by_actor").Optional().Nillable().Immutable().
			Comment("id of the actor's token; null for none, and for those from before it was noted"),
		field.Time("until").Optional().Nillable().Immutable().
			Comment("when it ends by itself; null for never"),
		field.Time("lifted_at").Optional().Nillable(),
		field.String("lifted_by").Optional().Nillable().
			Comment("name of the actor"),
		field.String("lifted_by_actor").Optional().Nillable().
			Comment("id of the actor's token; null for none, and for those from before it was noted"),
	}
}

// Edges of Quarantine.
func (Quarantine) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("release", Release.Type).Field("release_id").Unique().Required().Immutable(),
	}
}

// Indexes of Quarantine. A release has one that is not lifted, which may have ended by itself.
func (Quarantine) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("release_id").Unique().StorageKey("quarantine_one_open").
			Annotations(entsql.IndexWhere("lifted_at IS NULL")),
		newestFirst("organization_id", "release_id"),
	}
}
