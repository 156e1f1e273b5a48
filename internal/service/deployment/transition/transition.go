package transition

import (
	"context"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/data/journal"
	"slipway/internal/data/store"
	"slipway/internal/service/access"
	"slipway/internal/service/deployment/cloudevents"
	"slipway/internal/service/deployment/state"
)

// Func makes one transition: it checks the deployment as it is, and sets in the update what is to
// change. If it sets SkipAudit in the entry, nothing is changed.
type Func func(context.Context, *ent.Tx, *ent.Deployment, *ent.DeploymentUpdateOne, *journal.Entry) error

// SettleFunc settles what an end that an update sets brings with it. What it returns, unless that is nil, is written
// after the update, in the same transaction.
type SettleFunc func(
	context.Context, *ent.Tx, *ent.Deployment, *ent.DeploymentUpdateOne, *journal.Entry,
) (write func() error, err error)

// Make carries out one transition, and settles what it ends unless settle is nil. The version is compared, so that of
// two transitions at once the second sees what the first has done.
func (s *Service) Make(
	ctx context.Context, name string, action access.Action, deploymentID string, f Func, settle SettleFunc,
) (*ent.Deployment, error) {
	if err := access.Check(actor.From(ctx), access.Read, fault.DeploymentForbidden); err != nil {
		return nil, err
	}

	var changed *ent.Deployment
	err := s.Journal.WriteLatest(ctx, name, func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
		d, err := FindFor(ctx, tx, action, deploymentID)
		if err != nil {
			return err
		}

		e.ObjectID, changed = deploymentID, d
		u := d.Update().Where(deployment.Version(d.Version)).AddVersion(1).SetUpdatedAt(e.At)
		if err := f(ctx, tx, d, u, e); err != nil || e.SkipAudit {
			return err
		}

		var write func() error
		if settle != nil {
			if write, err = settle(ctx, tx, d, u, e); err != nil {
				return err
			}
		}
		if changed, err = s.save(ctx, tx, e, d, u); err != nil || write == nil {
			return err
		}
		return write()
	})
	if err != nil {
		return nil, err
	}
	return changed, nil
}

// FindFor returns the deployment that a transaction is to change, or why the actor may not.
func FindFor(ctx context.Context, tx *ent.Tx, action access.Action, deploymentID string) (*ent.Deployment, error) {
	get := tx.Deployment.Get
	if action == access.RunDeployments {
		get = func(ctx context.Context, id string) (*ent.Deployment, error) {
			q := tx.Deployment.Query().Where(deployment.ID(id))
			q.Modify(state.SelectWaiting)
			return q.Only(ctx)
		}
	}
	d, err := store.Find(ctx, get, id.Deployment, deploymentID, fault.DeploymentNotFound)
	if err != nil {
		return nil, err
	}
	return d, access.CheckIn(actor.From(ctx), action, state.PlaceOf(d), fault.DeploymentForbidden)
}

// save saves an update of a deployment. If it makes the service known that this is of, it brings the deployment up
// to what the service's events say.
func (s *Service) save(
	ctx context.Context, tx *ent.Tx, e *journal.Entry, d *ent.Deployment, u *ent.DeploymentUpdateOne,
) (*ent.Deployment, error) {
	serviceARN, named := cloudevents.BecomesKnown(d, u)
	if serviceARN != "" {
		// Those who write the events of the service change its deployments under this lock.
		if err := s.CloudEvents.LockService(ctx, tx, serviceARN); err != nil {
			return nil, err
		}
	}
	if named {
		if _, err := s.CloudEvents.ClaimService(ctx, tx, serviceARN, d.ModuleInstanceID, e.At); err != nil {
			return nil, err
		}
	}
	changed, err := u.Save(ctx)
	e.Changed = changed
	if err != nil || serviceARN == "" {
		return changed, err
	}
	return s.CloudEvents.FollowKnown(ctx, tx, e, serviceARN)
}
