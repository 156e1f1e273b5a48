package cloud

import (
	"cmp"
	"time"

	"slipway/internal/pure/ecs"
	"slipway/internal/pure/event"
)

// The statuses of a service deployment that its events show, in the order in which they follow each other. They are
// those of the cloud's own description of it; FAILED is a deployment that failed and is not rolled back.
const (
	inProgress         = "IN_PROGRESS"
	successful         = "SUCCESSFUL"
	failed             = "FAILED"
	rollbackInProgress = "ROLLBACK_IN_PROGRESS"
	rollbackSuccessful = "ROLLBACK_SUCCESSFUL"
	rollbackFailed     = "ROLLBACK_FAILED"
)

// Observation is what the events of one deployment say of it together. What is empty is not known.
type Observation struct {
	Status, StatusReason string
	// LifecycleStage is that of the last hook.
	LifecycleStage       string
	ServiceDeploymentARN string
	// StatusAt is the time of the last event that says something of the status, and HookAt that of the last hook.
	StatusAt, HookAt time.Time
	// AcceptedPause is the last pause that somebody has ended by letting the deployment continue.
	AcceptedPause *ecs.AcceptedPauseControl
	// RevertTo is the id of the deployment that the service goes back to.
	RevertTo string
	// RevertedAt is when it was first asked to go back: somebody refused a pause, or the cloud began to roll back by
	// itself.
	RevertedAt time.Time
	// StartedAt is when it started.
	StartedAt time.Time
	// End is how it ended, nil before.
	End *End
	// Events are the events as the deployment has them.
	Events []event.Event
}

// End is how a deployment ended.
type End struct {
	At time.Time
	// Failed is whether it failed or was rolled back.
	Failed bool
	// Reason is why it completed or failed, and Rollback why the cloud rolls it back.
	Reason, Rollback string
}

// Observe returns what events say of the deployment with an id, "" if it is not known. They are in the order of
// Compare.
func Observe(deploymentID string, events []Event) Observation {
	o := Observation{Events: entries(events)}
	o.observeHooks(events)

	milestones := findMilestones(deploymentID, events)
	if milestones.start != nil {
		o.StartedAt = milestones.start.Time
	}
	for status, e := range milestones.all() {
		if e == nil {
			continue
		}
		o.Status, o.StatusReason = status, e.Reason
		if e.Time.After(o.StatusAt) {
			o.StatusAt = e.Time
		}
	}

	if back := milestones.rollback; back != nil {
		o.RevertTo, _ = back.RollsBackTo()
		o.revertedAt(back.Time)
	}

	o.End = milestones.end()
	return o
}

// ObservedAt returns the time of the last event that says something of the deployment itself, and not only of its
// service.
func (o *Observation) ObservedAt() time.Time {
	if o.HookAt.After(o.StatusAt) {
		return o.HookAt
	}
	return o.StatusAt
}

func (o *Observation) revertedAt(at time.Time) {
	if o.RevertedAt.IsZero() || at.Before(o.RevertedAt) {
		o.RevertedAt = at
	}
}

// Setback returns what the events say against the deployment, nil for nothing.
func (o *Observation) Setback() *ecs.Setback {
	if !ecs.IsSetback(o.Status) {
		return nil
	}
	return &ecs.Setback{
		Status: o.Status, Reason: cmp.Or(o.End.Rollback, o.End.Reason, o.StatusReason),
		At: o.End.At, ServiceDeploymentARN: o.ServiceDeploymentARN,
	}
}

// milestones are the first events that brought a deployment to each of its statuses, nil for those that did not.
type milestones struct{ start, completed, failed, rollback, rolledBack, rollbackFailed *Event }

// all returns the statuses with their events, in the order in which they follow each other.
func (m milestones) all() func(yield func(string, *Event) bool) {
	return func(yield func(string, *Event) bool) {
		_ = yield(inProgress, m.start) && yield(successful, m.completed) && yield(failed, m.failed) &&
			yield(rollbackInProgress, m.rollback) && yield(rollbackSuccessful, m.rolledBack) &&
			yield(rollbackFailed, m.rollbackFailed)
	}
}

// findMilestones looks at the events of the deployment, and at those of another by which the cloud rolls it back. The
// cloud may also roll back under the deployment's own id: what completes after that is the rollback.
func findMilestones(deploymentID string, events []Event) (m milestones) {
	for i := range events {
		e := &events[i]
		own := e.Kind == DeploymentStateChange && e.DeploymentID == deploymentID
		target, back := e.RollsBackTo()

		switch {
		case back && (target == "" || target != deploymentID) && m.completed == nil: // an id may be unknown, too
			first(&m.rollback, e)
		case m.rollback != nil && e.DeploymentID == m.rollback.DeploymentID && e.isDeployment(DeploymentCompleted):
			first(&m.rolledBack, e)
		case own && e.isDeployment(DeploymentFailed):
			first(&m.failed, e)
		case m.rollback != nil && e.DeploymentID == m.rollback.DeploymentID && e.isDeployment(DeploymentFailed):
			first(&m.rollbackFailed, e)
		case own && e.Starts():
			first(&m.start, e)
		case own && e.isDeployment(DeploymentCompleted):
			first(&m.completed, e)
		}
	}

	return m
}

func first(of **Event, e *Event) {
	if *of == nil {
		*of = e
	}
}

// end returns how the deployment ended: what has failed or is rolled back has not succeeded, whatever else completed.
func (m milestones) end() *End {
	if m.failed == nil && m.rollback == nil {
		if m.completed == nil {
			return nil
		}
		return &End{At: m.completed.Time, Reason: m.completed.Reason}
	}

	end := &End{Failed: true}
	for _, e := range []*Event{m.failed, m.rollback} {
		if e != nil && (end.At.IsZero() || e.Time.Before(end.At)) {
			end.At = e.Time
		}
	}

	if m.failed != nil {
		end.Reason = m.failed.Reason
	}
	if m.rollback != nil {
		end.Rollback = m.rollback.Reason
	}
	return end
}

// pauseHook is the type of the hooks that wait for somebody to let the deployment continue.
const pauseHook = "PAUSE"

func (o *Observation) observeHooks(events []Event) {
	awaiting := map[string]Event{}
	for _, e := range events {
		if e.Kind != HookStateChange {
			continue
		}

		o.HookAt = e.Time
		if e.LifecycleStage != "" {
			o.LifecycleStage = e.LifecycleStage
		}
		if e.ServiceDeploymentARN != "" {
			o.ServiceDeploymentARN = e.ServiceDeploymentARN
		}

		waited, known := awaiting[e.HookID]
		isPause := known || e.HookType == pauseHook
		switch {
		case e.Name == HookAwaitingAction && !known:
			awaiting[e.HookID] = e
		case e.Name == HookFailed && isPause:
			o.revertedAt(e.Time)
		case e.Name == HookSucceeded && isPause:
			o.AcceptedPause = &ecs.AcceptedPauseControl{
				AcceptedAt: stamp(e.Time), HookID: orNil(e.HookID),
				EventStartedAt: stamp(waited.Time), LifecycleStage: orNil(e.LifecycleStage),
			}
		}
	}
}

// entries returns events as a deployment has them. The service repeats some actions every few hours; of equal ones that
// follow each other the first is there.
func entries(events []Event) []event.Event {
	var list []event.Event
	var last Event
	for _, e := range events {
		if e.Kind == ServiceAction {
			if e.Name == last.Name && e.Reason == last.Reason {
				continue
			}
			last = e
		}

		message := e.Name
		if e.Reason != "" {
			message += ": " + e.Reason
		}
		if e.ExpiresAt != "" {
			message += " until " + e.ExpiresAt
		}

		list = append(list, event.Event{
			StartedAt: stamp(e.Time), DesiredCount: e.DesiredCount,
			HookID: orNil(e.HookID), LifecycleStage: orNil(e.LifecycleStage), Message: &message,
		})
	}

	return list
}

// orNil returns a text, nil if it is empty.
func orNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// stamp returns a time as data has it, nil for none.
func stamp(at time.Time) *string {
	if at.IsZero() {
		return nil
	}
	return new(at.UTC().Format(time.RFC3339Nano))
}
