package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"slipway/ent"
	"slipway/internal/base/actor"
)

// PrincipalOf returns the principal of a token. Servers older than the column leave it out: then it is the token's
// maker, if the row names one, or the token itself. MakersOf knows who that maker is.
func PrincipalOf(t *ent.Token) string {
	switch {
	case t.PrincipalID != nil:
		return *t.PrincipalID
	case t.CreatedByID != nil:
		return *t.CreatedByID
	}
	return t.ID
}

// principalOf is PrincipalOf as an expression on the columns of tokens.
const principalOf = `COALESCE("principal_id", "created_by_id", "id")`

// makers reads who has made the tokens of the principals of $1, and of those who have made them, and so on. If a
// principal is the id of a token that has another principal, an older server has left it out, and that other principal
// made it. The statement looks at each principal once, so that a circle ends.
const makers = `WITH RECURSIVE "reached" ("principal") AS (
SELECT "value" FROM {list} UNION SELECT {made}
) SELECT DISTINCT "principal", {made} AND {maker} <> "principal"`

// What {maker} and {made} are in makers: a maker, and each of the makers of a principal. PostgreSQL without statistics
// reads all tokens for each principal unless something that SQLite does not have makes it follow the indexes. CROSS,
// which keeps the order of a join, makes SQLite do so.
const (
	sqliteMaker = `CASE WHEN "principal_id" = "principal" THEN "made_by_id" ` +
		`ELSE COALESCE("principal_id", "created_by_id") END`
	sqliteMade = `{maker} FROM "reached" CROSS JOIN "tokens" ` +
		`ON ("principal_id" = "principal" AND "made_by_id" IS NOT NULL OR "id" = "principal") ` +
		`WHERE {own} AND {maker} IS NOT NULL`
	postgresMaker = `"maker"`
	postgresMade  = `{maker} FROM "reached" CROSS JOIN LATERAL (
SELECT "made_by_id" FROM "tokens" WHERE "principal_id" = "principal" AND "made_by_id" IS NOT NULL AND {own}
UNION ALL SELECT COALESCE("principal_id", "created_by_id") FROM "tokens" WHERE "id" = "principal" AND {own}
) AS "made" ("maker") WHERE {maker} IS NOT NULL`
)

// MakersOf returns for each of the principals all others that made a token of it, that made a token of one of those,
// and so on. It reads with the transaction, or without one if tx is nil. Only tokens of the actor's organization and of
// superadmins count. There is no limit: whoever is left out would pass for somebody else. It reads each token of a
// principal that is reached twice at most, and no token that has nothing to do with these principals.
func (s *Store) MakersOf(ctx context.Context, tx *ent.Tx, principals []string) (map[string][]string, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}

	maker, made := sqliteMaker, sqliteMade
	if s.Postgres() {
		maker, made = postgresMaker, postgresMade
	}
	query := strings.NewReplacer(
		"{list}", s.Each("$1"),
		"{maker}", maker,
		"{own}", `("organization_id" = $2 OR "organization_id" IS NULL)`,
	).Replace(strings.ReplaceAll(makers, "{made}", made))

	direct := map[string][]string{}
	err = s.read(ctx, tx, query, []any{s.List(principals), scope}, func(rows Rows) error {
		var principal, maker string
		err := rows.Scan(&principal, &maker)
		direct[principal] = append(direct[principal], maker)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("store: makers of principals: %w", err)
	}

	all := make(map[string][]string, len(principals))
	for _, p := range principals {
		all[p] = reachedFrom(p, direct)
	}
	return all, nil
}

// reachedFrom returns all that can be reached from a principal but itself, the nearest first.
func reachedFrom(principal string, makers map[string][]string) []string {
	seen, reached := map[string]bool{principal: true}, []string{}
	for next := []string{principal}; len(next) > 0; next = next[1:] {
		for _, maker := range makers[next[0]] {
			if !seen[maker] {
				seen[maker] = true
				reached, next = append(reached, maker), append(next, maker)
			}
		}
	}
	return reached
}

// PrincipalQuery says whose tokens are counted.
type PrincipalQuery struct {
	// At is when a token is to be good.
	At time.Time
	// Roles are those of which a token has one.
	Roles []actor.Role
	// Place is within the token's scope.
	Place actor.Place
	// Holders are those of which a token names one; any token will do if they are empty.
	Holders []string
}

// PrincipalsWith returns the principals that have a token of the actor's organization as the query has it, each with
// the name of one of those tokens. It reads with the transaction, or without one if tx is nil. It looks at all tokens
// of the organization.
func (s *Store) PrincipalsWith(ctx context.Context, tx *ent.Tx, q PrincipalQuery) (names map[string]string, err error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}

	roles := make([]string, len(q.Roles))
	for i, r := range q.Roles {
		roles[i] = string(r)
	}

	args := []any{s.List(roles), scope, q.At}
	arg := func(v any) string {
		args = append(args, v)
		return fmt.Sprintf("$%d", len(args))
	}

	where := Among(`"role"`, `"organization_id"`, s.Postgres()) +
		` AND "revoked_at" IS NULL AND ("expires_at" IS NULL OR "expires_at" > $3)`
	within := `"scope" IS NULL`
	if q.Place.ProjectID != "" {
		within += ` OR ` + s.scopeHas("projects", arg(q.Place.ProjectID))
	}
	if q.Place.EnvironmentID != "" {
		within += ` OR ` + s.scopeHas("environments", arg(q.Place.EnvironmentID))
	}
	where += ` AND (` + within + `)`
	if len(q.Holders) > 0 {
		holders := arg(s.List(q.Holders))
		where += ` AND "holder" IN (SELECT "value" FROM ` + s.Each(holders) + `)`
	}

	query := `SELECT ` + principalOf + `, MIN("name") FROM "tokens" WHERE ` + where + ` GROUP BY ` + principalOf
	names = map[string]string{}
	err = s.read(ctx, tx, query, args, func(rows Rows) error {
		var principal, name string
		err := rows.Scan(&principal, &name)
		names[principal] = name
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("store: principals with tokens: %w", err)
	}
	return names, nil
}

// Each returns the table of the texts of a List, whose column is value.
func (s *Store) Each(list string) string {
	if s.Postgres() {
		return `unnest(CAST(` + list + ` AS text[])) AS "given" ("value")`
	}
	return `json_each(` + list + `)`
}

// scopeHas is the condition that a list of the scope has an id.
func (s *Store) scopeHas(list, id string) string {
	if s.Postgres() {
		return `CAST("scope" -> '` + list + `' AS jsonb) ? ` + id
	}
	return `EXISTS (SELECT 1 FROM json_each("scope", '$.` + list + `') WHERE "value" = ` + id + `)`
}

// read is Query with a transaction, or if that is nil, without.
func (s *Store) read(ctx context.Context, tx *ent.Tx, query string, args []any, scan func(Rows) error) error {
	if tx == nil {
		return s.Query(ctx, query, args, scan)
	}
	return InTx(tx)(ctx, query, args, scan)
}

// made reads the principals that one has made tokens of, that these have made some of, and so on.
const made = `WITH RECURSIVE "reached" ("principal") AS (
SELECT "principal_id" FROM "tokens" WHERE "made_by_id" = $1 AND {own}
UNION {next}
) SELECT "principal" FROM "reached" WHERE "principal" IS NOT NULL`

// madeTexts are the statements of MadeBy by whether the database is PostgreSQL, which would read all tokens for a join.
var madeTexts = map[bool]string{
	false: newMade(`SELECT "t"."principal_id" FROM "reached" AS "r" ` +
		`JOIN "tokens" AS "t" ON "t"."made_by_id" = "r"."principal" AND {t.own}`),
	true: newMade(`SELECT "m"."principal_id" FROM "reached" AS "r" CROSS JOIN LATERAL (
SELECT "t"."principal_id" FROM "tokens" AS "t" WHERE "t"."made_by_id" = "r"."principal" AND {t.own} OFFSET 0) AS "m"`),
}

func newMade(next string) string {
	return strings.NewReplacer(
		"{own}", `("organization_id" = $2 OR "organization_id" IS NULL)`,
		"{t.own}", `("t"."organization_id" = $2 OR "t"."organization_id" IS NULL)`,
	).Replace(strings.Replace(made, "{next}", next, 1))
}

// MadeBy returns the principals of which one has made a token, or one that it has made has, and so on.
func (s *Store) MadeBy(ctx context.Context, principal string) (list []string, err error) {
	err = s.Query(ctx, madeTexts[s.Postgres()], []any{principal, Scope(actor.From(ctx))}, func(rows Rows) error {
		var one string
		err := rows.Scan(&one)
		list = append(list, one)
		return err
	})
	return list, err
}

// ValidPrincipals returns those of some principals that have a valid token of the actor's organization at a time.
func (s *Store) ValidPrincipals(ctx context.Context, principals []string, at time.Time) (valid []string, err error) {
	const good = `("organization_id" = $2 OR "organization_id" IS NULL) ` +
		`AND "revoked_at" IS NULL AND ("expires_at" IS NULL OR "expires_at" > $3)`
	among := `IN (SELECT "value" FROM ` + s.Each("$1") + `)`
	// Servers older than the column leave it out: then a token is a principal of its own.
	query := `SELECT "principal_id" FROM "tokens" WHERE "principal_id" ` + among + ` AND ` + good + `
		UNION SELECT "id" FROM "tokens" WHERE "id" ` + among + ` AND "principal_id" IS NULL AND ` + good
	err = s.Query(ctx, query, []any{s.List(principals), Scope(actor.From(ctx)), at}, func(rows Rows) error {
		var one string
		err := rows.Scan(&one)
		valid = append(valid, one)
		return err
	})
	return valid, err
}
