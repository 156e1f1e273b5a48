package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// DefinitionUse says that a module version of an organization takes options from the default value definition of a
// givenId, which need not be there. Written with the version; neither ever changes.
type DefinitionUse struct{ ent.Schema }

// Mixin of DefinitionUse.
func (DefinitionUse) Mixin() []ent.Mixin { return []ent.Mixin{Owned{}} }

// Fields of DefinitionUse.
func (DefinitionUse) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id").Immutable(),
		field.String("given_id").Immutable(),
		field.String("module_version_id").Immutable(),
	}
}

// Edges of DefinitionUse.
func (DefinitionUse) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("module_version", ModuleVersion.Type).Field("module_version_id").Unique().Required().Immutable(),
	}
}

// Indexes of DefinitionUse.
func (DefinitionUse) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("organization_id", "given_id", "module_version_id").Unique().StorageKey("definition_use"),
	}
}
