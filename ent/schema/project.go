package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Project groups environments.
type Project struct{ ent.Schema }

// Mixin of Project.
func (Project) Mixin() []ent.Mixin {
	return []ent.Mixin{Identity{}, Owned{}, Archivable{}, Named{}, Searched{}}
}

// Fields of Project.
func (Project) Fields() []ent.Field {
	return []ent.Field{
		field.String("name"),
		field.String("slug"),
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
		index.Fields("organization_id", "slug").Unique().StorageKey("project_slug_unarchived").
			Annotations(entsql.IndexWhere(unarchived)),
		newestFirst("organization_id"),
		newestFirst("organization_id").StorageKey("project_archived_newest").Annotations(entsql.IndexWhere(archived)),
		byName("organization_id").StorageKey("project_name"),
		unfilled("search_text").StorageKey("project_unfilled"),
	}
}
