package graph

import (
	"context"
	"slices"

	"slipway/internal/base/actor"
	"slipway/internal/base/meter"
)

// loadScoped loads the records of one list of ids of a scope, in its order and without those that no longer exist.
func loadScoped[C any](
	ctx context.Context, scope *actor.Scope, field string, list func(*actor.Scope) []string,
	read func(context.Context, []string) ([]*C, error), idOf func(*C) string,
) ([]*C, error) {
	b, err := batchOf(ctx, scope)
	if err != nil {
		return nil, err
	}

	byID, err := readOnce(b, field, func(scopes []*actor.Scope) (map[string]*C, error) {
		var wanted []string
		for _, s := range scopes {
			wanted = append(wanted, list(s)...)
		}
		slices.Sort(wanted)
		wanted = slices.Compact(wanted)
		if err := meter.Spend(ctx, meter.Searched, len(wanted)); err != nil {
			return nil, err
		}

		records, err := read(ctx, wanted)
		if err != nil {
			return nil, err
		}
		registerBatch(ctx, records)
		byID := make(map[string]*C, len(records))
		for _, r := range records {
			byID[idOf(r)] = r
		}
		return byID, nil
	})
	if err != nil {
		return nil, err
	}

	found := make([]*C, 0, len(list(scope)))
	for _, id := range list(scope) {
		if r := byID[id]; r != nil {
			found = append(found, r)
		}
	}
	return found, nil
}
