package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"slipway/internal/pure/runlog"
)

// DeploymentLog is a line that the program of a deployment has printed. Append-only, but that the oldest are removed
// where there are too many; all of them go with their deployment.
type DeploymentLog struct{ ent.Schema }

// Mixin of DeploymentLog.
func (DeploymentLog) Mixin() []ent.Mixin { return []ent.Mixin{Owned{}} }

// Fields of DeploymentLog.
func (DeploymentLog) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id").Immutable(),
		field.String("deployment_id").Immutable(),
		field.Int64("sequence").Immutable().
			Comment("counts the lines of the deployment, from 1"),
		field.Int64("byte_offset").Immutable().
			Comment("how many bytes of text the deployment's earlier lines have together"),
		field.Time("at").Immutable(),
		field.Enum("stream").GoType(runlog.Stream("")).Immutable(),
		field.String("text").Immutable(),
	}
}

// Edges of DeploymentLog.
func (DeploymentLog) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("deployment", Deployment.Type).Field("deployment_id").Unique().Required().Immutable().
			Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes of DeploymentLog.
func (DeploymentLog) Indexes() []ent.Index {
	return []ent.Index{index.Fields("deployment_id", "sequence").Unique()}
}
