package figures

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
	"slipway/internal/data/store"
	"slipway/internal/service/deployment/state"
)

// maxRuns is how many deployments statistics are made of at most.
const maxRuns = 100_000

// createdText is the condition of deployments that were created in a period.
const createdText = `"d"."created_at" >= $1 AND "d"."created_at" < $2 AND "d"."organization_id" = $3`

// read returns the deployments of places, or of the whole organization if there is no column, that were created in a
// period. It counts them first.
func (s *Service) read(ctx context.Context, column string, ids []string, p Period) ([]run, error) {
	place, where := `''`, createdText
	args := []any{p.begins[0], p.before, store.Scope(actor.From(ctx))}
	if column != "" {
		place = `"d"."` + column + `"`
		where += ` AND ` + place + s.among("$4")
		args = append(args, s.Store.List(ids))
	}

	n := 0
	counted := fmt.Sprintf(`SELECT COUNT(*) FROM (SELECT 1 FROM "deployments" AS "d" WHERE %s LIMIT %d) AS "counted"`,
		where, maxRuns+1)
	if err := s.Store.Query(ctx, counted, args, func(row store.Rows) error { return row.Scan(&n) }); err != nil {
		return nil, err
	}
	if err := meter.Spend(ctx, meter.Tallied, n); err != nil {
		return nil, err
	}
	if n > maxRuns {
		return nil, fault.New(
			fault.RequestInvalid, "More than %d deployments were created from %s to %s; ask for a shorter period.", maxRuns,
			p.begins[0].Format(time.RFC3339), p.before.Format(time.RFC3339),
		)
	}

	runs := make([]run, 0, n)
	text := `SELECT ` + place + `, "d"."module_instance_id", "d"."status", "d"."trigger_source", "d"."release_id",
"d"."created_at", "d"."started_at", "d"."completed_at"
FROM "deployments" AS "d" WHERE ` + where + ` AND "d"."trigger_source" <> '` + state.TriggerEvent + `'`
	err := s.Store.Query(ctx, text, args, func(row store.Rows) error {
		var r run
		err := row.Scan(
			&r.placeID, &r.instanceID, &r.status, &r.trigger, &r.releaseID, &r.createdAt, &r.startedAt, &r.completedAt,
		)
		if err != nil {
			return err
		}
		runs = append(runs, r)
		return meter.Err(ctx)
	})
	return runs, err
}

// laterText reads the first success of an instance that ships something and was created at or after a time.
const laterText = `FROM "deployments" AS "d"
WHERE "d"."organization_id" = $2 AND "d"."module_instance_id" = "given"."value" AND "d"."status" = 'SUCCEEDED'
AND "d"."trigger_source" NOT IN ('` + state.TriggerEvent + `', '` + state.TriggerDestroy + `')
AND "d"."created_at" >= $3 ORDER BY "d"."created_at", "d"."id" LIMIT 1`

// laterTexts are the statement by whether the database is PostgreSQL. SQLite has no LATERAL.
var laterTexts = map[bool]string{
	false: `SELECT "n"."module_instance_id", "n"."trigger_source", "n"."release_id", "n"."completed_at"
FROM {given} CROSS JOIN "deployments" AS "n" ON "n"."id" = (SELECT "d"."id" ` + laterText + `)
WHERE "n"."organization_id" = $2`,
	true: `SELECT "given"."value", "n"."trigger_source", "n"."release_id", "n"."completed_at"
FROM {given}
CROSS JOIN LATERAL (SELECT "d"."trigger_source", "d"."release_id", "d"."completed_at" ` + laterText + `) AS "n"`,
}

// laterSuccesses returns the first success after a period of each instance, for what had not come back within it and
// for what was rolled back later.
func (s *Service) laterSuccesses(
	ctx context.Context, courses map[string][]run, p Period,
) (map[string][]run, error) {
	if p.open || len(courses) == 0 {
		return nil, nil
	}
	ids := slices.Sorted(maps.Keys(courses))
	if err := meter.Spend(ctx, meter.Surveyed, len(ids)); err != nil {
		return nil, err
	}

	given := s.Store.Each("$1")
	if !s.Store.Postgres() {
		given += ` AS "given"`
	}
	text := strings.ReplaceAll(laterTexts[s.Store.Postgres()], "{given}", given)
	args := []any{s.Store.List(ids), store.Scope(actor.From(ctx)), p.before}

	later := make(map[string][]run, len(ids))
	err := s.Store.Query(ctx, text, args, func(row store.Rows) error {
		r := run{status: "SUCCEEDED", later: true}
		err := row.Scan(&r.instanceID, &r.trigger, &r.releaseID, &r.completedAt)
		if r.completedAt != nil {
			later[r.instanceID] = append(later[r.instanceID], r)
		}
		return err
	})
	return later, err
}

// among is the comparison with the texts of an argument, which is a List.
func (s *Service) among(list string) string {
	if s.Store.Postgres() {
		return ` = ANY (` + list + `)`
	}
	return ` IN (SELECT "value" FROM json_each(` + list + `))`
}
