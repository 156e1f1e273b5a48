package store

import (
	"context"
	"fmt"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/textrules"
)

// folded is a table whose names are kept folded, for searches and for lists in their order.
type folded struct {
	table string
	// column is the one that is empty until it is filled in: search_text, or name_key of a table whose search_text
	// older servers write.
	column string
	// other is the column of the name that a search looks in besides; "" for none.
	other string
	// isListed is whether the table has name_key.
	isListed bool
}

// owner is the organization of a record, "" for none.
func (t folded) owner() string {
	switch t.table {
	case "organizations":
		return `"id"`
	case "tokens", "module_definitions":
		return `COALESCE("organization_id", '')`
	}
	return `"organization_id"`
}

// foldedTables are all such tables.
var foldedTables = []folded{
	{"organizations", "search_text", "slug", false},
	{"tokens", "search_text", "", false},
	{"default_value_definitions", "search_text", "given_id", false},
	{"projects", "search_text", "slug", true},
	{"environments", "search_text", "slug", true},
	{"module_instances", "search_text", "", true},
	{"module_definitions", "name_key", "type", true},
}

// unnamed is a record whose folded names are not filled in yet.
type unnamed struct{ organizationID, id, name, other string }

// FillNames fills in the folded names of what a server of before their columns wrote, of all organizations, and returns
// of how many records.
func (s *Store) FillNames(ctx context.Context) (filled int, err error) {
	for _, t := range foldedTables {
		for {
			found, err := s.unnamedIn(actor.WithServer(ctx, ""), t)
			if err != nil {
				return filled, fmt.Errorf("names of %s to fill in: %w", t.table, err)
			}
			before := filled
			for _, one := range found {
				n, err := s.fillName(actor.WithServer(ctx, one.organizationID), t, one)
				if err != nil {
					return filled, fmt.Errorf("fill in the name of %s: %w", one.id, err)
				}
				filled += n
			}
			if len(found) < namesAtOnce || filled == before { // or else it would find the same ones for ever
				break
			}
		}
	}
	return filled, nil
}

// namesAtOnce is how many records are read at once.
const namesAtOnce = 100

// unnamedIn returns records of a table that are not filled in, at most namesAtOnce.
func (s *Store) unnamedIn(ctx context.Context, t folded) (found []unnamed, err error) {
	other := `''`
	if t.other != "" {
		other = `"` + t.other + `"`
	}

	text := `SELECT ` + t.owner() + `, "id", "name", ` + other + ` FROM "` + t.table + `" WHERE "` + t.column +
		`" = '' ORDER BY "id"` + limited(namesAtOnce)
	err = s.overAll(ctx, text, nil, func(rows Rows) error {
		var u unnamed
		err := rows.Scan(&u.organizationID, &u.id, &u.name, &u.other)
		found = append(found, u)
		return err
	})
	return found, err
}

// fillName writes the folded names of a record, unless its names have changed since it was read, and returns whether it
// did, as 1 or 0.
func (s *Store) fillName(ctx context.Context, t folded, u unnamed) (filled int, err error) {
	texts := []string{u.name}
	where := `"id" = $2 AND "name" = $3`
	if t.other != "" {
		texts = append(texts, u.other)
		where += ` AND "` + t.other + `" = $4`
	}

	set, args := `"search_text" = $1`, []any{textrules.SearchText(texts...), u.id, u.name}
	if t.other != "" {
		args = append(args, u.other)
	}
	args = append(args, u.organizationID)
	where += fmt.Sprintf(` AND %s = $%d`, t.owner(), len(args))
	if t.isListed {
		args = append(args, textrules.NameKey(u.name))
		set += fmt.Sprintf(`, "name_key" = $%d`, len(args))
	}
	err = s.Tx(ctx, Repeatable, func(ctx context.Context, tx *ent.Tx) error {
		result, err := tx.ExecContext(ctx, `UPDATE "`+t.table+`" SET `+set+` WHERE `+where, args...)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		filled = int(n)
		return err
	})
	return filled, err
}
