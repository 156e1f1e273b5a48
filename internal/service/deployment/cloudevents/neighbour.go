package cloudevents

import (
	"context"
	"slices"
	"time"

	"entgo.io/ent/dialect/sql"

	"slipway/ent"
	"slipway/ent/cloudevent"
	"slipway/ent/deployment"
	"slipway/ent/predicate"
	"slipway/internal/pure/ecs"
	"slipway/internal/service/deployment/state"
)

// What is read of the deployments of a service follows an index, in order, from one place on.

const (
	// tied is how many deployments that began at the same time are told apart by their ids.
	tied = 4
	// heldPage is how many that a runner has held are read at once, and maxHeld how many of such that follow each other
	// so closely that one start may be that of any.
	heldPage = 8
	maxHeld  = 200
)

// read returns a query of deployments, without their data.
func (n *neighbourhood) read(where ...predicate.Deployment) *ent.DeploymentQuery {
	q := n.tx.Deployment.Query().Where(where...)
	q.Select(
		deployment.FieldID, deployment.FieldCreatedAt, deployment.FieldOrganizationID, deployment.FieldProjectID,
		deployment.FieldEnvironmentID,
		deployment.FieldModuleInstanceID, deployment.FieldDeploymentType, deployment.FieldTriggerSource,
		deployment.FieldStatus,
		deployment.FieldStartedAt, deployment.FieldCompletedAt, deployment.FieldExternalDeploymentID,
		deployment.FieldExternalIDAdopted,
		deployment.FieldLeaseID, deployment.FieldServiceArn, deployment.FieldCloudStartedAt, deployment.FieldCloudEndedAt,
	)
	return q
}

// wasHeld is that a runner has held a deployment, in the words of the index of these.
func wasHeld(s *sql.Selector) {
	s.Where(sql.NotNull(s.C(deployment.FieldLeaseID))).
		Where(sql.ExprP(s.C(deployment.FieldDeploymentType) + " = '" + ecs.Type + "'"))
}

// services are what the deployments of a service have as such: it, or nothing where their runner has not told yet.
func (n *neighbourhood) services() []predicate.Deployment {
	return []predicate.Deployment{deployment.ServiceArn(n.owner.serviceARN), deployment.ServiceArnIsNil()}
}

// neighbour returns the deployment of the service that is next to a position, before or after it, as they are stored;
// nil for none. Those in except, and the one that is at the position, do not count.
func (n *neighbourhood) neighbour(
	ctx context.Context, p position, after bool, except ...string,
) (*ent.Deployment, error) {
	if p.recordID != "" {
		except = append(except, p.recordID)
	}

	var next *ent.Deployment
	nearer := func(list []*ent.Deployment) {
		for _, d := range list {
			beyond := positionOf(d).compare(p)
			if (beyond > 0) == after && (next == nil || (positionOf(d).compare(positionOf(next)) < 0) == after) {
				next = d
			}
		}
	}

	beyond, within, order := deployment.CloudStartedAtLTE(p.at), deployment.StartedAtLTE(p.at), sql.OrderDesc()
	if after {
		beyond, within, order = deployment.CloudStartedAtGTE(p.at), deployment.StartedAtGTE(p.at), sql.OrderAsc()
	}

	list, err := n.read(
		deployment.ModuleInstanceID(n.owner.instanceID), deployment.ServiceArn(n.owner.serviceARN), beyond,
		deployment.IDNotIn(except...),
	).
		Order(deployment.ByCloudStartedAt(order), deployment.ByExternalDeploymentID(order), deployment.ByID(order)).
		Limit(tied).All(ctx)
	if err != nil {
		return nil, err
	}

	nearer(list)
	for _, service := range n.services() {
		// Those without events are where their runner claimed them; only what is nearer than the others is looked at.
		where := []predicate.Deployment{
			deployment.ModuleInstanceID(n.owner.instanceID), service, wasHeld, within, deployment.CloudStartedAtIsNil(),
			deployment.IDNotIn(except...),
		}
		switch {
		case next != nil && after:
			where = append(where, deployment.StartedAtLTE(positionOf(next).at))
		case next != nil:
			where = append(where, deployment.StartedAtGTE(positionOf(next).at))
		}

		list, err := n.read(where...).Order(deployment.ByStartedAt(order), deployment.ByID(order)).Limit(tied).All(ctx)
		if err != nil {
			return nil, err
		}

		nearer(list)
	}

	return next, nil
}

// addHeldAt adds the deployments that may take a start of a time for their own: runners held them then.
func (n *neighbourhood) addHeldAt(ctx context.Context, at time.Time) error {
	if n.look(at) {
		return nil
	}

	for _, service := range n.services() {
		for read := 0; read < maxHeld; read += heldPage {
			list, err := n.read(
				deployment.ModuleInstanceID(n.owner.instanceID), service, wasHeld,
				deployment.StartedAtLTE(at.Add(startsBeforeClaim)),
			).
				Order(deployment.ByStartedAt(sql.OrderDesc()), deployment.ByID(sql.OrderDesc())).Offset(read).Limit(heldPage).
				All(ctx)
			if err != nil {
				return err
			}

			held := firstHeld(list, at)
			if err := n.addAdoptable(ctx, held); err != nil {
				return err
			}
			if len(held) < heldPage {
				break
			}
		}
	}

	return nil
}

// firstHeld returns the first deployments of a list, the last that was claimed first, as far as their runners held them
// at a time: one is claimed when the one before has ended.
func firstHeld(list []*ent.Deployment, at time.Time) []*ent.Deployment {
	if i := slices.IndexFunc(list, func(d *ent.Deployment) bool { return !heldAt(d, at) }); i >= 0 {
		return list[:i]
	}
	return list
}

// addHeldAfter adds the deployments whose start may be taken by one that has lost its own: their runners held them when
// that was possible.
func (n *neighbourhood) addHeldAfter(ctx context.Context, d *ent.Deployment) error {
	if n.look(d.ID) || d.CompletedAt == nil {
		return nil
	}
	for _, service := range n.services() {
		list, err := n.read(deployment.ModuleInstanceID(
			n.owner.instanceID,
		), service, wasHeld, deployment.StartedAtGTE(*d.StartedAt),
			deployment.StartedAtLTE(d.CompletedAt.Add(startsAfterEnd+startsBeforeClaim)), deployment.IDNEQ(d.ID)).
			Order(deployment.ByStartedAt(), deployment.ByID()).Limit(maxHeld).All(ctx)
		if err != nil {
			return err
		}
		if err := n.addAdoptable(ctx, list); err != nil {
			return err
		}
	}
	return nil
}

// addAdoptable adds those deployments that have no id of the cloud, or one that was taken from a start.
func (n *neighbourhood) addAdoptable(ctx context.Context, list []*ent.Deployment) error {
	return n.addRecords(
		ctx,
		slices.DeleteFunc(
			list, func(d *ent.Deployment) bool { return d.ExternalDeploymentID != nil && !d.ExternalIDAdopted },
		),
	)
}

// addBefore adds the deployment before a position. If there is none, and one is to be at the position, it adds the
// events that have waited for that.
func (n *neighbourhood) addBefore(ctx context.Context, p position, begins bool) error {
	if n.look(p) {
		return nil
	}
	before, err := n.neighbour(ctx, p, false)
	if err != nil {
		return err
	}
	if before != nil {
		return n.addRecords(ctx, []*ent.Deployment{before})
	}
	if !begins {
		return nil
	}

	wait := []predicate.CloudEvent{
		cloudevent.ServiceArn(n.owner.serviceARN), cloudevent.PendingSinceNotNil(), cloudevent.OccurredAtGTE(p.at),
	}
	after, err := n.neighbour(ctx, p, true)
	if err != nil {
		return err
	}

	if after != nil {
		wait = append(wait, cloudevent.OccurredAtLT(positionOf(after).at))
	}
	rows, err := n.tx.CloudEvent.Query().Where(wait...).Order(cloudevent.ByOccurredAt(), cloudevent.ByID()).
		Limit(maxFollowed).All(ctx)
	if err != nil {
		return err
	}
	return n.addEvents(ctx, slices.DeleteFunc(rows, func(row *ent.CloudEvent) bool { return n.events[row.ID] != nil }))
}

// addOpenBefore adds what was started outside before a position and has not ended, the last first.
func (n *neighbourhood) addOpenBefore(ctx context.Context, p position) error {
	list, err := n.read(deployment.ModuleInstanceID(
		n.owner.instanceID,
	), deployment.ServiceArn(n.owner.serviceARN), isOpenOutside,
		deployment.CloudStartedAtLTE(p.at), deployment.IDNotIn(n.loaded()...)).
		Order(deployment.ByCloudStartedAt(sql.OrderDesc())).Limit(maxFollowed).All(ctx)
	if err != nil {
		return err
	}
	return n.addRecords(ctx, list)
}

// isOpenOutside is that a deployment was started outside and has not ended, in the words of the index of these.
func isOpenOutside(s *sql.Selector) {
	s.Where(sql.IsNull(s.C(deployment.FieldCompletedAt))).
		Where(sql.ExprP(s.C(deployment.FieldTriggerSource) + " = '" + state.TriggerEvent + "'"))
}

// lastEnded returns the last deployment of the service that has ended by its events and is not loaded, nil for none.
func (n *neighbourhood) lastEnded(ctx context.Context) (*ent.Deployment, error) {
	list, err := n.read(deployment.ModuleInstanceID(n.owner.instanceID), deployment.ServiceArn(n.owner.serviceARN),
		deployment.CloudEndedAtNotNil(), deployment.CloudStartedAtNotNil(), deployment.IDNotIn(n.loaded()...)).
		Order(deployment.ByCloudStartedAt(sql.OrderDesc())).Limit(1).All(ctx)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return list[0], nil
}

// lastEnd returns the position of the last deployment of the service that has ended by its events, and reports false
// where there is none.
func (n *neighbourhood) lastEnd(t *timelineBuilder) (last position, ok bool) {
	if n.ended != nil {
		last, ok = positionOf(n.ended), true
	}
	for _, c := range t.courses {
		if c.observe().End != nil && (!ok || c.position().compare(last) > 0) {
			last, ok = c.position(), true
		}
	}
	return last, ok
}

// loaded returns the ids of the deployments that are loaded.
func (n *neighbourhood) loaded() []string {
	ids := make([]string, 0, len(n.records))
	for id := range n.records {
		ids = append(ids, id)
	}
	return ids
}
