package deployment

import (
	"context"
	"time"

	"entgo.io/ent/dialect/sql"

	"slipway/ent"
	"slipway/ent/cloudevent"
	"slipway/ent/deployment"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/ecs"
	"slipway/internal/ecs/cloud"
	"slipway/internal/fault"
	"slipway/internal/journal"
	"slipway/internal/store"
	"slipway/internal/strictjson"
)

const (
	// keepEvents is how long an event of the cloud is known again, keepPending how long one waits whose deployment is not
	// known, and maxPending how many of an organization may wait. Of more the oldest go.
	keepEvents  = 7 * 24 * time.Hour
	keepPending = 24 * time.Hour
	maxPending  = 1000
	// maxFollowed is how many events of a service are looked at together, the last, and maxKnown how many of its
	// deployments.
	maxFollowed = 500
	maxKnown    = 50
)

const receiveAction = "receiveEcsEvent"

// ReceiveECSEvent takes an event of the cloud's container service, as its event bus delivers it. An event that was taken
// before changes nothing, nor does one of a service that no deployment of the organization has had; it is kept until one
// has. It fails with RequestInvalid and DeploymentForbidden.
func (s *Service) ReceiveECSEvent(ctx context.Context, body *strictjson.Node) error {
	a := actor.From(ctx)
	// Which place an event is of is known once its service is.
	if err := access.CheckRole(a, access.RunDeployments, fault.DeploymentForbidden); err != nil {
		return err
	}
	event, violations := cloud.Decode(body)
	if len(violations) > 0 {
		return fault.Invalid(fault.RequestInvalid, violations...)
	}
	return s.writeService(ctx, event.ServiceARN, func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
		if err := checkServiceInScope(ctx, tx, event.ServiceARN); err != nil {
			return err
		}
		received, err := tx.CloudEvent.Query().Where(cloudevent.EventID(event.ID)).Exist(ctx)
		if err != nil || received {
			return err
		}
		err = tx.CloudEvent.Create().
			SetOrganizationID(a.OrganizationID).SetEventID(event.ID).SetServiceArn(event.ServiceARN).SetOccurredAt(event.Time).
			SetEvent(event).SetPendingSince(e.Shared()).SetCreatedBy(a.Name).SetScope(a.Scope).SetCreatedAt(e.Shared()).
			Exec(ctx)
		if err != nil {
			return err
		}
		if e.Also, err = s.followService(ctx, tx, e, event.ServiceARN); err != nil {
			return err
		}
		return s.boundPending(ctx, tx)
	})
}

// checkServiceInScope refuses the events of a service that is known to be elsewhere than the token may change something.
func checkServiceInScope(ctx context.Context, tx *ent.Tx, serviceARN string) error {
	a := actor.From(ctx)
	if a.Scope == nil {
		return nil
	}
	known, err := deploymentsOf(ctx, tx, serviceARN)
	if err != nil || len(known) == 0 {
		return err
	}
	return access.CheckIn(a, access.RunDeployments, placeOf(known[0]), fault.DeploymentForbidden)
}

// retryService looks again at what the events of a service are of.
func (s *Service) retryService(ctx context.Context, serviceARN string) error {
	return s.writeService(ctx, serviceARN, func(ctx context.Context, tx *ent.Tx, e *journal.Entry) (err error) {
		e.Also, err = s.followService(ctx, tx, e, serviceARN)
		return err
	})
}

// writeService carries out a write of a service's events, one at a time for each service. What f changes is in Also.
func (s *Service) writeService(ctx context.Context, serviceARN string, f func(context.Context, *ent.Tx, *journal.Entry) error) error {
	for {
		err := s.Journal.Write(ctx, receiveAction, func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
			if err := s.lockService(ctx, tx, serviceARN); err != nil {
				return err
			}
			if err := f(ctx, tx, e); err != nil {
				return err
			}
			if e.SkipAudit = len(e.Also) == 0; e.SkipAudit {
				return nil
			}
			first := e.Also[0]
			e.ObjectID, e.Changes, e.Changed, e.Completes, e.Also = first.ObjectID, first.Changes, first.Changed, first.Completes, e.Also[1:]
			return nil
		})
		switch {
		case ent.IsNotFound(err), store.IsUniqueViolation(err):
			// A runner changed the deployment in between, or the event came a second time under another service: look again.
		default:
			return err
		}
	}
}

func (s *Service) lockService(ctx context.Context, tx *ent.Tx, serviceARN string) error {
	return s.Store.Lock(ctx, tx, actor.From(ctx).OrganizationID+" "+serviceARN)
}

// boundPending removes the oldest of the events that wait for their deployment, where they are too many.
func (s *Service) boundPending(ctx context.Context, tx *ent.Tx) error {
	excess, err := tx.CloudEvent.Query().Where(cloudevent.PendingSinceNotNil()).
		Order(cloudevent.ByPendingSince(sql.OrderDesc()), cloudevent.ByID(sql.OrderDesc())).
		Offset(maxPending).Limit(batch).IDs(ctx)
	if err != nil || len(excess) == 0 {
		return err
	}
	_, err = tx.CloudEvent.Delete().Where(cloudevent.IDIn(excess...)).Exec(ctx)
	if err == nil {
		s.logRemoved(ctx, "too many wait", len(excess))
	}
	return err
}

// logRemoved logs how many events of the cloud were removed that fit no deployment.
func (s *Service) logRemoved(ctx context.Context, why string, count int) {
	s.Log.WarnContext(ctx, "removed events of the cloud that fit no deployment", "organization", actor.From(ctx).OrganizationID, "reason", why, "count", count)
}

// becomesKnown returns the service that an update makes known to be that of a deployment, or whose events are to be
// looked at again because it tells the id by which they name the deployment; "" for no service.
func becomesKnown(d *ent.Deployment, u *ent.DeploymentUpdateOne) string {
	serviceARN, service := u.Mutation().ServiceArn()
	cloudID, named := u.Mutation().ExternalDeploymentID()
	switch {
	case service && serviceARN != idOrEmpty(d.ServiceArn):
		return serviceARN
	case named && cloudID != idOrEmpty(d.ExternalDeploymentID):
		return idOrEmpty(d.ServiceArn)
	}
	return ""
}

// followKnown looks again at the events of a service that wait for their deployment, now that a write has changed one by
// which they may find it. It returns that deployment as it is then.
func (s *Service) followKnown(ctx context.Context, tx *ent.Tx, e *journal.Entry, serviceARN string) (*ent.Deployment, error) {
	waits, err := tx.CloudEvent.Query().Where(cloudevent.ServiceArn(serviceARN), cloudevent.PendingSinceNotNil()).Exist(ctx)
	if err != nil || !waits {
		return e.Changed, err
	}
	if e.Also, err = s.followService(ctx, tx, e, serviceARN); err != nil {
		return nil, err
	}
	now := e.Changed
	for _, c := range e.Also {
		if c.ObjectID == now.ID {
			now = c.Changed
		}
	}
	return now, nil
}

// followService brings the deployments of a service up to what its events say, and returns what it has changed. Where no
// deployment has had the service, it changes nothing. The service is locked.
func (s *Service) followService(ctx context.Context, tx *ent.Tx, e *journal.Entry, serviceARN string) ([]journal.Change, error) {
	known, err := deploymentsOf(ctx, tx, serviceARN)
	if err != nil || len(known) == 0 {
		return nil, err
	}
	place := placeOf(known[0])
	events, err := tx.CloudEvent.Query().Where(cloudevent.ServiceArn(serviceARN)).
		Order(cloudevent.ByOccurredAt(sql.OrderDesc()), cloudevent.ByID(sql.OrderDesc())).Limit(maxFollowed).All(ctx)
	if err != nil {
		return nil, err
	}
	f := &follower{tx: tx, entry: e, newID: s.Journal.NewID, instance: known[0], had: map[string][]*ent.CloudEvent{}}
	for _, row := range events {
		// One that came before its service was known may be out of the scope of its token.
		if row.Scope.Has(place) {
			f.events = append(f.events, row)
		}
	}
	if err := f.follow(ctx, known); err != nil {
		return nil, err
	}
	return f.changes, nil
}

// deploymentsOf returns the last deployments that had a service, the newest first, and those of the newest one's instance
// of which it is not known yet, without their data.
func deploymentsOf(ctx context.Context, tx *ent.Tx, serviceARN string) ([]*ent.Deployment, error) {
	known, err := newest(tx.Deployment.Query().Where(deployment.ServiceArn(serviceARN)), maxKnown).All(ctx)
	if err != nil || len(known) == 0 {
		return nil, err
	}
	others, err := newest(tx.Deployment.Query().Where(
		deployment.ModuleInstanceID(known[0].ModuleInstanceID), deployment.ServiceArnIsNil(), deployment.LeaseIDNotNil(),
		deployment.DeploymentType(ecs.Type),
	), maxKnown).All(ctx)
	return append(known, others...), err
}

func newest(q *ent.DeploymentQuery, limit int) *ent.DeploymentSelect {
	return q.Order(deployment.ByCreatedAt(sql.OrderDesc()), deployment.ByID(sql.OrderDesc())).Limit(limit).Select(
		deployment.FieldID, deployment.FieldOrganizationID, deployment.FieldProjectID, deployment.FieldEnvironmentID,
		deployment.FieldModuleInstanceID, deployment.FieldTriggerSource, deployment.FieldStatus, deployment.FieldStartedAt,
		deployment.FieldCompletedAt, deployment.FieldExternalDeploymentID, deployment.FieldExternalIDAdopted, deployment.FieldLeaseID,
	)
}
