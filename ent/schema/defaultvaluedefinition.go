package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"slipway/internal/pure/inputprop"
)

// DefaultValueDefinition describes the value that a default of an organization takes.
type DefaultValueDefinition struct{ ent.Schema }

// Mixin of DefaultValueDefinition.
func (DefaultValueDefinition) Mixin() []ent.Mixin {
	return []ent.Mixin{Identity{}, Owned{}, Searched{}}
}

// Fields of DefaultValueDefinition.
func (DefaultValueDefinition) Fields() []ent.Field {
	return []ent.Field{
		field.String("given_id").Immutable(),
		field.String("name"),
		field.String("description").Optional().Nillable(),
		field.Other("schema", inputprop.Column{}).SchemaType(jsonColumn),
		field.Enum("created_by_type").Values("SYSTEM", "USER").Default("USER").Immutable(),
		field.Int32("version").Default(1).
			Comment("raised by every update; an update compares it"),
	}
}

// Edges of DefaultValueDefinition.
func (DefaultValueDefinition) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("organization", Organization.Type).Field("organization_id").Unique().Required().Immutable(),
	}
}

// Indexes of DefaultValueDefinition.
func (DefaultValueDefinition) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("organization_id", "given_id").Unique().StorageKey("default_value_definition_given_id"),
		newestFirst("organization_id"),
		unfilled("search_text").StorageKey("default_value_definition_unfilled"),
	}
}
