package deployment

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"slipway/ent"
	"slipway/ent/cloudevent"
	"slipway/ent/deployment"
	"slipway/ent/moduleinstance"
	"slipway/internal/ecs"
	"slipway/internal/ecs/cloud"
	"slipway/internal/fault"
	"slipway/internal/id"
	"slipway/internal/journal"
)

const (
	// TriggerEvent is the source of a deployment that was started outside and became known by an event of the cloud. It has
	// no release and no runner, is never live and in nobody's way, and ends as its events say.
	TriggerEvent = "event"
	// detectedVia is how it became known.
	detectedVia = "eventbridge"
)

// startedOutside describes such a deployment.
const startedOutside = "Started outside of Slipway."

// follower brings the deployments of one service up to what its events say, in one transaction.
type follower struct {
	tx    *ent.Tx
	entry *journal.Entry
	newID func(id.Kind) string
	// instance is the last deployment that had the service: what was started outside is of its instance.
	instance *ent.Deployment
	events   []*ent.CloudEvent
	// had are the events of each deployment before, in order.
	had     map[string][]*ent.CloudEvent
	created bool
	changes []journal.Change
}

func (f *follower) follow(ctx context.Context, known []*ent.Deployment) error {
	slices.SortFunc(f.events, compareEvents)
	for _, row := range f.events {
		if row.DeploymentID != nil {
			f.had[*row.DeploymentID] = append(f.had[*row.DeploymentID], row)
		}
	}
	courses := timeline(f.events, known)
	ended := lastEnded(courses)
	placed := map[*ent.CloudEvent]string{}
	for i, c := range courses {
		var by *course
		if i < ended {
			by = courses[i+1]
		}
		if err := f.followCourse(ctx, c, by); err != nil {
			return err
		}
		for _, row := range c.events {
			placed[row] = c.deployment.ID
		}
	}
	if err := f.setExternal(ctx, courses); err != nil {
		return err
	}
	return f.savePlaces(ctx, placed)
}

// lastEnded returns the index of the last course that has ended, -1 where none has. What began before it and has no end of
// its own has another in its place, for the cloud sends nothing more of it. One that is rolled back has ended: were it
// not so, a rollback that was taken for an earlier one's, until the start of its own came, would leave that one failed.
func lastEnded(courses []*course) int {
	for i, c := range slices.Backward(courses) {
		if c.observe().End != nil {
			return i
		}
	}
	return -1
}

// followCourse creates the record of a course that has none, and changes one whose events are others than before. by is
// the course that took its place, nil where none did.
func (f *follower) followCourse(ctx context.Context, c *course, by *course) error {
	if c.deployment == nil {
		if err := f.create(ctx, c); err != nil {
			return err
		}
	}
	had := f.had[c.deployment.ID]
	end := c.end(by)
	if sameEvents(had, c.events) && !c.endsOtherwise(end) {
		return nil
	}
	d, err := f.tx.Deployment.Get(ctx, c.deployment.ID)
	if err != nil {
		return err
	}
	return f.update(ctx, d, c, had, end)
}

func sameEvents(had, has []*ent.CloudEvent) bool {
	return len(had) == len(has) && !slices.ContainsFunc(has, func(row *ent.CloudEvent) bool { return !slices.Contains(had, row) })
}

// create makes the record of a deployment that was started outside, as it is when it starts.
func (f *follower) create(ctx context.Context, c *course) error {
	i := slices.IndexFunc(c.events, func(row *ent.CloudEvent) bool { return row.Event.Starts() && row.Event.DeploymentID == c.cloudID })
	start := c.events[i]
	data := &ecs.Data{Type: ecs.Type, ServiceARN: &start.ServiceArn, DetectedVia: new(detectedVia)}
	if start.Event.ClusterARN != "" {
		data.ClusterARN = &start.Event.ClusterARN
	}
	cloud.Apply(data, 0, cloud.Observation{}, observe(c.cloudID, []*ent.CloudEvent{start}))
	created := &ent.Deployment{
		ID: f.newID(id.Deployment), ProjectID: f.instance.ProjectID, EnvironmentID: f.instance.EnvironmentID,
		ModuleInstanceID: f.instance.ModuleInstanceID,
		DeploymentType:   ecs.Type, TriggerSource: TriggerEvent, Status: deployment.StatusRUNNING,
		Description: new(startedOutside), CreatedBy: start.CreatedBy, StartedAt: &start.Event.Time,
		ExternalDeploymentID: &c.cloudID, ResourceArn: &start.ServiceArn, ResourceName: new(serviceName(start.ServiceArn)),
		Data: data.Column(), ServiceArn: &start.ServiceArn,
	}
	if err := insertDeployment(ctx, f.tx, created, f.entry.At); err != nil {
		return err
	}
	c.deployment, f.created = created, true
	f.had[created.ID] = []*ent.CloudEvent{start}
	f.changes = append(f.changes, journal.Change{
		ObjectID: created.ID, Changed: created, Changes: map[string]any{"moduleInstanceId": created.ModuleInstanceID, "events": eventIDs(start)},
	})
	return nil
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
func (f *follower) update(ctx context.Context, d *ent.Deployment, c *course, had []*ent.CloudEvent, end *end) error {
	data, err := d.Data.Data()
	if err != nil {
		return err
	}
	if data == nil {
		return fmt.Errorf("deployment: %s of the type %s has no data", d.ID, d.DeploymentType)
	}
	u, changes := d.Update().Where(deployment.Version(d.Version)).AddVersion(1).SetUpdatedAt(f.entry.At), map[string]any{}
	folded := cloud.Apply(data, d.FoldedEvents, observe(cloudIDOf(d, had), had), c.observe())
	if data.ServiceARN == nil && len(c.events) > 0 {
		data.ServiceARN = &c.events[0].ServiceArn
	}
	if !bytes.Equal(data.Column().JSON(), d.Data.JSON()) || folded != d.FoldedEvents {
		setData(u, data)
		u.SetFoldedEvents(folded)
		changes["events"] = eventIDs(slices.DeleteFunc(slices.Clone(c.events), func(row *ent.CloudEvent) bool { return slices.Contains(had, row) })...)
	}
	if d.LeaseID != nil && c.cloudID != idOrEmpty(d.ExternalDeploymentID) && (d.ExternalDeploymentID == nil || d.ExternalIDAdopted) {
		u.SetExternalDeploymentID(c.cloudID).SetExternalIDAdopted(true)
		changes["externalDeploymentId"] = c.cloudID
	}
	if d.TriggerSource == TriggerEvent {
		if started := c.observe().StartedAt; !started.IsZero() && !started.Equal(*d.StartedAt) {
			u.SetStartedAt(started)
			changes["startedAt"] = started
		}
		if c.endsOtherwise(end) || end != nil && !reflect.DeepEqual(d.Error, end.why) {
			setEnded(u, end.status, end.at, end.why)
			if end.why == nil {
				u.ClearError()
			}
			changes["status"] = end.status
		}
	}
	if len(changes) == 0 {
		return nil
	}
	changed, err := u.Save(ctx)
	if err != nil {
		return err
	}
	c.deployment = changed
	f.changes = append(f.changes, journal.Change{
		ObjectID: d.ID, Changes: changes, Changed: changed, Completes: d.CompletedAt == nil && changed.CompletedAt != nil,
	})
	return nil
}

// cloudIDOf returns the id by which a deployment was known when it had certain events.
func cloudIDOf(d *ent.Deployment, had []*ent.CloudEvent) string {
	for _, row := range had {
		if row.Event.Starts() {
			return row.Event.DeploymentID
		}
	}
	return idOrEmpty(d.ExternalDeploymentID)
}

// end is how a deployment that was started outside has ended.
type end struct {
	status deployment.Status
	at     time.Time
	why    *fault.Data
}

// end returns how the deployment of a course has ended: as its events say, or because another took its place. nil is
// not yet, and for a deployment that was not started outside, which its runner ends.
func (c *course) end(by *course) *end {
	if c.deployment.TriggerSource != TriggerEvent {
		return nil
	}
	switch ended := c.observe().End; {
	case ended == nil && by == nil:
		return nil
	case ended == nil:
		why := &fault.Data{Code: string(fault.DeploymentCanceled), Message: "Superseded by a later deployment of the service."}
		if by.cloudID != "" {
			why.Message = fmt.Sprintf("Superseded by the deployment %s of the service.", by.cloudID)
		}
		return &end{deployment.StatusCANCELED, by.from, why}
	case ended.Failed:
		why := &fault.Data{Code: string(fault.DeploymentFailed), Message: ended.Reason, Description: ended.Rollback}
		if why.Message == "" {
			why.Message, why.Description = ended.Rollback, ""
		}
		if why.Message == "" {
			why.Message = "The cloud gave no reason."
		}
		return &end{deployment.StatusFAILED, ended.At, why}
	default:
		return &end{deployment.StatusSUCCEEDED, ended.At, nil}
	}
}

// endsOtherwise reports whether an end is not the one that the record has.
func (c *course) endsOtherwise(end *end) bool {
	d := c.deployment
	return end != nil && (d.Status != end.status || d.CompletedAt == nil || !d.CompletedAt.Equal(end.at))
}

// setExternal notes the last deployment that was started outside on its instance, where one was created.
func (f *follower) setExternal(ctx context.Context, courses []*course) error {
	if !f.created {
		return nil
	}
	for _, c := range slices.Backward(courses) {
		if c.deployment.TriggerSource != TriggerEvent {
			continue
		}
		return f.tx.ModuleInstance.Update().
			Where(moduleinstance.ID(c.deployment.ModuleInstanceID)).
			SetExternalDeploymentID(c.deployment.ID).SetUpdatedAt(f.entry.At).Exec(ctx)
	}
	return nil
}

// savePlaces notes of which deployments the events are.
func (f *follower) savePlaces(ctx context.Context, placed map[*ent.CloudEvent]string) error {
	to := map[string][]int64{}
	for _, row := range f.events {
		if place := placed[row]; place != idOrEmpty(row.DeploymentID) {
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
