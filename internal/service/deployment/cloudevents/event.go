package cloudevents

import (
	"context"
	"errors"
	"fmt"
	"time"

	"entgo.io/ent/dialect/sql"

	"slipway/ent"
	"slipway/ent/cloudevent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/optional"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/journal"
	"slipway/internal/pure/ecs/cloud"
	"slipway/internal/service/access"
	"slipway/internal/service/deployment/state"
)

const (
	// KeepEvents is how long an event of the cloud is known again: longer than one may be old that is taken, so that none
	// is ever taken twice.
	KeepEvents = cloud.MaxAge + 24*time.Hour
	// KeepPending is how long one waits whose deployment is not known.
	KeepPending = 24 * time.Hour
	// maxPending is how many of an organization may wait. Of more the oldest go.
	maxPending = 1000
	// atOnce is how many services are looked at, and events removed, at once.
	atOnce = 100
)

const receiveAction = "receiveEcsEvent"

// ReceiveECSEvent takes an event of the cloud's container service, as its event bus delivers it. An event that was
// taken before changes nothing, nor does one of a service that no deployment of the organization has had; it is kept
// until one has. It fails with RequestInvalid and DeploymentForbidden.
func (s *Service) ReceiveECSEvent(ctx context.Context, body *strictjson.Node) error {
	// Which place an event is of is known once its service is.
	if err := access.CheckRole(actor.From(ctx), access.RunDeployments, fault.DeploymentForbidden); err != nil {
		return err
	}
	event, violations := cloud.Decode(body)
	if len(violations) > 0 {
		return fault.Invalid(fault.RequestInvalid, violations...)
	}
	return s.writeService(ctx, event.ServiceARN, func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
		return s.receive(ctx, tx, e, event)
	})
}

// receive keeps an event, unless it was taken before, and brings the deployments of its service up to what it says.
func (s *Service) receive(ctx context.Context, tx *ent.Tx, e *journal.Entry, event cloud.Event) error {
	if violations := event.CheckTime(e.Shared()); len(violations) > 0 {
		return fault.Invalid(fault.RequestInvalid, violations...)
	}
	a := actor.From(ctx)
	owner, err := ownerOfEvents(ctx, tx, event.ServiceARN, e.At)
	if err == nil && owner != nil {
		err = access.CheckIn(a, access.RunDeployments, owner.place, fault.DeploymentForbidden)
	}
	if err != nil {
		return err
	}

	received, err := tx.CloudEvent.Query().Where(cloudevent.EventID(event.ID)).Exist(ctx)
	if err != nil || received {
		return err
	}

	row, err := newEventRow(tx, a, event, e).Save(ctx)
	if err == nil && owner != nil {
		e.Also, err = s.follow(ctx, tx, e, owner, []*ent.CloudEvent{row})
	}
	if err != nil {
		return err
	}
	return s.boundPending(ctx, tx)
}

func newEventRow(tx *ent.Tx, a *actor.Actor, event cloud.Event, e *journal.Entry) *ent.CloudEventCreate {
	create := tx.CloudEvent.Create().
		SetOrganizationID(a.OrganizationID).SetEventID(event.ID).SetServiceArn(event.ServiceARN).SetOccurredAt(event.Time).
		SetEvent(event).SetPendingSince(e.Shared()).SetCreatedBy(a.Name).
		SetNillableCreatedByActor(optional.NonZero(a.ID)).SetScope(a.Scope).SetCreatedAt(e.Shared())
	if subject := event.Subject(); subject != "" {
		create.SetSubject(subject)
	}
	return create
}

// ownerOfEvents returns the owner of a service that is locked, nil if it has none. What a server of before has
// written is claimed.
func ownerOfEvents(ctx context.Context, tx *ent.Tx, serviceARN string, at time.Time) (*serviceOwner, error) {
	owner, err := findOwner(ctx, tx, serviceARN)
	if err != nil || owner == nil || owner.claimed {
		return owner, err
	}
	err = owner.claim(ctx, tx, at)
	return owner, err
}

// retryService looks again at what the events of a service are of.
func (s *Service) retryService(ctx context.Context, serviceARN string) error {
	return s.writeService(ctx, serviceARN, func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
		owner, err := ownerOfEvents(ctx, tx, serviceARN, e.At)
		if err == nil && owner != nil {
			e.Also, err = s.followWaiting(ctx, tx, e, owner)
		}
		return err
	})
}

// writeService carries out a write of a service's events, one at a time for each service. What f changes is in Also.
func (s *Service) writeService(ctx context.Context, serviceARN string, f journal.WriteFunc) error {
	// A runner may change the deployment in between, or the event come a second time under another service.
	return s.Journal.WriteLatest(ctx, receiveAction, func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
		if err := s.LockService(ctx, tx, serviceARN); err != nil {
			return err
		}
		if err := f(ctx, tx, e); err != nil {
			return err
		}
		if e.SkipAudit = len(e.Also) == 0; e.SkipAudit {
			return nil
		}
		e.Change, e.Also = e.Also[0], e.Also[1:]
		return nil
	})
}

// LockService has those who change the deployments of a service go one after the other until their transactions end.
func (s *Service) LockService(ctx context.Context, tx *ent.Tx, serviceARN string) error {
	return s.Store.Lock(ctx, tx, actor.From(ctx).OrganizationID+" "+serviceARN)
}

// boundPending removes the oldest of the events that wait for their deployment, if they are too many.
func (s *Service) boundPending(ctx context.Context, tx *ent.Tx) error {
	excess, err := tx.CloudEvent.Query().Where(cloudevent.PendingSinceNotNil()).
		Order(cloudevent.ByPendingSince(sql.OrderDesc()), cloudevent.ByID(sql.OrderDesc())).
		Offset(maxPending).Limit(atOnce).IDs(ctx)
	if err != nil || len(excess) == 0 {
		return err
	}
	_, err = tx.CloudEvent.Delete().Where(cloudevent.IDIn(excess...)).Exec(ctx)
	if err == nil {
		s.logRemoved(ctx, "too many wait", len(excess))
	}
	return err
}

// RemovePending removes those of the events of an organization that have waited for more than KeepPending and do so
// still, and logs how many they were.
func (s *Service) RemovePending(ctx context.Context, tx *ent.Tx, ids []int64) (int, error) {
	n, err := tx.CloudEvent.Delete().Where(cloudevent.PendingSinceNotNil(), cloudevent.IDIn(ids...)).Exec(ctx)
	if err == nil && n > 0 {
		s.logRemoved(ctx, "none became known within a day", n)
	}
	return n, err
}

// RetryEvents looks again at the events of the cloud that wait for their deployment and whose service is known, and
// returns how many services these were.
func (s *Service) RetryEvents(ctx context.Context) (services int, err error) {
	found, err := s.Store.WaitingServices(actor.WithServer(ctx, ""), atOnce)
	if err != nil {
		return 0, err
	}
	for _, service := range found {
		if failed := s.retryService(actor.WithServer(ctx, service.OrganizationID), service.ID); failed != nil {
			// The others do not wait for it.
			err = errors.Join(err, fmt.Errorf("events of the service %s: %w", service.ID, failed))
		}
	}
	return len(found), err
}

// logRemoved logs how many events of the cloud were removed that fit no deployment.
func (s *Service) logRemoved(ctx context.Context, why string, count int) {
	s.Log.WarnContext(
		ctx, "removed events of the cloud that fit no deployment", "organization", actor.From(ctx).OrganizationID, "reason",
		why, "count", count,
	)
}

// BecomesKnown returns the service that an update makes known to be that of a deployment, or whose events are to be
// looked at again because it tells the id by which they name the deployment; "" for no service. named is whether the
// update is the first to name it.
func BecomesKnown(d *ent.Deployment, u *ent.DeploymentUpdateOne) (serviceARN string, named bool) {
	serviceARN, service := u.Mutation().ServiceArn()
	cloudID, told := u.Mutation().ExternalDeploymentID()
	switch {
	case service && serviceARN != optional.OrZero(d.ServiceArn):
		return serviceARN, true
	case told && cloudID != optional.OrZero(d.ExternalDeploymentID):
		return optional.OrZero(d.ServiceArn), false
	}
	return "", false
}

// FollowKnown looks again at the events of a service that wait for their deployment, now that a write has changed one
// by which they may find it. It returns that deployment as it is then.
func (s *Service) FollowKnown(
	ctx context.Context, tx *ent.Tx, e *journal.Entry, serviceARN string,
) (*ent.Deployment, error) {
	owner, err := findOwner(ctx, tx, serviceARN)
	if err != nil || owner == nil {
		return e.Changed, err
	}
	followed, err := s.followWaiting(ctx, tx, e, owner)
	if err != nil {
		return nil, err
	}
	e.Also = append(e.Also, followed...)
	now := e.Changed
	for _, c := range followed {
		if c.ObjectID == now.ID {
			now = c.Changed
		}
	}
	return now, nil
}

// followWaiting brings the deployments of a service up to what those of its events say that wait for their deployment.
func (s *Service) followWaiting(
	ctx context.Context, tx *ent.Tx, e *journal.Entry, owner *serviceOwner,
) ([]journal.Change, error) {
	waiting, err := tx.CloudEvent.Query().Where(cloudevent.ServiceArn(owner.serviceARN), cloudevent.PendingSinceNotNil()).
		Order(cloudevent.ByOccurredAt(), cloudevent.ByID()).Limit(maxFollowed).All(ctx)
	if err != nil || len(waiting) == 0 {
		return nil, err
	}
	return s.follow(ctx, tx, e, owner, waiting)
}

// follow brings the deployments of a service up to what some of its events say that wait for their deployment, and
// returns what it has changed. The service is locked.
func (s *Service) follow(
	ctx context.Context, tx *ent.Tx, e *journal.Entry, owner *serviceOwner, waiting []*ent.CloudEvent,
) ([]journal.Change, error) {
	instance, err := state.LockInstance(ctx, s.Store, tx, owner.instanceID)
	if err != nil {
		return nil, err
	}
	n := newNeighbourhood(tx, owner)
	courses, err := n.load(ctx, waiting)
	if err != nil {
		return nil, err
	}
	f := &follower{neighbourhood: n, entry: e, newID: s.Journal.NewID, instance: instance}
	if err := f.follow(ctx, courses); err != nil {
		return nil, err
	}
	return f.changes, nil
}
