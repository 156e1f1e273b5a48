package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// DeploymentOutput has the outputs of a deployment whose runner has reported some. They stand in a table of their own
// because each report reads the whole row of its deployment.
type DeploymentOutput struct{ ent.Schema }

// Mixin of DeploymentOutput.
func (DeploymentOutput) Mixin() []ent.Mixin { return []ent.Mixin{Owned{}} }

// Fields of DeploymentOutput.
func (DeploymentOutput) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id").Immutable(),
		field.String("deployment_id").Immutable(),
		field.String("content").Immutable().
			Comment("JSON, an object of values by names, as they were reported; without secrets"),
	}
}

// Edges of DeploymentOutput.
func (DeploymentOutput) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("deployment", Deployment.Type).Field("deployment_id").Unique().Required().Immutable().
			Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes of DeploymentOutput.
func (DeploymentOutput) Indexes() []ent.Index {
	return []ent.Index{index.Fields("deployment_id").Unique()}
}
