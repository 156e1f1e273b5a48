package view

import (
	"context"

	"slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/meter"
	"slipway/internal/data/page"
	"slipway/internal/data/record"
)

// AutomaticOf returns the rollback that the failure of each deployment of the ids has made, if there is one.
func (s *Service) AutomaticOf(ctx context.Context, ids []string) (map[string]*record.Deployment, error) {
	found, err := s.Store.Client.Deployment.Query().
		Where(deployment.AfterFailureOfIn(ids...), deployment.AfterFailureOfNotNil()).All(ctx)
	of := make(map[string]*record.Deployment, len(found))
	for _, d := range found {
		of[*d.AfterFailureOf] = (*record.Deployment)(d)
	}
	return of, err
}

// maxLineage is how many deployments a lineage has at most, the nearest.
const maxLineage = 100

// LineagesOf returns a page of what each deployment replays, what that replayed and so on, the nearest first, of 100 at
// most. It takes two statements however many ids there are. Each step back is work of the context's request.
func (s *Service) LineagesOf(
	ctx context.Context, ids []string, args page.Args,
) (map[string]*page.DeploymentConnection, error) {
	links, err := s.Store.Lineage(ctx, ids, maxLineage)
	if err == nil {
		err = meter.Spend(ctx, meter.Searched, len(links))
	}
	if err != nil {
		return nil, err
	}

	lines := make(map[string][]string, len(ids))
	for _, l := range links {
		lines[l.Of] = append(lines[l.Of], l.ID)
	}
	of := page.Parents{List: "deployment.lineage", Viewer: actor.From(ctx).OrganizationID, IDs: ids}
	return page.ReadListed(ctx, record.Deployments.In(s.Store), of, lines, args)
}
