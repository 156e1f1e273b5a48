// Package schema defines the tables. Each file has one entity; the mixins here have what they share.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"entgo.io/ent/schema/mixin"
)

// Archivable marks the records that can be archived, by themselves or with what they are in.
type Archivable struct{ mixin.Schema }

// Fields of Archivable.
func (Archivable) Fields() []ent.Field {
	return []ent.Field{
		field.Time("archived_at").Optional().Nillable().Annotations(later),
		field.String("archived_with").Optional().Nillable().Annotations(later).
			Comment("the id of what was archived then: its own, or that of its environment or project"),
	}
}

// archived is the condition that a record is archived, and unarchived that it is not, in the words of an index.
const (
	archived   = "archived_at IS NOT NULL"
	unarchived = "archived_at IS NULL"
)

// jsonColumn is json rather than jsonb on PostgreSQL: it keeps the text of numbers, and lib/pq's binary
// parameters cannot write jsonb.
var jsonColumn = map[string]string{dialect.Postgres: "json", dialect.SQLite: "text"}

// Identity is the id and the times of every record. Times are UTC, truncated to microseconds.
type Identity struct{ mixin.Schema }

// Fields of Identity.
func (Identity) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").Immutable(),
		field.Time("created_at").Immutable(),
		field.Time("updated_at"),
	}
}

// Owned marks the records of one organization. The store binds every query and every write of theirs
// to the actor's organization, and so does row-level security on PostgreSQL.
type Owned struct{ mixin.Schema }

// Fields of Owned.
func (Owned) Fields() []ent.Field {
	return []ent.Field{field.String("organization_id").Immutable()}
}

// Shared marks the records that are one organization's or, where organization_id is null, everybody's
// to read.
type Shared struct{ mixin.Schema }

// Fields of Shared.
func (Shared) Fields() []ent.Field {
	return []ent.Field{field.String("organization_id").Optional().Nillable().Immutable()}
}

// Searched marks the records that are found by a part of a text. What a server of before the column writes has none,
// until the sweep has filled it in.
type Searched struct{ mixin.Schema }

// Fields of Searched.
func (Searched) Fields() []ent.Field {
	return []ent.Field{
		field.String("search_text").Default("").
			Comment("the name and, in a line of its own, the other name of the record, folded"),
	}
}

// Named marks the records that are listed by their names.
type Named struct{ mixin.Schema }

// Fields of Named.
func (Named) Fields() []ent.Field {
	return []ent.Field{
		field.String("name_key").Default("").
			Comment("the folded name in hexadecimal, because the databases order letters in ways of their own"),
	}
}

// byName is the index of a connection in the order of names.
func byName(filter ...string) *index.Builder {
	return index.Fields(append(filter, "name_key", "id")...)
}

// unfilled is the index of what the sweep has to fill in, which looks over all organizations.
func unfilled(column string) *index.Builder {
	return index.Fields("id").Annotations(entsql.IndexWhere(column + " = ''"))
}

// laterAnnotation is that of later.
type laterAnnotation bool

// Name implements schema.Annotation. The templates of ent know the mark by it.
func (laterAnnotation) Name() string { return "Later" }

// later marks a column that a new record never has: it begins null or as the database's default, and an INSERT leaves
// it out (see ent/template/write.tmpl). A column without the mark is part of every INSERT.
const later laterAnnotation = true

// newestFirst is the index of a connection: its filter, then the order that its cursors follow.
func newestFirst(filter ...string) *index.Builder {
	return index.Fields(append(filter, "created_at", "id")...).
		Annotations(entsql.DescColumns("created_at", "id"))
}
