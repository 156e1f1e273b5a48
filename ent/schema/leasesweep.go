package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// LeaseSweep is one row: since when the servers look for leases that have run out, and when they last did.
// Control table: no tenancy filter.
type LeaseSweep struct{ ent.Schema }

// Fields of LeaseSweep. Times are by the clock of leases.
func (LeaseSweep) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").Immutable(),
		field.Time("worked_at").
			Comment("when a round was last carried out"),
		field.Time("resumed_at").
			Comment("the first round since which there was no long time without one"),
	}
}
