package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// GivenInput is what the caller gave for the inputs of a deployment that was created. Append-only; it goes with its
// deployment.
type GivenInput struct{ ent.Schema }

// Mixin of GivenInput.
func (GivenInput) Mixin() []ent.Mixin { return []ent.Mixin{Owned{}} }

// Fields of GivenInput.
func (GivenInput) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id").Immutable(),
		field.String("deployment_id").Immutable(),
		field.String("content").Immutable().
			Comment("JSON, an object of values by the ids of the inputs: numbers and the order of keys as they were given"),
	}
}

// Edges of GivenInput.
func (GivenInput) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("deployment", Deployment.Type).Field("deployment_id").Unique().Required().Immutable().
			Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes of GivenInput.
func (GivenInput) Indexes() []ent.Index {
	return []ent.Index{index.Fields("deployment_id").Unique()}
}
