package deployment

import (
	"context"
	"errors"

	"slipway/ent"
	"slipway/internal/release"
)

// Comparison is what differs between what two deployments ship.
type Comparison struct {
	From, To               *ent.Deployment
	SameRelease            bool
	FromVersion, ToVersion *ent.ModuleVersion
	// Inputs and Artifact are what differs from the one to the other, leaf by leaf.
	Inputs, Artifact []release.Change
}

// Compare gives what differs between what two deployments ship.
func (s *Service) Compare(ctx context.Context, fromID, toID string) (*Comparison, error) {
	return nil, errors.New("not built")
}
