package deployment

import (
	"context"
	"time"

	"slipway/ent"
)

// lookAgain is how long a change that another server has made may stay unseen.
const lookAgain = 2 * time.Second

// Changed is a deployment that has changed, or why it cannot be followed any more.
type Changed struct {
	Deployment *ent.Deployment
	Err        error
}

// Follow gives a deployment as it is now, and again after each change until it has ended or ctx ends;
// the channel is closed then. Changes that follow each other fast come as one. It gives
// DeploymentNotFound and DeploymentForbidden. What fails later is the last item.
func (s *Service) Follow(ctx context.Context, deploymentID string) (<-chan *Changed, error) {
	woken, stop := s.Feed.Follow(deploymentID)
	d, err := s.Deployment(ctx, deploymentID)
	if err != nil {
		stop()
		return nil, err
	}
	changes := make(chan *Changed)
	go func() {
		defer close(changes)
		defer stop()
		look := time.NewTicker(lookAgain)
		defer look.Stop()
		for last := int32(0); ; {
			if err != nil || d.Version > last {
				select {
				case changes <- &Changed{d, err}:
				case <-ctx.Done():
					return
				}
			}
			if err != nil || d.CompletedAt != nil {
				return
			}
			last = d.Version
			select {
			case <-woken:
			case <-look.C:
			case <-ctx.Done():
				return
			}
			d, err = s.Deployment(ctx, deploymentID)
			if ctx.Err() != nil {
				return
			}
		}
	}()
	return changes, nil
}
