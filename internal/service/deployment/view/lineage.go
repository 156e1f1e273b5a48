package view

import (
	"context"

	"slipway/ent/deployment"
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

// Lineages returns what each deployment replays, what that replayed and so on, the nearest first, at most
// 100. It takes two statements however many ids there are.
func (s *Service) Lineages(ctx context.Context, ids []string) (map[string][]*record.Deployment, error) {
	links, err := s.Store.Lineage(ctx, ids, maxLineage)
	if err != nil || len(links) == 0 {
		return nil, err
	}

	wanted := make([]string, 0, len(links))
	seen := make(map[string]*record.Deployment, len(links))
	for _, l := range links {
		if _, twice := seen[l.ID]; !twice {
			seen[l.ID] = nil
			wanted = append(wanted, l.ID)
		}
	}

	list, err := s.DeploymentsByID(ctx, wanted)
	if err != nil {
		return nil, err
	}

	for _, d := range list {
		seen[d.ID] = d
	}

	lines := make(map[string][]*record.Deployment, len(ids))
	for _, l := range links {
		if d := seen[l.ID]; d != nil {
			lines[l.Of] = append(lines[l.Of], d)
		}
	}

	return lines, nil
}
