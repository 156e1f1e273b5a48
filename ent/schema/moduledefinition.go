package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// ModuleDefinition is a module of an organization, or a global one.
type ModuleDefinition struct{ ent.Schema }

// Mixin of ModuleDefinition.
func (ModuleDefinition) Mixin() []ent.Mixin { return []ent.Mixin{Identity{}, Shared{}, Named{}} }

// Fields of ModuleDefinition.
func (ModuleDefinition) Fields() []ent.Field {
	return []ent.Field{
		field.String("name"),
		field.String("description").Optional().Nillable(),
		field.String("type").
			Comment("what $ref:<module-type> names"),
		field.String("search_text").
			Comment("the name and the type, folded"),
		field.Enum("status").Values("DRAFT", "ACTIVE"),
		field.String("latest_version").Optional().Nillable().
			Comment("written when a version is published"),
		field.String("latest_version_id").Optional().Nillable(),
	}
}

// Indexes of ModuleDefinition. A unique index lets null organizations through, hence the second one.
func (ModuleDefinition) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("organization_id", "type").Unique().StorageKey("module_definition_type"),
		index.Fields("type").Unique().StorageKey("module_definition_global_type").
			Annotations(entsql.IndexWhere("organization_id IS NULL")),
		newestFirst("organization_id"),
		newestFirst("organization_id", "status"),
		byName("organization_id").StorageKey("module_definition_name"),
		byName("organization_id", "status").StorageKey("module_definition_status_name"),
		byName().StorageKey("module_definition_global_name").Annotations(entsql.IndexWhere("organization_id IS NULL")),
		unfilled("name_key").StorageKey("module_definition_unfilled"),
		// PostgreSQL does not take the rows without an organization in the order of an index that begins with it.
		index.Fields("created_at", "id").StorageKey("module_definition_global_newest").
			Annotations(entsql.DescColumns("created_at", "id"), entsql.IndexWhere("organization_id IS NULL")),
	}
}
