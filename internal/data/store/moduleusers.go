package store

import (
	"context"
	"errors"

	"slipway/ent"
)

// searchedAtOnce is how many versions are searched by one statement.
const searchedAtOnce = 1000

// ModuleUsers returns at most limit records that hold a module definition to its type: its instances, and the published
// versions that have an input of the type. Of a definition of the actor's organization they are that one's, and global
// versions; of a global one they are everybody's, so that its caller makes sure that the actor may know of them.
// The inputs of all versions that there are get searched.
func (s *Store) ModuleUsers(
	ctx context.Context, tx *ent.Tx, definitionID, moduleType string, limit int,
) ([]OwnedID, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}

	u := moduleUsers{tx: tx, scope: scope, limit: limit}
	own, shared := ` AND "organization_id" = $2`, ` AND ("organization_id" = $2 OR "organization_id" IS NULL)`
	if scope == GlobalScope {
		own, shared = ` AND $2 <> ''`, ` AND $2 <> ''`
	}

	// A module type is nothing that JSON escapes.
	text, has := `"type":"$ref:`+moduleType+`"`, `instr("inputs", $3) > 0`
	if s.Postgres() {
		has = `strpos(CAST("inputs" AS text), $3) > 0`
	}
	if s.Postgres() && scope == GlobalScope {
		if _, err := tx.ExecContext(ctx, "SELECT set_config('app.isolation', 'filter', true)"); err != nil {
			return nil, err
		}
	}

	_, err = u.add(ctx, `SELECT "organization_id", "id", TRUE FROM "module_instances" `+
		`WHERE "module_definition_id" = $1`+own+limited(limit), definitionID)

	for after := ""; err == nil && len(u.found) < limit; {
		var last string
		last, err = u.add(ctx, `SELECT COALESCE("organization_id", '`+GlobalScope+`'), "id", `+has+
			` FROM "module_versions" WHERE "id" > $1`+shared+` ORDER BY "id"`+limited(searchedAtOnce), after, text)
		if last == "" {
			break
		}
		after = last
	}
	return u.found, err
}

// moduleUsers are those that were found.
type moduleUsers struct {
	tx    *ent.Tx
	scope string
	limit int
	found []OwnedID
}

// add adds the rows of a statement of which it says that they are users, and returns the id of the last one.
func (u *moduleUsers) add(ctx context.Context, query, first string, more ...any) (last string, err error) {
	rows, err := u.tx.QueryContext(ctx, query, append([]any{first, u.scope}, more...)...)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, rows.Err(), rows.Close()) }()
	for rows.Next() {
		var o OwnedID
		var uses bool
		if err := rows.Scan(&o.OrganizationID, &o.ID, &uses); err != nil {
			return "", err
		}
		if last = o.ID; uses && len(u.found) < u.limit {
			u.found = append(u.found, o)
		}
	}
	return last, nil
}
