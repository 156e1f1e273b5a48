package deployment

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/journal"
	"slipway/internal/record"
	"slipway/internal/store"
)

// transitionFunc makes one transition: it checks the deployment as it is, and sets in the update what is to
// change. Where it sets SkipAudit in the entry, nothing is changed.
type transitionFunc func(context.Context, *ent.Tx, *ent.Deployment, *ent.DeploymentUpdateOne, *journal.Entry) error

// transition carries out one transition. The version is compared, so that of two transitions at once the
// second sees what the first has done.
func (s *Service) transition(ctx context.Context, name string, action access.Action, deploymentID string, f transitionFunc) (*ent.Deployment, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.DeploymentForbidden); err != nil {
		return nil, err
	}
	var changed *ent.Deployment
	for {
		err := s.Journal.Write(ctx, name, func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
			d, err := find(ctx, tx.Deployment, deploymentID)
			if err != nil {
				return err
			}
			if err := access.CheckIn(a, action, placeOf(d), fault.DeploymentForbidden); err != nil {
				return err
			}
			e.ObjectID = deploymentID
			u := d.Update().Where(deployment.Version(d.Version)).AddVersion(1).SetUpdatedAt(e.At)
			if err := f(ctx, tx, d, u, e); err != nil {
				return err
			}
			if e.SkipAudit {
				changed = d
				return nil
			}
			changed, err = u.Save(ctx)
			e.Changed = changed
			return err
		})
		switch {
		case ent.IsNotFound(err), store.IsUniqueViolation(err):
			// Somebody changed it in between, or wrote down the same success: look again.
		case err != nil:
			return nil, err
		default:
			s.Feed.Changed(deploymentID)
			if changed.CompletedAt != nil {
				s.LogSignals.Changed(deploymentID)
			}
			return changed, nil
		}
	}
}

func checkStatus(d *ent.Deployment, done string, allowed ...deployment.Status) error {
	if slices.Contains(allowed, d.Status) {
		return nil
	}
	names := make([]string, len(allowed))
	for i, s := range allowed {
		names[i] = string(s)
	}
	return wrongState(d, done, fmt.Sprintf("its status is %s, not %s", d.Status, strings.Join(names, " or ")))
}

func wrongState(d *ent.Deployment, done, why string) *fault.Error {
	f := fault.New(fault.DeploymentWrongState, "The deployment %s cannot be %s: %s.", d.ID, done, why)
	f.Metadata = map[string]any{"deploymentId": d.ID, "status": string(d.Status)}
	return f
}

// pollInterval is how long a change that another server has made may stay unseen.
const pollInterval = 2 * time.Second

// Changed is a deployment that has changed, or why it cannot be followed any more.
type Changed struct {
	Deployment *record.Deployment
	Err        error
}

// Follow returns a deployment as it is now, and again after each change until it has ended or ctx ends;
// the channel is closed then. Changes that follow each other fast come as one. It fails with
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
		look := time.NewTicker(pollInterval)
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
