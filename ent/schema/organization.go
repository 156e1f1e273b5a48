package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// Organization owns everything else. Control table: no tenancy filter.
type Organization struct{ ent.Schema }

// Mixin of Organization.
func (Organization) Mixin() []ent.Mixin { return []ent.Mixin{Identity{}, Searched{}} }

// Fields of Organization.
func (Organization) Fields() []ent.Field {
	return []ent.Field{
		field.String("name"),
		field.String("slug").Unique(),
	}
}

// Indexes of Organization.
func (Organization) Indexes() []ent.Index {
	return []ent.Index{newestFirst(), unfilled("search_text").StorageKey("organization_unfilled")}
}
