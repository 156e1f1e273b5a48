package view

import (
	"context"
	"fmt"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/data/store"
)

// lateAfter is how long after its end a lease counts as late. A sweep ends leases every second.
const lateAfter = 30 * time.Second

// Counts returns the numbers of all organizations that metrics show.
func (s *Service) Counts(ctx context.Context) (store.Counts, error) {
	now, err := s.Journal.Clock(ctx)
	if err != nil {
		return store.Counts{}, fmt.Errorf("count: %w", err)
	}
	return s.Store.Count(actor.WithServer(ctx, ""), now, lateAfter)
}
