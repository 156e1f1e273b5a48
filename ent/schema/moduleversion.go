package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/output"
)

// ModuleVersion is one published version of a module; nothing that it says ever changes, but whether it is deprecated.
type ModuleVersion struct{ ent.Schema }

// Mixin of ModuleVersion.
func (ModuleVersion) Mixin() []ent.Mixin { return []ent.Mixin{Identity{}, Shared{}} }

// Fields of ModuleVersion.
func (ModuleVersion) Fields() []ent.Field {
	return []ent.Field{
		field.String("module_definition_id").Immutable(),
		field.String("version").Immutable(),
		field.String("kind").Immutable().
			Comment("what carries a deployment of it out: aws:ecs or terraform"),

		field.Other("inputs", inputprop.ListColumn{}).SchemaType(jsonColumn).Immutable(),
		field.Other("outputs", output.Column{}).Optional().SchemaType(jsonColumn).Immutable().
			Comment("those that its deployments have; null for none that are declared"),

		field.String("source_url").Optional().Nillable().Immutable(),
		field.String("source_ref").Optional().Nillable().Immutable(),
		field.String("source_path").Optional().Nillable().Immutable().
			Comment("the folder of the program in the repository; null for its root"),

		field.Time("deprecated_at").Optional().Nillable().Annotations(later),
		field.String("deprecated_by").Optional().Nillable().Annotations(later).
			Comment("name of the actor"),
		field.String("deprecated_by_actor").Optional().Nillable().Annotations(later).
			Comment("id of the actor's token; null for none, and for those from before it was noted"),
		field.String("deprecation_reason").Optional().Nillable().Annotations(later),
		field.String("successor_id").Optional().Nillable().Annotations(later).
			Comment("the version of the same module that is to be deployed instead"),

		field.Bool("uses_recorded").Default(false).
			Comment("its definition uses are written; false where a program published it that did not know of them"),
	}
}

// Edges of ModuleVersion.
func (ModuleVersion) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("module_definition", ModuleDefinition.Type).Field("module_definition_id").Unique().Required().Immutable(),
	}
}

// Indexes of ModuleVersion.
func (ModuleVersion) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("module_definition_id", "version").Unique().StorageKey("module_version_version"),
		newestFirst("module_definition_id"),
		// Hardly any row is in it.
		index.Fields("organization_id", "id").StorageKey("module_version_uses_unrecorded").
			Annotations(entsql.IndexWhere("NOT uses_recorded")),
	}
}
