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
	"slipway/internal/store"
)

// changing makes one transition: it judges the deployment as it is, and says in the update how it is to
// be. Where it sets the entry Silent, nothing is changed.
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
			if err := access.CheckIn(a, action, placeOf(d), fault.DeploymentForbidden); err != nil {
				return err
			}
			e.ObjectID = deploymentID
			u := d.Update().Where(deployment.Version(d.Version)).AddVersion(1).SetUpdatedAt(e.At)
			if err := f(ctx, tx, d, u, e); err != nil {
				return err
			}
			if e.Silent {
				changed = d
				return nil
			}
			if changed, err = u.Save(ctx); err != nil {
				return err
			}
			return tell(ctx, tx, changed)
		})
		switch {
		case ent.IsNotFound(err), store.IsUniqueViolation(err):
			// Somebody changed it in between, or wrote down the same success: look again.
		case err != nil:
			return nil, err
		default:
			s.Feed.Changed(deploymentID)
			return changed, nil
		}
	}
}

// tell writes the change row of a deployment, for those who follow it.
func tell(ctx context.Context, tx *ent.Tx, d *ent.Deployment) error {
	return tx.DeploymentChange.Create().
		SetOrganizationID(d.OrganizationID).SetDeploymentID(d.ID).SetVersion(d.Version).SetCreatedAt(d.UpdatedAt).
		Exec(ctx)
}

// end lets an update end a deployment. Its lease stays known, so that its runner can be told.
func end(u *ent.DeploymentUpdateOne, status deployment.Status, at time.Time, why *fault.Data) {
	u.SetStatus(status).SetCompletedAt(at).ClearLeaseExpiresAt()
	if why != nil {
		u.SetError(why)
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
	return wrongState(d, done, fmt.Sprintf("its status is %s, not %s", d.Status, strings.Join(names, " or ")))
}

func wrongState(d *ent.Deployment, done, why string) *fault.Error {
	f := fault.New(fault.DeploymentWrongState, "The deployment %s cannot be %s: %s.", d.ID, done, why)
	f.Metadata = map[string]any{"deploymentId": d.ID, "status": string(d.Status)}
	return f
}
