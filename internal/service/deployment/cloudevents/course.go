package cloudevents

import (
	"context"
	"fmt"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/base/fault"
	"slipway/internal/pure/ecs"
	"slipway/internal/pure/ecs/cloud"
	"slipway/internal/service/deployment/state"
)

func (c *course) recordID() string {
	if c.deployment == nil {
		return ""
	}
	return c.deployment.ID
}

// observe returns what the events of the course say of its deployment.
func (c *course) observe() cloud.Observation { return observe(c.cloudID, c.events) }

func observe(cloudID string, rows []*ent.CloudEvent) cloud.Observation {
	events := make([]cloud.Event, len(rows))
	for i, row := range rows {
		events[i] = row.Event
	}
	return cloud.Observe(cloudID, events)
}

// setback returns what the events of the course say against its deployment, nil for nothing; where those that said
// something are not kept any more, what they said.
func (c *course) setback(d *ent.Deployment) *ecs.Setback {
	now, had := c.observe(), observe(cloudIDOf(d, c.had), c.had)
	if said := now.Setback(); said != nil || had.Setback() != nil || d.Setbacks == nil {
		return said
	}
	return d.Setbacks.Observed
}

// hadEnd reports whether the record has ended by the events that it had.
func (c *course) hadEnd() bool {
	return c.deployment != nil && observe(cloudIDOf(c.deployment, c.had), c.had).End != nil
}

// endedBefore reports whether the record has ended by an event that is not kept any more.
func (c *course) endedBefore() bool {
	d := c.deployment
	if d == nil || c.hadEnd() {
		return false
	}
	// A server of before does not write down when it ended.
	unknown := d.CloudStartedAt == nil && d.TriggerSource == state.TriggerEvent &&
		(d.Status == deployment.StatusSUCCEEDED || d.Status == deployment.StatusFAILED)
	return d.CloudEndedAt != nil || unknown
}

func (c *course) hasEnded() bool { return c.observe().End != nil || c.endedBefore() }

// set writes an end into an update.
func (e *end) set(u *ent.DeploymentUpdateOne) {
	if e.status == deployment.StatusRUNNING {
		u.SetStatus(e.status).ClearCompletedAt().ClearError()
		return
	}
	state.SetEnded(u, e.status, e.at, e.why)
	if e.why == nil {
		u.ClearError()
	}
}

// setTimes sets the times by which the record is found among the others of its service.
func (c *course) setTimes(u *ent.DeploymentUpdateOne) {
	u.SetCloudStartedAt(c.from)
	if end := c.observe().End; end != nil {
		u.SetCloudEndedAt(end.At)
	} else if !c.endedBefore() {
		u.ClearCloudEndedAt()
	}
}

// end is how a deployment that was started outside has ended, or that it has not, where its record says so.
type end struct {
	status deployment.Status
	at     time.Time
	why    *fault.Data
}

// endOf returns how the deployment of a course has ended: as its events say, or because another took its place, which
// is so if a later one has ended: the cloud sends nothing more of it then. nil is not yet, and for a deployment that
// was not started outside, which its runner ends.
//
// One that is rolled back has ended: were it not so, a rollback that was taken for an earlier one's, until the start of
// its own came, would leave that one failed.
//
// A late event may correct the end, failure before success: nothing is decided by these records, and a wrong end would
// be worse than one that changes.
func (f *follower) endOf(ctx context.Context, c *course) (*end, error) {
	if c.deployment.TriggerSource != state.TriggerEvent {
		return nil, nil
	}
	if ended := c.observe().End; ended != nil {
		return ownEnd(ended), nil
	}

	switch later := f.laterHasEnded(c); {
	case c.endedBefore():
		return nil, nil
	case !later && c.hadEnd():
		// What ended it was of another.
		return &end{status: deployment.StatusRUNNING}, nil
	case !later:
		return nil, nil
	}

	by, err := f.next(ctx, c)
	if err != nil {
		return nil, err
	}

	why := &fault.Data{Code: string(fault.DeploymentCanceled), Message: "Superseded by a later deployment of the service."}
	if by.cloudID != "" {
		why.Message = fmt.Sprintf("Superseded by the deployment %s of the service.", by.cloudID)
	}
	return &end{deployment.StatusCANCELED, by.at, why}, nil
}

func ownEnd(ended *cloud.End) *end {
	if !ended.Failed {
		return &end{deployment.StatusSUCCEEDED, ended.At, nil}
	}
	why := &fault.Data{Code: string(fault.DeploymentFailed), Message: ended.Reason, Description: ended.Rollback}
	if why.Message == "" {
		why.Message, why.Description = ended.Rollback, ""
	}
	if why.Message == "" {
		why.Message = "The cloud gave no reason."
	}
	return &end{deployment.StatusFAILED, ended.At, why}
}

// laterHasEnded reports whether a deployment of the service that began after that of a course has ended.
func (f *follower) laterHasEnded(c *course) bool {
	if f.ended != nil && positionOf(f.ended).compare(c.position()) > 0 {
		return true
	}
	for _, other := range f.courses {
		if other.position().compare(c.position()) > 0 && other.hasEnded() {
			return true
		}
	}
	return false
}

// next returns the position of the deployment of the service that began next after that of a course, of which there is
// one.
func (f *follower) next(ctx context.Context, c *course) (position, error) {
	var next position
	for _, other := range f.courses {
		if p := other.position(); p.compare(c.position()) > 0 && (next == position{} || p.compare(next) < 0) {
			next = p
		}
	}
	d, err := f.neighbour(ctx, c.position(), true, f.loaded()...)
	if err != nil || d == nil {
		return next, err
	}
	if p := positionOf(d); (next == position{}) || p.compare(next) < 0 {
		next = p
	}
	return next, nil
}

// endsOtherwise reports whether an end is not the one that the record has.
func (c *course) endsOtherwise(end *end) bool {
	d := c.deployment
	return end != nil && (d.Status != end.status || d.CompletedAt != nil && !d.CompletedAt.Equal(end.at))
}
