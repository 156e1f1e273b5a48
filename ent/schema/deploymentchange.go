package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// DeploymentChange says that a deployment was created or changed. Written in the transaction of the
// change, for those who follow deployments.
type DeploymentChange struct{ ent.Schema }

// Mixin of DeploymentChange.
func (DeploymentChange) Mixin() []ent.Mixin { return []ent.Mixin{Owned{}} }

// Fields of DeploymentChange. The order of id alone is not that of commits: on PostgreSQL a reader goes
// by (xid, id), and only as far as every transaction has ended.
func (DeploymentChange) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id").Immutable(),
		field.Int64("xid").Optional().Immutable().
			SchemaType(map[string]string{dialect.Postgres: "xid8", dialect.SQLite: "integer"}).
			Annotations(entsql.DefaultExprs(map[string]string{dialect.Postgres: "pg_current_xact_id()", dialect.SQLite: "0"})).
			Comment("the transaction; the database fills it in"),
		field.String("deployment_id").Immutable(),
		field.Int32("version").Immutable().
			Comment("of the deployment, after the change"),
		field.Enum("kind").Values("CREATED", "QUEUED", "UPDATED", "COMPLETED").Optional().Nillable().Immutable().
			Comment("what the change did to the deployment; QUEUED made it PENDING after it had waited for approvals; " +
				"null where a program wrote it that did not know"),
		field.Time("created_at").Immutable(),
	}
}

// Indexes of DeploymentChange.
func (DeploymentChange) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("xid", "id"),
		index.Fields("organization_id", "xid", "id"),
		index.Fields("created_at"),
	}
}
