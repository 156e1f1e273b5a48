package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Environment is a place of a project that modules are deployed to.
type Environment struct{ ent.Schema }

// Mixin of Environment.
func (Environment) Mixin() []ent.Mixin {
	return []ent.Mixin{Identity{}, Owned{}, Archivable{}, Named{}, Searched{}}
}

// Fields of Environment.
func (Environment) Fields() []ent.Field {
	return []ent.Field{
		field.String("project_id").Immutable(),
		field.String("name"),
		field.String("slug"),
	}
}

// Edges of Environment.
func (Environment) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("project", Project.Type).Field("project_id").Unique().Required().Immutable(),
	}
}

// Indexes of Environment.
func (Environment) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("project_id", "slug").Unique().StorageKey("environment_slug_unarchived").
			Annotations(entsql.IndexWhere(unarchived)),
		newestFirst("organization_id"),
		newestFirst("organization_id").StorageKey("environment_archived_newest").Annotations(entsql.IndexWhere(archived)),
		newestFirst("organization_id", "project_id"),
		byName("organization_id").StorageKey("environment_name"),
		byName("organization_id", "project_id").StorageKey("environment_project_name"),
		unfilled("search_text").StorageKey("environment_unfilled"),
	}
}
