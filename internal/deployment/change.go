package deployment

import (
	"context"
	"slices"
	"strings"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/journal"
)

type changing func(context.Context, *ent.Tx, *ent.Deployment, *ent.DeploymentUpdateOne, *journal.Entry) error

// change carries out one transition. The version is compared, so that of two transitions at once the
// second sees what the first has done.
func (s *Service) change(ctx context.Context, name string, action access.Action, deploymentID string, f changing) (*ent.Deployment, error) {
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
			if err := access.Check(a, action, fault.DeploymentForbidden); err != nil {
				return err
			}
			e.ObjectID = deploymentID
			u := d.Update().Where(deployment.Version(d.Version)).AddVersion(1).SetUpdatedAt(e.At)
			if err := f(ctx, tx, d, u, e); err != nil {
				return err
			}
			changed, err = u.Save(ctx)
			return err
		})
		switch {
		case ent.IsNotFound(err):
			// Somebody changed it in between: look again.
		case err != nil:
			return nil, err
		default:
			return changed, nil
		}
	}
}

func inState(d *ent.Deployment, done string, allowed ...deployment.Status) error {
	if slices.Contains(allowed, d.Status) {
		return nil
	}
	names := make([]string, len(allowed))
	for i, s := range allowed {
		names[i] = string(s)
	}
	f := fault.New(fault.DeploymentWrongState, "The deployment %s cannot be %s: its status is %s, not %s.",
		d.ID, done, d.Status, strings.Join(names, " or "))
	f.Metadata = map[string]any{"deploymentId": d.ID, "status": string(d.Status)}
	return f
}
