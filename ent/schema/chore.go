package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
)

// Chore is a work that the servers share: its one row says when it was last worked on. "leases" ends the deployments
// whose lease has run out, "purge" removes what is too old. Control table: no tenancy filter.
type Chore struct{ ent.Schema }

// Annotations of Chore. The table is older than the second chore.
func (Chore) Annotations() []schema.Annotation {
	return []schema.Annotation{entsql.Table("lease_sweeps")}
}

// Fields of Chore. Times are by the clock of leases.
func (Chore) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").Immutable(),
		field.Time("worked_at").
			Comment("when a server last worked on it"),
		field.Time("resumed_at").
			Comment("when it was taken up after nobody had worked on it: for leases after a long time, for a purge in any case"),
		field.Time("ended_at").Optional().Nillable().
			Comment("when a purge last ended; before resumed_at if one is going on or was killed; null for leases"),
	}
}
