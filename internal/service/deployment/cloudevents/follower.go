package cloudevents

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"slipway/ent"
	"slipway/ent/cloudevent"
	"slipway/ent/deployment"
	"slipway/ent/moduleinstance"
	"slipway/internal/base/actor"
	"slipway/internal/base/id"
	"slipway/internal/base/optional"
	"slipway/internal/data/journal"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
	"slipway/internal/pure/ecs"
	"slipway/internal/pure/ecs/cloud"
	"slipway/internal/service/deployment/state"
)

const (
	// detectedVia is how a deployment that was started outside became known, and startedOutside describes it.
	detectedVia    = "eventbridge"
	startedOutside = "Started outside of Slipway."
)

// follower brings the deployments of one service up to what its events say, in one transaction.
type follower struct {
	*neighbourhood
	entry *journal.Entry
	newID func(id.Kind) string
	// instance is the owner, locked.
	instance *ent.ModuleInstance
	courses  []*course
	changes  []journal.Change
	// updated is whether a record was written.
	updated bool
}

func (f *follower) follow(ctx context.Context, courses []*course) (err error) {
	f.courses = courses
	placed := map[*ent.CloudEvent]string{}
	var started *course
	for _, c := range courses {
		if c.deployment == nil {
			if err := f.create(ctx, c); err != nil {
				return err
			}
			started = c
		}
		for _, row := range c.events {
			placed[row] = c.deployment.ID
		}
	}

	for _, c := range courses {
		if err := f.followCourse(ctx, c); err != nil {
			return err
		}
	}

	if started != nil {
		if err := f.setExternal(ctx, started); err != nil {
			return err
		}
	}

	if err := f.settleDrift(ctx); err != nil {
		return err
	}
	return f.savePlaces(ctx, placed)
}

// settleDrift notes how what is there differs from what the instance's live deployment made, by what the events say
// now. What is left of a destroy that did not end well counts more.
func (f *follower) settleDrift(ctx context.Context) error {
	had := state.DriftOf((*record.ModuleInstance)(f.instance))
	if !f.updated || f.instance.LiveDeploymentID == nil || had != nil &&
		had.Kind == moduleinstance.DriftKindDESTROY_FAILED {
		return nil
	}
	live, err := f.tx.Deployment.Get(ctx, *f.instance.LiveDeploymentID)
	if err != nil {
		return err
	}

	drift, err := state.FindDrift(ctx, f.tx, live)
	if err != nil || drift.IsSame(had) {
		return err
	}

	isTold := func(c journal.Change) bool { return c.ObjectID == drift.DeploymentID }
	if drift != nil && !slices.ContainsFunc(f.changes, isTold) {
		touched, err := drift.Touch(ctx, f.tx, f.entry)
		if err != nil {
			return err
		}
		f.changes = append(f.changes, *touched)
	}

	return drift.Set(f.instance.Update()).SetUpdatedAt(f.entry.At).Exec(ctx)
}

// followCourse changes a record if its events are others than before, or another took its place.
func (f *follower) followCourse(ctx context.Context, c *course) error {
	end, err := f.endOf(ctx, c)
	if err != nil {
		return err
	}
	moved := positionOf(c.deployment).compare(c.position()) != 0
	if sameEvents(c.had, c.events) && !moved && !c.endsOtherwise(end) {
		return nil
	}
	d, err := f.tx.Deployment.Get(ctx, c.deployment.ID)
	if err != nil {
		return err
	}
	return f.update(ctx, d, c, end)
}

func sameEvents(had, has []*ent.CloudEvent) bool {
	return len(
		had,
	) == len(has) && !slices.ContainsFunc(has, func(row *ent.CloudEvent) bool { return !slices.Contains(had, row) })
}

// create makes the record of a deployment that was started outside, as it is when it starts.
func (f *follower) create(ctx context.Context, c *course) error {
	start := c.start
	data := &ecs.Data{Type: ecs.Type, ServiceARN: &start.ServiceArn, DetectedVia: new(detectedVia)}
	if start.Event.ClusterARN != "" {
		data.ClusterARN = &start.Event.ClusterARN
	}
	cloud.Apply(data, 0, cloud.Observation{}, observe(c.cloudID, []*ent.CloudEvent{start}))

	reporter, err := f.principalOf(ctx, start.CreatedByActor)
	if err != nil {
		return err
	}
	created := &ent.Deployment{
		ID: f.newID(id.Deployment), ProjectID: f.owner.place.ProjectID, EnvironmentID: f.owner.place.EnvironmentID,
		ModuleInstanceID: f.owner.instanceID, ModuleDefinitionID: &f.instance.ModuleDefinitionID,
		DeploymentType: ecs.Type, TriggerSource: state.TriggerEvent, Status: deployment.StatusRUNNING,
		Description: new(startedOutside),
		CreatedBy:   start.CreatedBy, CreatedByID: reporter, CreatedByActor: start.CreatedByActor,
		StartedAt: &start.Event.Time, CloudStartedAt: &start.Event.Time,
		ExternalDeploymentID: &c.cloudID, ResourceArn: &start.ServiceArn, ResourceName: new(serviceName(start.ServiceArn)),
		Data: data.Column(), ServiceArn: &start.ServiceArn,
	}
	if err := state.InsertDeployment(ctx, f.tx, created, f.entry.At); err != nil {
		return err
	}

	c.deployment, c.had = created, []*ent.CloudEvent{start}
	f.records[created.ID] = created
	f.changes = append(f.changes, journal.Change{
		ObjectID: created.ID, Changed: created,
		Changes: map[string]any{"moduleInstanceId": created.ModuleInstanceID, "events": eventIDs(start)},
	})

	return nil
}

// principalOf returns the principal of the token that reported an event, nil if it is not known.
func (f *follower) principalOf(ctx context.Context, tokenID *string) (*string, error) {
	if tokenID == nil {
		return nil, nil
	}
	if a := actor.From(ctx); a.ID == *tokenID {
		return &a.PrincipalID, nil
	}
	t, err := f.tx.Token.Get(ctx, *tokenID)
	switch {
	case ent.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return new(store.PrincipalOf(t)), nil
}

// serviceName returns the name at the end of a service's ARN.
func serviceName(arn string) string { return arn[strings.LastIndex(arn, "/")+1:] }

func eventIDs(rows ...*ent.CloudEvent) []string {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.EventID
	}
	return ids
}

// update changes a deployment from what the events said that it had to what those say that it has.
func (f *follower) update(ctx context.Context, d *ent.Deployment, c *course, end *end) error {
	f.updated = true
	data, err := d.Data.Data()
	if err != nil {
		return err
	}
	if data == nil {
		return fmt.Errorf("deployment: %s of the type %s has no data", d.ID, d.DeploymentType)
	}

	u, changes := d.Update(), map[string]any{}
	folded := cloud.Apply(data, d.FoldedEvents, observe(cloudIDOf(d, c.had), c.had), c.observe())
	if data.ServiceARN == nil && len(c.events) > 0 {
		data.ServiceARN = &c.events[0].ServiceArn
	}

	if i := slices.IndexFunc(c.events, func(row *ent.CloudEvent) bool { return row.Event.ClusterARN != "" }); i >= 0 &&
		data.ClusterARN == nil {
		data.ClusterARN = &c.events[i].Event.ClusterARN
	}

	if !bytes.Equal(data.Column().JSON(), d.Data.JSON()) || folded != d.FoldedEvents {
		state.SetData(u, data)
		u.SetFoldedEvents(folded)
		changes["events"] = eventIDs(
			slices.DeleteFunc(slices.Clone(c.events), func(row *ent.CloudEvent) bool { return slices.Contains(c.had, row) })...,
		)
	}

	adopt(u, d, c, changes)
	if d.TriggerSource != state.TriggerEvent {
		state.SetSetbacks(u, d.Setbacks.WithObserved(c.setback(d)))
	} else {
		if c.start != nil && !c.from.Equal(*d.StartedAt) {
			u.SetStartedAt(c.from)
			changes["startedAt"] = c.from
		}
		if c.endsOtherwise(end) || end != nil && !reflect.DeepEqual(d.Error, end.why) {
			end.set(u)
			changes["status"] = end.status
		}
	}

	c.setTimes(u)
	if len(changes) == 0 {
		// Where it is among the others is nothing that anybody is told.
		return u.Exec(ctx)
	}
	changed, err := u.Where(deployment.Version(d.Version)).AddVersion(1).SetUpdatedAt(f.entry.At).Save(ctx)
	if err != nil {
		return err
	}

	c.deployment = changed
	f.changes = append(f.changes, journal.Change{
		ObjectID: d.ID, Changes: changes, Changed: changed, Completes: d.CompletedAt == nil && changed.CompletedAt != nil,
	})
	return nil
}

// adopt sets the id of the cloud that a deployment has by its start, if its runner has reported none.
func adopt(u *ent.DeploymentUpdateOne, d *ent.Deployment, c *course, changes map[string]any) {
	if d.LeaseID == nil || d.ExternalDeploymentID != nil && !d.ExternalIDAdopted ||
		c.cloudID == optional.OrZero(d.ExternalDeploymentID) {
		return
	}
	changes["externalDeploymentId"] = c.cloudID
	if c.cloudID == "" {
		u.ClearExternalDeploymentID().SetExternalIDAdopted(false)
		changes["externalDeploymentId"] = nil
		return
	}
	u.SetExternalDeploymentID(c.cloudID).SetExternalIDAdopted(true)
}

// cloudIDOf returns the id by which a deployment was known when it had certain events.
func cloudIDOf(d *ent.Deployment, had []*ent.CloudEvent) string {
	for _, row := range had {
		if row.Event.Starts() {
			return row.Event.DeploymentID
		}
	}
	return optional.OrZero(d.ExternalDeploymentID)
}

// setExternal notes the last deployment that was started outside on its instance, where one was created.
func (f *follower) setExternal(ctx context.Context, started *course) error {
	if id := f.instance.ExternalDeploymentID; id != nil {
		at := position{}
		if i := slices.IndexFunc(f.courses, func(c *course) bool { return c.recordID() == *id }); i >= 0 {
			at = f.courses[i].position()
		} else if list, err := f.read(deployment.ID(*id)).All(ctx); err != nil {
			return err
		} else if len(list) > 0 {
			at = positionOf(list[0])
		}
		if at.compare(started.position()) > 0 {
			return nil
		}
	}
	return f.instance.Update().SetExternalDeploymentID(started.deployment.ID).SetUpdatedAt(f.entry.At).Exec(ctx)
}

// savePlaces notes of which deployments the events are.
func (f *follower) savePlaces(ctx context.Context, placed map[*ent.CloudEvent]string) error {
	to := map[string][]int64{}
	for _, row := range f.events {
		if place := placed[row]; place != optional.OrZero(row.DeploymentID) {
			to[place] = append(to[place], row.ID)
		}
	}
	for place, rows := range to {
		u := f.tx.CloudEvent.Update().Where(cloudevent.IDIn(rows...))
		if place == "" {
			u.ClearDeploymentID().SetPendingSince(f.entry.Shared())
		} else {
			u.SetDeploymentID(place).ClearPendingSince()
		}
		if err := u.Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}
