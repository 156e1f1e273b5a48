package store

import (
	"context"

	"slipway/ent"
	"slipway/internal/base/actor"
)

// Unfilled is a deployment that a server of before some columns wrote, with what belongs into these.
type Unfilled struct {
	ID string
	// ModuleDefinitionID is the module of its instance, ModuleVersionID the version of its release, nil for none, and
	// CreatedByID the principal of its creator, nil if that is not known.
	ModuleDefinitionID           string
	ModuleVersionID, CreatedByID *string
	// Description and Reason are what a search looks in.
	Description, Reason *string
}

// UnfilledDeployments returns at most limit deployments of all organizations that a server of before their column of
// the module wrote. It is for the system.
func (s *Store) UnfilledDeployments(ctx context.Context, limit int) ([]OwnedID, error) {
	return s.ownedIDs(ctx, `SELECT "organization_id", "id" FROM "deployments" WHERE "module_definition_id" IS NULL `+
		`ORDER BY "id"`+limited(limit), nil)
}

// ReadUnfilled reads what belongs into the deployments of the ids, in their order.
func (s *Store) ReadUnfilled(ctx context.Context, tx *ent.Tx, ids []string) (found []Unfilled, err error) {
	text := `SELECT "d"."id", "i"."module_definition_id", "r"."module_version_id", COALESCE("d"."created_by_id", (
			SELECT ` + principalOf + ` FROM "tokens" WHERE "tokens"."id" = "d"."created_by_actor")),
			"d"."description", "d"."reason"
		FROM "deployments" AS "d" JOIN "module_instances" AS "i" ON "i"."id" = "d"."module_instance_id"
		LEFT JOIN "releases" AS "r" ON "r"."id" = "d"."release_id"
		WHERE ` + Among(`"d"."id"`, `"d"."organization_id"`, s.Postgres()) + ` ORDER BY "d"."id"`
	err = InTx(tx)(ctx, text, []any{s.List(ids), Scope(actor.From(ctx))}, func(rows Rows) error {
		var u Unfilled
		err := rows.Scan(
			&u.ID, &u.ModuleDefinitionID, &u.ModuleVersionID, &u.CreatedByID, &u.Description, &u.Reason)
		found = append(found, u)
		return err
	})
	return found, err
}

// Fill writes what belongs into a deployment, and the text that searches look in. Its version stays: nothing has
// happened to it.
func (u Unfilled) Fill(ctx context.Context, tx *ent.Tx, searchText *string) error {
	_, err := tx.ExecContext(ctx, `UPDATE "deployments" SET "module_definition_id" = $1, "module_version_id" = $2, `+
		`"created_by_id" = $3, "search_text" = $4 WHERE "id" = $5 AND "organization_id" = $6`,
		u.ModuleDefinitionID, u.ModuleVersionID, u.CreatedByID, searchText, u.ID, Scope(actor.From(ctx)))
	return err
}
