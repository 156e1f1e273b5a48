package view

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"slipway/ent"
	"slipway/ent/moduleinstance"
	"slipway/internal/base/actor"
	"slipway/internal/base/meter"
	"slipway/internal/data/page"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
	"slipway/internal/pure/gate"
	"slipway/internal/service/rule"
)

// maxPromotable is how many deployments are named that could be promoted to an instance.
const maxPromotable = 50

// PromotableOf returns, for each instance of the ids, a page of what could be promoted to it: the live deployments of
// the other instances of its module that are not archived, in the environments that a rule names which binds promotions
// there, or where none does in its project; at most 50, those of the newest instances first. Each that is looked at is
// work of the context's request.
func (s *Service) PromotableOf(
	ctx context.Context, ids []string, args page.Args,
) (map[string]*page.DeploymentConnection, error) {
	targets, err := s.Store.Client.ModuleInstance.Query().Where(moduleinstance.IDIn(ids...)).All(ctx)
	if err != nil {
		return nil, err
	}
	rules, err := rule.All(ctx, s.Store.Query, s.Store.Postgres())
	if err != nil {
		return nil, err
	}

	liveIDs := map[string][]string{}
	var all []string
	for part := range slices.Chunk(targets, promotableAtOnce) {
		text, args := s.promotableText(part, rules)
		err := s.Store.Query(ctx, text, append([]any{store.Scope(actor.From(ctx))}, args...), func(row store.Rows) error {
			var targetID, liveID string
			err := row.Scan(&targetID, &liveID)
			liveIDs[targetID], all = append(liveIDs[targetID], liveID), append(all, liveID)
			return cmp.Or(err, meter.Spend(ctx, meter.Searched, 1))
		})
		if err != nil {
			return nil, err
		}
	}

	good, err := s.Releases.OnlyGood(ctx, all, s.Journal.Now())
	if err != nil {
		return nil, err
	}
	isGood := make(map[string]bool, len(good))
	for _, id := range good {
		isGood[id] = true
	}
	for id, list := range liveIDs {
		liveIDs[id] = slices.DeleteFunc(list, func(id string) bool { return !isGood[id] })
	}

	of := page.Parents{List: "moduleInstance.promotable", Viewer: actor.From(ctx).OrganizationID, IDs: ids}
	return page.ReadListed(ctx, record.Deployments.In(s.Store), of, liveIDs, args)
}

// promotableAtOnce is for how many instances one statement looks.
const promotableAtOnce = 50

// promotableTo reads what could be promoted to one target.
var promotableTo = fmt.Sprintf(`SELECT * FROM (
SELECT CAST({target} AS text) AS "target", "live_deployment_id", "created_at", "id" FROM "module_instances"
WHERE "organization_id" = $1 AND "module_definition_id" = {module} AND "id" <> {target} AND "live_deployment_id" IS NOT
NULL AND "archived_at" IS NULL
AND {from}
ORDER BY "created_at" DESC, "id" DESC LIMIT %d) AS "of"`, maxPromotable)

// promotableText returns the statement that reads for each target the live deployments of its neighbours, the newest
// first, and its arguments after the first, which is the organization.
func (s *Service) promotableText(targets []*ent.ModuleInstance, rules []*ent.Rule) (text string, args []any) {
	parts := make([]string, len(targets))
	for i, target := range targets {
		at := func(k int) string { return fmt.Sprintf("$%d", len(args)+1+k) }
		// One condition alone, for which there is an index: of a module there may be many instances elsewhere.
		from, of := `"project_id" = `+at(3), any(target.ProjectID)
		if environmentIDs := promotedFrom(rules, target); len(environmentIDs) > 0 {
			from, of = `"environment_id" IN (SELECT "value" FROM `+s.Store.Each(at(3))+`)`, s.Store.List(environmentIDs)
		}
		parts[i] = strings.NewReplacer("{target}", at(1), "{module}", at(2), "{from}", from).Replace(promotableTo)
		args = append(args, target.ID, target.ModuleDefinitionID, of)
	}
	return `SELECT "target", "live_deployment_id" FROM (` + strings.Join(parts, " UNION ALL ") +
		`) AS "all" ORDER BY "created_at" DESC, "id" DESC`, args
}

// promotedFrom returns the environments from which the rules demand that what is promoted to an instance comes, nil for
// none.
func promotedFrom(rules []*ent.Rule, to *ent.ModuleInstance) (environmentIDs []string) {
	for _, r := range rule.In(rules, actor.Place{ProjectID: to.ProjectID, EnvironmentID: to.EnvironmentID}) {
		if demand, ok := r.Demand.Kind.(*gate.LiveIn); ok && r.Binds(gate.Promote) {
			environmentIDs = append(environmentIDs, demand.EnvironmentIDs...)
		}
	}
	return environmentIDs
}
