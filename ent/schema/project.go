package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Project groups environments.
type Project struct{ ent.Schema }

// Mixin of Project.
func (Project) Mixin() []ent.Mixin { return []ent.Mixin{Identity{}, Owned{}} }

// Fields of Project.
func (Project) Fields() []ent.Field {
	return []ent.Field{
		field.String("name"),
		field.String("slug").Immutable(),
	}
}

// Edges of Project.
func (Project) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("organization", Organization.Type).Field("organization_id").Unique().Required().Immutable(),
	}
}

// Indexes of Project.
func (Project) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("organization_id", "slug").Unique().StorageKey("project_slug"),
		newestFirst("organization_id"),
	}
}
