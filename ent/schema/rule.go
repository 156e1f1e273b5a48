package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"slipway/internal/pure/gate"
)

// Rule is a demand that deployments have to meet: in the whole organization, a project or an environment.
type Rule struct{ ent.Schema }

// Mixin of Rule.
func (Rule) Mixin() []ent.Mixin { return []ent.Mixin{Identity{}, Owned{}} }

// Fields of Rule.
func (Rule) Fields() []ent.Field {
	return []ent.Field{
		field.String("name"),
		field.String("project_id").Optional().Nillable().Immutable().
			Comment("null for all projects"),
		field.String("environment_id").Optional().Nillable().Immutable().
			Comment("one of the project; null for all of them"),
		field.JSON("operations", []gate.Operation{}).SchemaType(jsonColumn).
			Comment("what it is for"),
		field.JSON("demand", gate.Demand{}).SchemaType(jsonColumn),
		field.Bool("overridable"),
		field.String("created_by").Immutable().
			Comment("name of the actor"),
		field.String("created_by_actor").Optional().Nillable().Immutable().
			Comment("id of the actor's token; null for none, and for those from before it was noted"),
		field.Time("ended_at").Optional().Nillable().
			Comment("since when it binds nobody"),
		field.String("ended_by").Optional().Nillable().
			Comment("name of the actor; null for those from before it was noted"),
		field.String("ended_by_actor").Optional().Nillable().
			Comment("id of the actor's token; null for none, and for those from before it was noted"),
		field.Int32("version").Default(1).
			Comment("raised by every update"),
	}
}

// Indexes of Rule.
func (Rule) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("organization_id", "created_at", "id").StorageKey("rule_in_force").
			Annotations(entsql.IndexWhere("ended_at IS NULL")),
		newestFirst("organization_id"),
	}
}
