package cloud_test

import (
	"testing"
	"time"

	"slipway/internal/pure/ecs"
	"slipway/internal/pure/ecs/cloud"
)

// pause is a pause of a hook that was accepted some minutes after the first event, nil for no hook.
func pause(hook string, minute int) *ecs.AcceptedPauseControl {
	if hook == "" {
		return nil
	}
	return &ecs.AcceptedPauseControl{HookID: &hook, AcceptedAt: stamp(minute)}
}

func stamp(minute int) *string {
	return new(at.Add(time.Duration(minute) * time.Minute).Format(time.RFC3339))
}

func TestOfThePausesOfTheRunnerTheNewestStays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ now, before, after, want *ecs.AcceptedPauseControl }{
		"the first":                            {nil, nil, pause("a", 1), pause("a", 1)},
		"of the events, and a newer one":       {pause("a", 1), pause("a", 1), pause("b", 2), pause("b", 2)},
		"of the events, and an older one":      {pause("b", 2), pause("b", 2), pause("a", 1), pause("a", 1)},
		"of the events, and none":              {pause("a", 1), pause("a", 1), nil, nil},
		"of the runner, and a newer one":       {pause("r", 1), nil, pause("b", 2), pause("b", 2)},
		"of the runner, and one of that time":  {pause("r", 2), nil, pause("b", 2), pause("r", 2)},
		"of the runner, and an older one":      {pause("r", 3), pause("a", 1), pause("b", 2), pause("r", 3)},
		"of the runner, and none":              {pause("r", 3), pause("a", 1), nil, pause("r", 3)},
		"of the runner for the same hook":      {pause("a", 3), pause("a", 1), pause("b", 2), pause("a", 3)},
		"of the runner at the time of another": {pause("r", 3), pause("a", 3), pause("b", 2), pause("r", 3)},
	} {
		d := &ecs.Data{Type: ecs.Type, AcceptedPauseControl: c.now}
		cloud.Apply(d, 0, cloud.Observation{AcceptedPause: c.before}, cloud.Observation{AcceptedPause: c.after})
		if got, want := string(d.Encode()), string((&ecs.Data{Type: ecs.Type, AcceptedPauseControl: c.want}).Encode()); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestOfTheStatesOfTheRunnerTheNewestStays(t *testing.T) {
	t.Parallel()
	seen := func(status string, minute int) cloud.Observation {
		return cloud.Observation{Status: status, StatusAt: at.Add(time.Duration(minute) * time.Minute)}
	}
	state := func(status string, minute int) *ecs.ServiceDeploymentState {
		return &ecs.ServiceDeploymentState{Status: &status, ObservedAt: stamp(minute)}
	}
	for name, c := range map[string]struct {
		now           *ecs.ServiceDeploymentState
		before, after cloud.Observation
		want          *ecs.ServiceDeploymentState
	}{
		"the first":                           {nil, cloud.Observation{}, seen("A", 1), state("A", 1)},
		"none":                                {nil, cloud.Observation{}, cloud.Observation{}, nil},
		"of the events, and a newer one":      {state("A", 1), seen("A", 1), seen("B", 2), state("B", 2)},
		"of the events, and an older one":     {state("B", 2), seen("B", 2), seen("A", 1), state("A", 1)},
		"of the events, and none":             {state("A", 1), seen("A", 1), cloud.Observation{}, nil},
		"of the runner, and a newer one":      {state("R", 1), cloud.Observation{}, seen("B", 2), state("B", 2)},
		"of the runner, and one of that time": {state("R", 2), seen("A", 1), seen("B", 2), state("R", 2)},
		"of the runner, and an older one":     {state("R", 3), seen("A", 1), seen("B", 2), state("R", 3)},
		"of the runner, and none":             {state("R", 3), seen("A", 1), cloud.Observation{}, state("R", 3)},
		"a newer one that has no status":      {state("R", 1), cloud.Observation{}, seen("", 2), state("R", 2)},
	} {
		d := &ecs.Data{Type: ecs.Type, ServiceDeploymentState: c.now}
		cloud.Apply(d, 0, c.before, c.after)
		if got, want := string(d.Encode()), string((&ecs.Data{Type: ecs.Type, ServiceDeploymentState: c.want}).Encode()); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestAStageThatTheRunnerHasSeenGivesWayOnlyToALaterHook(t *testing.T) {
	t.Parallel()
	// hooked is what events say of which the last hook and the last status are so many minutes after the first.
	hooked := func(stage string, hook int, status string, minute int) cloud.Observation {
		return cloud.Observation{
			Status: status, StatusAt: at.Add(time.Duration(minute) * time.Minute), LifecycleStage: stage, HookAt: at.Add(time.Duration(hook) * time.Minute),
		}
	}
	state := func(status, stage string, minute int) *ecs.ServiceDeploymentState {
		return &ecs.ServiceDeploymentState{Status: &status, LifecycleStage: &stage, ObservedAt: stamp(minute)}
	}
	for name, c := range map[string]struct {
		now           *ecs.ServiceDeploymentState
		before, after cloud.Observation
		want          *ecs.ServiceDeploymentState
	}{
		"of the events":                             {state("A", "HOOK", 2), hooked("HOOK", 1, "A", 2), hooked("NEXT", 3, "A", 2), state("A", "NEXT", 3)},
		"of the events, by one that came late":      {state("A", "HOOK", 4), hooked("HOOK", 1, "A", 4), hooked("NEXT", 3, "A", 4), state("A", "NEXT", 4)},
		"of the time of an event":                   {state("A", "SEEN", 2), hooked("HOOK", 1, "A", 2), hooked("HOOK", 1, "A", 2), state("A", "SEEN", 2)},
		"of the time of the hook":                   {state("A", "SEEN", 2), hooked("HOOK", 2, "A", 1), hooked("HOOK", 2, "A", 1), state("A", "SEEN", 2)},
		"of the time of an event, and a later hook": {state("A", "SEEN", 2), hooked("HOOK", 1, "A", 2), hooked("NEXT", 3, "A", 2), state("A", "NEXT", 3)},
		"of the time of an event, and an older one": {state("A", "SEEN", 3), hooked("HOOK", 1, "A", 3), hooked("NEXT", 2, "A", 3), state("A", "SEEN", 3)},
		"a status that is newer than the hook":      {state("R", "SEEN", 2), hooked("HOOK", 1, "A", 1), hooked("HOOK", 1, "B", 3), state("B", "SEEN", 3)},
		"a hook that is newer than the status":      {state("R", "SEEN", 2), hooked("HOOK", 1, "A", 1), hooked("NEXT", 3, "A", 1), state("R", "NEXT", 3)},
	} {
		d := &ecs.Data{Type: ecs.Type, ServiceDeploymentState: c.now}
		cloud.Apply(d, 0, c.before, c.after)
		if got, want := string(d.Encode()), string((&ecs.Data{Type: ecs.Type, ServiceDeploymentState: c.want}).Encode()); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestAnIDThatTheRunnerReportsStays(t *testing.T) {
	t.Parallel()
	for _, c := range [][4]string{{"", "", "a", "a"}, {"a", "a", "b", "b"}, {"a", "a", "", ""}, {"mine", "", "a", "mine"}, {"mine", "a", "b", "mine"}} {
		d, want := &ecs.Data{}, &ecs.Data{}
		if c[0] != "" {
			d.RevertExternalDeploymentID = &c[0]
		}
		if c[3] != "" {
			want.RevertExternalDeploymentID = &c[3]
		}
		cloud.Apply(d, 0, cloud.Observation{RevertTo: c[1]}, cloud.Observation{RevertTo: c[2]})
		if string(d.Encode()) != string(want.Encode()) {
			t.Errorf("%v: %s", c, d.Encode())
		}
	}
}
