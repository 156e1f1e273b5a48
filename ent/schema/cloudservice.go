package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// CloudService is a service of the cloud's container service, and the one module instance that it belongs to: the first
// that names it in a deployment.
type CloudService struct{ ent.Schema }

// Mixin of CloudService.
func (CloudService) Mixin() []ent.Mixin { return []ent.Mixin{Owned{}} }

// Fields of CloudService.
func (CloudService) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id").Immutable(),
		field.String("service_arn").Immutable(),
		field.String("module_instance_id"),
		field.Time("created_at").Immutable(),
		field.Time("updated_at"),
	}
}

// Edges of CloudService.
func (CloudService) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("module_instance", ModuleInstance.Type).Field("module_instance_id").Unique().Required(),
	}
}

// Indexes of CloudService.
func (CloudService) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("organization_id", "service_arn").Unique().StorageKey("cloud_service_arn"),
	}
}
