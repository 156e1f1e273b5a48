package deployment

import (
	"context"
	"strconv"

	"slipway/ent"
	"slipway/internal/store"
)

// purge removes what find gives, in batches, each organization's in a transaction of its own.
func purge(
	ctx context.Context, s *store.Store,
	find func(context.Context) ([]store.OwnedID, error),
	remove func(context.Context, *ent.Tx, []string) (int, error),
) (purged int, err error) {
	for {
		found, err := find(system(ctx, ""))
		if err != nil {
			return purged, err
		}
		removed := 0
		for organization, ids := range byOrganization(found) {
			var n int
			err := s.Tx(system(ctx, organization), repeatable, func(ctx context.Context, tx *ent.Tx) (err error) {
				n, err = remove(ctx, tx, ids)
				return err
			})
			if err != nil {
				return purged + removed, err
			}
			removed += n
		}
		purged += removed
		// Where others have removed what was found, they go on.
		if len(found) < batch || removed == 0 {
			return purged, nil
		}
	}
}

// repeatable is the probe of a transaction that does no harm when it runs twice.
func repeatable(context.Context, *ent.Client) (bool, error) { return false, nil }

func byOrganization(list []store.OwnedID) map[string][]string {
	ids := map[string][]string{}
	for _, one := range list {
		ids[one.OrganizationID] = append(ids[one.OrganizationID], one.ID)
	}
	return ids
}

func numbersOf(texts []string) ([]int64, error) {
	numbers := make([]int64, len(texts))
	for i, text := range texts {
		var err error
		if numbers[i], err = strconv.ParseInt(text, 10, 64); err != nil {
			return nil, err
		}
	}
	return numbers, nil
}
