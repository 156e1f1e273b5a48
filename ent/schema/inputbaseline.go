package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// InputBaseline is what the immutable inputs of a module instance are compared with: of each, the value that it
// had in the last successful release that had it. Written in the transaction of the success.
type InputBaseline struct{ ent.Schema }

// Mixin of InputBaseline.
func (InputBaseline) Mixin() []ent.Mixin { return []ent.Mixin{Owned{}} }

// Fields of InputBaseline.
func (InputBaseline) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id").Immutable(),
		field.String("module_instance_id").Immutable(),
		field.String("deployment_id").
			Comment("the last success that it knows of; where that is not the live deployment, it is to be caught up"),
		field.String("content").
			Comment("JSON, an object in the form of values"),
		field.Time("updated_at"),
	}
}

// Edges of InputBaseline.
func (InputBaseline) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("module_instance", ModuleInstance.Type).Field("module_instance_id").Unique().Required().Immutable(),
		edge.To("deployment", Deployment.Type).Field("deployment_id").Unique().Required(),
	}
}

// Indexes of InputBaseline.
func (InputBaseline) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("module_instance_id").Unique(),
	}
}
