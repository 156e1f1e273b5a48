package deployment

import (
	"context"
	"errors"

	"slipway/ent"
)

// Lineages gives what each deployment replays, what that replayed and so on, the nearest first.
func (s *Service) Lineages(ctx context.Context, ids []string) (map[string][]*ent.Deployment, error) {
	return nil, errors.New("not built")
}
