package catalog

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"slipway/internal/base/actor"
	"slipway/internal/base/meter"
	"slipway/internal/data/page"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
)

// LiveOf returns a page of the instances in which a release of each version is live, as a filter has them. Without
// conditions it takes three statements, whatever the number of versions: how many instances their modules have, which
// of these have which version, and the page.
func (s *Service) LiveOf(
	ctx context.Context, versionIDs []string, f InstanceFilter, args page.Args,
) (map[string]*page.ModuleInstanceConnection, error) {
	if f != (InstanceFilter{}) {
		return s.liveEach(ctx, versionIDs, f, args)
	}
	known, err := s.liveByVersion(ctx, versionIDs)
	if err != nil {
		return nil, err
	}
	return page.ReadKnown(ctx, record.ModuleInstances.In(s.Store), page.Parents{
		List: "moduleVersion.liveModuleInstances", Viewer: actor.From(ctx).OrganizationID, IDs: versionIDs,
	}, known, args)
}

// surveyedTogether is how many instances a version's list with conditions counts as, besides those that are looked at:
// it takes statements of its own.
const surveyedTogether = 150

// liveEach is LiveOf for a filter that has conditions or another order, one version after the other.
func (s *Service) liveEach(
	ctx context.Context, versionIDs []string, f InstanceFilter, args page.Args,
) (map[string]*page.ModuleInstanceConnection, error) {
	pages := make(map[string]*page.ModuleInstanceConnection, len(versionIDs))
	for _, id := range versionIDs {
		if err := meter.Spend(ctx, meter.Surveyed, surveyedTogether); err != nil {
			return nil, err
		}
		of := f
		if f.LiveModuleVersionID != nil && *f.LiveModuleVersionID != id {
			of.EnvironmentID = new("") // no instance has two live versions
		}
		of.LiveModuleVersionID = &id
		c, err := s.Instances(ctx, of, args)
		if err != nil {
			return nil, err
		}
		pages[id] = c
	}
	return pages, nil
}

// ofModules is the condition of the instances of some versions' modules in which something is live.
const ofModules = `"i"."organization_id" = $2 AND "i"."live_deployment_id" IS NOT NULL AND "i"."archived_at" IS NULL
AND "i"."module_definition_id" IN (SELECT "v"."module_definition_id" FROM "module_versions" AS "v" WHERE "v"."id" %s
	AND ("v"."organization_id" = $2 OR "v"."organization_id" IS NULL))`

// liveByVersion returns the ids of the instances in which each version is live, the newest first. To look at what is
// live in each instance of the modules is work of the context's request.
func (s *Service) liveByVersion(ctx context.Context, versionIDs []string) (map[string][]string, error) {
	among := `IN (SELECT "value" FROM json_each($1))`
	if s.Store.Postgres() {
		among = `= ANY ($1)`
	}
	where := fmt.Sprintf(ofModules, among)
	args := []any{s.Store.List(versionIDs), store.Scope(actor.From(ctx))}

	n := 0
	counted := `SELECT COUNT(*) FROM "module_instances" AS "i" WHERE ` + where
	if err := s.Store.Query(ctx, counted, args, func(row store.Rows) error { return row.Scan(&n) }); err != nil {
		return nil, err
	}
	if err := meter.Spend(ctx, meter.Surveyed, n); err != nil {
		return nil, err
	}

	live := map[string][]string{}
	text := `SELECT "d"."module_version_id", "i"."id" FROM "module_instances" AS "i"
JOIN "deployments" AS "d" ON "d"."id" = "i"."live_deployment_id" AND "d"."organization_id" = "i"."organization_id"
WHERE ` + where + ` AND "d"."module_version_id" ` + among
	err := s.Store.Query(ctx, text, args, func(row store.Rows) error {
		var versionID, instanceID string
		err := row.Scan(&versionID, &instanceID)
		live[versionID] = append(live[versionID], instanceID)
		return cmp.Or(err, meter.Err(ctx))
	})
	for _, ids := range live {
		slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(b, a) })
	}
	return live, err
}
