package figures

import (
	"context"
	"strings"

	"slipway/internal/base/actor"
	"slipway/internal/base/meter"
	"slipway/internal/data/store"
)

// Instances is how many instances of a place are in some states; archived ones do not count. An instance may be in
// several states.
type Instances struct {
	Total int32
	// Live have a live deployment, Active one that is PENDING or RUNNING, and AwaitingApproval one that waits for
	// approvals. The newest deployment of those that Failed is FAILED, and Drifted ones have drift.
	Live, Active, AwaitingApproval, Failed, Drifted int32
}

// heldText counts the instances of places, archived ones too, for what it takes to look at each.
const heldText = `SELECT COUNT(*) FROM "module_instances" AS "i" WHERE {among}`

// instancesText looks along an index for what is under way in each instance and for its newest deployment. To group the
// deployments instead would read all that have ever been.
var instancesText = `SELECT {place}, COUNT(*), COUNT("i"."live_deployment_id"), COUNT("i"."drift_kind"),
SUM(CASE WHEN EXISTS (SELECT 1 {of} AND ` + store.InProgress(`"d".`) + `) THEN 1 ELSE 0 END),
SUM(CASE WHEN EXISTS (SELECT 1 {of} AND "d"."status" = 'AWAITING_APPROVAL') THEN 1 ELSE 0 END),
SUM(CASE WHEN (SELECT "d"."status" {of} ORDER BY "d"."created_at" DESC, "d"."id" DESC LIMIT 1) = 'FAILED'
	THEN 1 ELSE 0 END)
FROM "module_instances" AS "i" WHERE {among} AND "i"."archived_at" IS NULL GROUP BY {place}`

// ofInstance are the deployments of the instance.
const ofInstance = `FROM "deployments" AS "d" WHERE "d"."organization_id" = "i"."organization_id"
AND "d"."module_instance_id" = "i"."id"`

// InstancesOf counts the instances of places by their state. Column is that of module_instances which has the ids of
// the places.
func (s *Service) InstancesOf(ctx context.Context, column string, ids []string) (map[string]*Instances, error) {
	place := `"i"."` + column + `"`
	text := func(of string) string {
		return strings.NewReplacer(
			"{place}", place, "{of}", ofInstance,
			"{among}", store.Among(place, `"i"."organization_id"`, s.Store.Postgres()),
		).Replace(of)
	}
	args := []any{s.Store.List(ids), store.Scope(actor.From(ctx))}

	held := 0
	err := s.Store.Query(ctx, text(heldText), args, func(row store.Rows) error { return row.Scan(&held) })
	if err != nil {
		return nil, err
	}
	if err := meter.Spend(ctx, meter.Surveyed, held); err != nil {
		return nil, err
	}

	counts := make(map[string]*Instances, len(ids))
	for _, id := range ids {
		counts[id] = &Instances{}
	}
	err = s.Store.Query(ctx, text(instancesText), args, func(row store.Rows) error {
		var id string
		var n Instances
		err := row.Scan(&id, &n.Total, &n.Live, &n.Drifted, &n.Active, &n.AwaitingApproval, &n.Failed)
		counts[id] = &n
		return err
	})
	return counts, err
}
