package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// ModuleInstance is a module in an environment. Its live deployment is the last that succeeded.
type ModuleInstance struct{ ent.Schema }

// Mixin of ModuleInstance.
func (ModuleInstance) Mixin() []ent.Mixin {
	return []ent.Mixin{Identity{}, Owned{}, Archivable{}, Named{}, Searched{}}
}

// Fields of ModuleInstance.
func (ModuleInstance) Fields() []ent.Field {
	return []ent.Field{
		field.String("project_id").Immutable(),
		field.String("environment_id").Immutable(),
		field.String("module_definition_id").Immutable(),
		field.String("name"),

		field.String("live_deployment_id").Optional().Nillable(),
		field.String("external_deployment_id").Optional().Nillable().
			Comment("the last deployment that was started outside"),
		field.Int64("fence").Default(0).
			Comment("that of the last claim; raised by each"),
		field.String("forced_deployment_id").Optional().Nillable().
			Comment("the last deployment that was canceled by force, until one succeeds"),
		field.Time("destroyed_at").Optional().Nillable().
			Comment("when the last destroy succeeded, until a deployment does"),

		field.Enum("drift_kind").Values("ROLLED_BACK", "CHANGED_OUTSIDE", "DESTROY_FAILED").Optional().Nillable().
			Comment("how what is live differs from what its deployment made, null where nobody knows of a difference; " +
				"so are the others of drift"),
		field.Time("drift_since").Optional().Nillable(),
		field.String("drift_message").Optional().Nillable(),
		field.String("drift_deployment_id").Optional().Nillable().
			Comment("the deployment by which that is known"),

		field.Strings("own_inputs").Optional().SchemaType(jsonColumn).
			Comment("ids of the inputs, and artifact, that a promotion leaves as they are"),
		field.Enum("on_failure").Values("NOTHING", "ROLL_BACK").Default("NOTHING"),
	}
}

// Edges of ModuleInstance.
func (ModuleInstance) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("project", Project.Type).Field("project_id").Unique().Required().Immutable(),
		edge.To("environment", Environment.Type).Field("environment_id").Unique().Required().Immutable(),
		edge.To("module_definition", ModuleDefinition.Type).Field("module_definition_id").Unique().Required().Immutable(),
		edge.To("live_deployment", Deployment.Type).Field("live_deployment_id").Unique(),
	}
}

// Indexes of ModuleInstance.
func (ModuleInstance) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("environment_id", "name").Unique().StorageKey("module_instance_name_unarchived").
			Annotations(entsql.IndexWhere(unarchived)),
		// What is live: few columns to be read, however many instances there are.
		index.Fields("organization_id", "live_deployment_id").StorageKey("module_instance_live").
			Annotations(entsql.IndexWhere("live_deployment_id IS NOT NULL")),
		newestFirst("organization_id"),
		newestFirst("organization_id").StorageKey("module_instance_archived_newest").Annotations(entsql.IndexWhere(archived)),
		newestFirst("organization_id", "project_id"),
		newestFirst("organization_id", "environment_id"),
		byName("organization_id").StorageKey("module_instance_name"),
		byName("organization_id", "project_id").StorageKey("module_instance_project_name"),
		byName("organization_id", "environment_id").StorageKey("module_instance_environment_name"),
		byName("organization_id", "module_definition_id").StorageKey("module_instance_definition_name"),
		unfilled("search_text").StorageKey("module_instance_unfilled"),
		// Named, because the name that ent makes is longer than PostgreSQL's names may be.
		newestFirst("organization_id", "module_definition_id").StorageKey("moduleinstance_definition_newest"),
		newestFirst("organization_id", "drift_kind").StorageKey("moduleinstance_drift_newest").
			Annotations(entsql.IndexWhere("drift_kind IS NOT NULL")),
	}
}
