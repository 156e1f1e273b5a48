package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// DeploymentReference is that an input of a deployment that was created chose an instance. Append-only; it goes with
// its deployment. The instance may be deleted later, so that nothing holds it.
type DeploymentReference struct{ ent.Schema }

// Mixin of DeploymentReference.
func (DeploymentReference) Mixin() []ent.Mixin { return []ent.Mixin{Owned{}} }

// Fields of DeploymentReference.
func (DeploymentReference) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id").Immutable(),
		field.String("deployment_id").Immutable(),
		field.Int64("sequence").Immutable().
			Comment("counts the references of the deployment, from 1"),
		field.String("referrer_id").Immutable().
			Comment("the instance of the deployment"),
		field.String("pointer").Immutable().
			Comment("JSON Pointer of the reference in the inputs of the release"),
		field.String("module_instance_id").Immutable().
			Comment("the chosen instance"),
		field.String("read_deployment_id").Optional().Nillable().Immutable().
			Comment("what was live there, null for nothing"),
		field.JSON("paths", []string{}).Optional().SchemaType(jsonColumn).Immutable().
			Comment("what was read of it, such as input.cidr; null for nothing"),
		field.String("digest").Optional().Nillable().Immutable().
			Comment("SHA-256 of the values at the paths, null without any"),
	}
}

// Edges of DeploymentReference.
func (DeploymentReference) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("deployment", Deployment.Type).Field("deployment_id").Unique().Required().Immutable().
			Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes of DeploymentReference. By the second it is known which instances have ever referred to one, and which of
// their deployments did, however many there have been.
func (DeploymentReference) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("deployment_id", "sequence").Unique(),
		index.Fields("organization_id", "module_instance_id", "referrer_id", "deployment_id").
			StorageKey("deployment_reference_chosen"),
	}
}
