package deployment

import (
	"context"

	"slipway/ent"
)

// mostLineage is how many deployments a lineage has at most, the nearest.
const mostLineage = 100

// Lineages gives what each deployment replays, what that replayed and so on, the nearest first, at most
// 100. It takes two statements however many ids there are.
func (s *Service) Lineages(ctx context.Context, ids []string) (map[string][]*ent.Deployment, error) {
	links, err := s.Store.Lineage(ctx, ids, mostLineage)
	if err != nil || len(links) == 0 {
		return nil, err
	}
	wanted := make([]string, 0, len(links))
	seen := make(map[string]*ent.Deployment, len(links))
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
	lines := make(map[string][]*ent.Deployment, len(ids))
	for _, l := range links {
		if d := seen[l.ID]; d != nil {
			lines[l.Of] = append(lines[l.Of], d)
		}
	}
	return lines, nil
}
