package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"slipway/internal/base/actor"
)

// Token is a bearer token. Its text is never stored. Control table: no tenancy filter, because a token
// is looked up before anybody knows whose it is.
type Token struct{ ent.Schema }

// Mixin of Token.
func (Token) Mixin() []ent.Mixin { return []ent.Mixin{Identity{}, Searched{}} }

// Fields of Token.
func (Token) Fields() []ent.Field {
	return []ent.Field{
		field.String("organization_id").Optional().Nillable().Immutable().
			Comment("null for superadmins"),
		field.String("name").Immutable(),
		field.String("role").GoType(actor.Role("")).Immutable(),
		field.JSON("scope", &actor.Scope{}).Optional().SchemaType(jsonColumn).Immutable().
			Comment("null for the whole organization"),

		field.String("created_by").Optional().Nillable().Immutable().
			Comment("name of the actor; null for those that were made before it was noted"),
		field.String("created_by_id").Optional().Nillable().Immutable().
			Comment("id of the actor's token; null for those that the command line made"),
		field.String("holder").Optional().Nillable().Immutable().
			Comment("whose it is, as its maker says; null where nobody was named"),

		field.String("principal_id").Optional().Nillable().Immutable().
			Comment("who acts by it, for who may approve what: its holder, else who made it, else itself; " +
				"null for those of older servers"),
		field.String("made_by_id").Optional().Nillable().Immutable().
			Comment("principal of who made it; null for those that the command line made, and of older servers"),

		field.String("hash").Unique().Immutable().Sensitive().
			Comment("SHA-256 of the token's text, in hex"),
		field.String("prefix").Immutable(),
		field.String("last_four").Immutable(),

		field.Time("expires_at").Optional().Nillable().Immutable(),
		field.Time("last_used_at").Optional().Nillable(),
		field.Time("revoked_at").Optional().Nillable(),
		field.String("revoked_by").Optional().Nillable().
			Comment("name of the actor; null for those from before it was noted"),
		field.String("revoked_by_actor").Optional().Nillable().
			Comment("id of the actor's token; null for none, and for those from before it was noted"),
	}
}

// Indexes of Token.
func (Token) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("organization_id", "created_at", "id"),
		// PostgreSQL takes no order from an index on a column that is null.
		index.Fields("created_at", "id").StorageKey("token_superadmin_newest").
			Annotations(entsql.DescColumns("created_at", "id"), entsql.IndexWhere("organization_id IS NULL")),
		unfilled("search_text").StorageKey("token_unfilled"),
		// Who has made whose.
		index.Fields("principal_id").StorageKey("token_principal"),
		index.Fields("principal_id", "made_by_id").StorageKey("token_makers").
			Annotations(entsql.IndexWhere("made_by_id IS NOT NULL")),
		index.Fields("made_by_id", "principal_id").StorageKey("token_made").
			Annotations(entsql.IndexWhere("made_by_id IS NOT NULL")),
	}
}
