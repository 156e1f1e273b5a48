package view

import (
	"context"

	"slipway/ent/deployment"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
)

// ActiveOf returns the active deployment of each module instance that has one.
func (s *Service) ActiveOf(ctx context.Context, instanceIDs []string) (map[string]*record.Deployment, error) {
	return s.newestOf(ctx, instanceIDs, record.Where(store.InProgress("")))
}

// LastOf returns the newest deployment of each module instance that has some.
func (s *Service) LastOf(ctx context.Context, instanceIDs []string) (map[string]*record.Deployment, error) {
	return s.newestOf(ctx, instanceIDs)
}

// newestOf returns the newest deployment of each module instance among those that meet conditions.
func (s *Service) newestOf(
	ctx context.Context, instanceIDs []string, conditions ...record.Condition,
) (map[string]*record.Deployment, error) {
	lists, err := record.Deployments.In(s.Store).Where(conditions...).
		Children(
			ctx, deployment.FieldModuleInstanceID, instanceIDs, record.Range{Limit: 1},
			func(d *record.Deployment) string { return d.ModuleInstanceID },
		)
	newest := make(map[string]*record.Deployment, len(lists))
	for id, list := range lists {
		newest[id] = list[0]
	}
	return newest, err
}

// Count is how many deployments are in a status, at least one.
type Count struct {
	Status deployment.Status
	Count  int32
}

// statuses are those of deployments, in the order in which they are counted.
var statuses = []deployment.Status{
	deployment.StatusAWAITING_APPROVAL, deployment.StatusPENDING, deployment.StatusRUNNING, deployment.StatusSUCCEEDED,
	deployment.StatusFAILED, deployment.StatusCANCELED,
}

// CountsOf returns how many deployments each module instance has in each status.
func (s *Service) CountsOf(ctx context.Context, instanceIDs []string) (map[string][]*Count, error) {
	found, err := record.Deployments.In(s.Store).
		CountEach(ctx, deployment.FieldModuleInstanceID, instanceIDs, deployment.FieldStatus)
	if err != nil {
		return nil, err
	}
	counts := make(map[string][]*Count, len(instanceIDs))
	for _, id := range instanceIDs {
		counts[id] = []*Count{}
		for _, status := range statuses {
			if n := found[id][string(status)]; n > 0 {
				counts[id] = append(counts[id], &Count{status, int32(n)})
			}
		}
	}
	return counts, nil
}
