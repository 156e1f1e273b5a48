package cloud

import (
	"reflect"
	"time"

	"slipway/internal/pure/ecs"
	"slipway/internal/pure/event"
)

// Apply carries into the data of a deployment what its events say, where they said before what before has, and after
// now. folded is how many of its oldest events are no longer kept; Apply returns that number as it is then. A field
// that has something else than before was reported by the runner: it stays, unless the events are of a later time.
func Apply(d *ecs.Data, folded int32, before, after Observation) int32 {
	change(&d.ServiceDeploymentARN, before.ServiceDeploymentARN, after.ServiceDeploymentARN)
	change(&d.RevertExternalDeploymentID, before.RevertTo, after.RevertTo)
	change(&d.RevertRequestedAt, text(stamp(before.RevertedAt)), text(stamp(after.RevertedAt)))
	d.AcceptedPauseControl = changedPause(d.AcceptedPauseControl, before.AcceptedPause, after.AcceptedPause)
	d.ServiceDeploymentState = changedState(d.ServiceDeploymentState, before, after)
	d.Events, folded = event.Replace(d.Events, folded, before.Events, after.Events)
	return folded
}

// change changes a field that has what the events said before.
func change(field **string, before, after string) {
	if text(*field) == before {
		*field = orNil(after)
	}
}

func changedPause(now, before, after *ecs.AcceptedPauseControl) *ecs.AcceptedPauseControl {
	switch {
	case now == nil,
		before != nil && text(now.HookID) == text(before.HookID) && text(now.AcceptedAt) == text(before.AcceptedAt):
		return after
	case after != nil && instant(now.AcceptedAt).Before(instant(after.AcceptedAt)):
		return after
	}
	return now
}

// changedState returns the state of the service deployment. What events do not say of it, such as the numbers of tasks,
// stays as the runner has reported it; and so does what they have said before the runner has seen something else.
func changedState(now *ecs.ServiceDeploymentState, before, after Observation) *ecs.ServiceDeploymentState {
	s := ecs.ServiceDeploymentState{}
	if now != nil {
		s = *now
	}

	seen, last := instant(s.ObservedAt), after.ObservedAt()
	// Of the same time, it may still be the runner's: what differs from what the events said is.
	own := text(s.ObservedAt) == text(stamp(before.ObservedAt()))
	if !own && !seen.Before(last) {
		return now
	}

	for _, field := range []struct {
		value         **string
		before, after string
		saidAt        time.Time
	}{
		{&s.Status, before.Status, after.Status, after.StatusAt},
		{&s.StatusReason, before.StatusReason, after.StatusReason, after.StatusAt},
		{&s.LifecycleStage, before.LifecycleStage, after.LifecycleStage, after.HookAt},
		{&s.ServiceDeploymentARN, before.ServiceDeploymentARN, after.ServiceDeploymentARN, after.HookAt},
		{&s.ObservedAt, text(stamp(before.ObservedAt())), text(stamp(last)), last},
	} {
		if own && text(*field.value) == field.before || field.after != "" && seen.Before(field.saidAt) {
			*field.value = orNil(field.after)
		}
	}

	if reflect.ValueOf(s).IsZero() {
		return nil
	}
	return &s
}
