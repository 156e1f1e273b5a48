package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"slipway/internal/base/actor"
)

// Approval is what a principal decided about a deployment that waits for approvals.
type Approval struct{ ent.Schema }

// Mixin of Approval.
func (Approval) Mixin() []ent.Mixin { return []ent.Mixin{Identity{}, Owned{}} }

// Fields of Approval.
func (Approval) Fields() []ent.Field {
	return []ent.Field{
		field.String("deployment_id").Immutable(),
		field.String("principal_id").Immutable(),
		field.String("token_id").
			Comment("by which it was given: it counts as long as that is valid"),
		field.String("created_by").
			Comment("name of the actor"),
		field.String("role").GoType(actor.Role("")),
		field.Bool("approved").
			Comment("whether it is for the deployment, and not against it"),
		field.String("comment").Optional().Nillable(),
	}
}

// Edges of Approval.
func (Approval) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("deployment", Deployment.Type).Field("deployment_id").Unique().Required().Immutable().
			Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes of Approval.
func (Approval) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("organization_id", "deployment_id", "principal_id").Unique().StorageKey("approval_one_voice"),
	}
}
