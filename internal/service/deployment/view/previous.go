package view

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/base/meter"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
	"slipway/internal/service/deployment/state"
)

const (
	// previousAtOnce is for how many instances one statement looks.
	previousAtOnce = 50
	// maxCandidates is how many earlier successes of an instance are looked at, the newest.
	maxCandidates = 50
)

// PreviousOf returns, for each instance of the ids, the deployment that a rollback goes back to: the newest success of
// another release than the live one, from before the live release first succeeded there. So two rollbacks go two steps
// back, and not forth again. It passes over what is quarantined or was taken back by the cloud, and looks at 50 of them
// at most. Each that it looks at is work of the context's request.
func (s *Service) PreviousOf(ctx context.Context, instanceIDs []string) (map[string]*record.Deployment, error) {
	begins, err := s.firstOfLive(ctx, instanceIDs)
	if err != nil {
		return nil, err
	}
	var ids []string // of all instances, each instance's newest first
	instanceOf := map[string]string{}
	for part := range slices.Chunk(begins, previousAtOnce) {
		err := s.earlierThan(ctx, part, func(instanceID, id string) {
			ids, instanceOf[id] = append(ids, id), instanceID
		})
		if err != nil {
			return nil, err
		}
	}
	if err := meter.Spend(ctx, meter.Searched, len(ids)); err != nil {
		return nil, err
	}

	good, err := s.Releases.OnlyGood(ctx, ids, s.Journal.Now())
	if err != nil {
		return nil, err
	}
	newest := map[string]string{} // the ids by their instances
	for _, id := range slices.Backward(good) {
		newest[instanceOf[id]] = id
	}

	list, err := s.DeploymentsByID(ctx, slices.Sorted(maps.Values(newest)))
	of := make(map[string]*record.Deployment, len(list))
	for _, d := range list {
		of[instanceOf[d.ID]] = d
	}
	return of, err
}

// firstSuccess is the first success of the release that is live in an instance.
type firstSuccess struct {
	instanceID, releaseID, id string
	at                        time.Time
}

// firstSuccessTexts read, for instances by their ids, the first success of the live release there; by whether the
// database is PostgreSQL, for the reasons of stayTexts.
var firstSuccessTexts = map[bool]string{
	false: strings.Replace(firstSuccessText, "{first}",
		`JOIN "deployments" AS "f" ON "f"."id" = (SELECT "m"."id" `+firstOfRelease+
			`) AND "f"."organization_id" = "i"."organization_id"`, 1),
	true: strings.Replace(firstSuccessText, "{first}", `CROSS JOIN LATERAL (SELECT "m"."id", "m"."created_at"
`+firstOfRelease+`) AS "f"`, 1),
}

const firstOfRelease = `FROM "deployments" AS "m" WHERE "m"."organization_id" = "i"."organization_id" AND
"m"."release_id" = "l"."release_id"
	AND "m"."module_instance_id" = "i"."id" AND "m"."status" = 'SUCCEEDED' AND "m"."trigger_source" <> '` +
	state.TriggerDestroy + `'
	ORDER BY "m"."created_at", "m"."id" LIMIT 1`

const firstSuccessText = `SELECT "i"."id", "l"."release_id", "f"."id", "f"."created_at" FROM "module_instances" AS "i"
JOIN "deployments" AS "l" ON "l"."id" = "i"."live_deployment_id" AND "l"."organization_id" = "i"."organization_id"
{first}
WHERE "l"."release_id" IS NOT NULL AND `

func (s *Service) firstOfLive(ctx context.Context, instanceIDs []string) (list []firstSuccess, err error) {
	text := firstSuccessTexts[s.Store.Postgres()] + store.Among(`"i"."id"`, `"i"."organization_id"`, s.Store.Postgres())
	args := []any{s.Store.List(instanceIDs), store.Scope(actor.From(ctx))}
	err = s.Store.Query(ctx, text, args, func(row store.Rows) error {
		var first firstSuccess
		err := row.Scan(&first.instanceID, &first.releaseID, &first.id, &first.at)
		list = append(list, first)
		return err
	})
	return list, err
}

// earlierOf reads an instance's successes of other releases that come before one, the newest first.
var earlierOf = fmt.Sprintf(`SELECT * FROM (SELECT "module_instance_id", "id", "created_at" FROM "deployments"
WHERE "organization_id" = $1 AND "module_instance_id" = {instance} AND "status" = 'SUCCEEDED'
AND "trigger_source" <> '%s' AND "release_id" <> {release} AND ("created_at", "id") < ({at}, {id})
ORDER BY "created_at" DESC, "id" DESC LIMIT %d) AS "of"`, state.TriggerDestroy, maxCandidates)

// earlierThan calls found with the successes that come before the first of what is live, the newest first.
func (s *Service) earlierThan(ctx context.Context, firsts []firstSuccess, found func(instanceID, id string)) error {
	parts, args := make([]string, len(firsts)), []any{store.Scope(actor.From(ctx))}
	for i, first := range firsts {
		at := func(k int) string { return fmt.Sprintf("$%d", len(args)+k) }
		parts[i] = strings.NewReplacer("{instance}", at(1), "{release}", at(2), "{at}", at(3), "{id}", at(4)).
			Replace(earlierOf)
		args = append(args, first.instanceID, first.releaseID, first.at.UTC(), first.id)
	}
	text := `SELECT "module_instance_id", "id" FROM (` + strings.Join(parts, " UNION ALL ") +
		`) AS "all" ORDER BY "created_at" DESC, "id" DESC`
	return s.Store.Query(ctx, text, args, func(row store.Rows) error {
		var instanceID, id string
		err := row.Scan(&instanceID, &id)
		found(instanceID, id)
		return err
	})
}
