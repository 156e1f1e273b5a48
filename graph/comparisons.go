package graph

import (
	"context"

	"slipway/internal/data/record"
	"slipway/internal/service/deployment/releases"
)

// comparison returns how two deployments differ.
func comparison(ctx context.Context, r *Resolver, from, to string) (*releases.Comparison, error) {
	c, err := r.Deploy.Releases.Compare(ctx, from, to)
	if err != nil {
		return nil, err
	}
	registerComparisons(ctx, []*releases.Comparison{c})
	registerBatch(ctx, []*record.Deployment{c.To})
	return c, nil
}

// changesFromLive returns how a deployment differs from what is live in its instance, nil if it ships no release.
func changesFromLive(ctx context.Context, r *Resolver, d *record.Deployment) (*releases.Comparison, error) {
	b, err := batchOf(ctx, d)
	if err != nil {
		return nil, err
	}
	of, err := readOnce(b, "changesFromLive", func(list []*record.Deployment) (map[string]releases.Compared, error) {
		of, err := r.Deploy.Releases.ChangesFromLive(ctx, list)
		var all []*releases.Comparison
		for _, c := range of {
			if c.Comparison != nil {
				all = append(all, c.Comparison)
			}
		}
		registerComparisons(ctx, all)
		return of, err
	})
	if err != nil {
		return nil, err
	}
	found := of[d.ID]
	return found.Comparison, found.Err
}

// registerComparisons makes comparisons a batch, and what they compare from another.
func registerComparisons(ctx context.Context, list []*releases.Comparison) {
	registerBatch(ctx, list)
	var from []*record.Deployment
	seen := map[*record.Deployment]bool{}
	for _, c := range list {
		if c.From != nil && !seen[c.From] {
			seen[c.From], from = true, append(from, c.From)
		}
	}
	registerBatch(ctx, from)
}
