package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Release is what a deployment ships: a module version, its resolved inputs and the artifact. It never
// changes, and equal content in one organization is one row.
type Release struct{ ent.Schema }

// Mixin of Release.
func (Release) Mixin() []ent.Mixin { return []ent.Mixin{Identity{}, Owned{}} }

// Fields of Release.
func (Release) Fields() []ent.Field {
	return []ent.Field{
		field.String("module_version_id").Immutable(),
		field.String("digest").Immutable().
			Comment("sha256:<hex> of content"),
		field.String("content").Immutable().
			Comment("canonical JSON (RFC 8785); text, so that the digest is over its very bytes"),
	}
}

// Edges of Release.
func (Release) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("module_version", ModuleVersion.Type).Field("module_version_id").Unique().Required().Immutable(),
	}
}

// Indexes of Release.
func (Release) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("organization_id", "digest").Unique().StorageKey("release_digest"),
	}
}
