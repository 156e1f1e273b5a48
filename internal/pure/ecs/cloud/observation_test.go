package cloud_test

import (
	"fmt"
	"testing"
	"time"

	"slipway/internal/pure/ecs/cloud"
)

// at is when the events of the tests begin.
var at = time.Date(2026, 3, 5, 16, 0, 0, 0, time.UTC)

// said is an event of a deployment, some minutes after the first.
func said(minute int, name, deploymentID, reason string) cloud.Event {
	return cloud.Event{
		ID: fmt.Sprint(minute), Kind: cloud.DeploymentStateChange, Name: name, DeploymentID: deploymentID, Reason: reason,
		Time: at.Add(time.Duration(minute) * time.Minute),
	}
}

func TestTheFirstEventOfEachKindCounts(t *testing.T) {
	t.Parallel()
	const begins, completes, fails, own, back = cloud.DeploymentInProgress, cloud.DeploymentCompleted, cloud.DeploymentFailed, "ecs-svc/2", "ecs-svc/3"
	for name, c := range map[string]struct {
		events []cloud.Event
		// want is the status with its reason, the minutes of start, rollback and end, and how it ended.
		want string
	}{
		"a start": {[]cloud.Event{said(1, begins, own, "a"), said(2, begins, own, "b")}, `IN_PROGRESS "a" 1 none none`},
		"a completion": {
			[]cloud.Event{said(1, begins, own, ""), said(2, completes, own, "a"), said(3, completes, own, "b")},
			`SUCCESSFUL "a" 1 none 2 false "a" ""`,
		},
		"a failure without a reason": {[]cloud.Event{said(1, begins, own, "a"), said(2, fails, own, ""), said(3, fails, own, "b")}, `FAILED "" 1 none 2 true "" ""`},
		"a rollback": {
			[]cloud.Event{said(1, begins, own, ""), said(2, begins, back, "rolling back a"), said(3, begins, back, "rolling back b"), said(4, begins, back, "")},
			`ROLLBACK_IN_PROGRESS "rolling back a" 1 2 2 true "" "rolling back a"`,
		},
		"a rollback that completes": {
			[]cloud.Event{said(1, begins, own, ""), said(2, begins, back, "rolling back"), said(3, completes, back, ""), said(4, completes, back, "b")},
			`ROLLBACK_SUCCESSFUL "" 1 2 2 true "" "rolling back"`,
		},
		"a rollback that fails": {
			[]cloud.Event{said(1, begins, own, ""), said(2, fails, own, "a"), said(3, begins, back, "rolling back"), said(4, fails, back, "b"), said(5, fails, back, "c")},
			`ROLLBACK_FAILED "b" 1 3 2 true "a" "rolling back"`,
		},
		"a rollback before the failure": {
			[]cloud.Event{said(1, begins, own, ""), said(2, begins, back, "rolling back"), said(3, fails, own, "a")},
			`ROLLBACK_IN_PROGRESS "rolling back" 1 2 2 true "a" "rolling back"`,
		},
		"a rollback of another, after the completion": {
			[]cloud.Event{said(1, begins, own, ""), said(2, completes, own, "a"), said(3, begins, back, "rolling back")},
			`SUCCESSFUL "a" 1 none 2 false "a" ""`,
		},
	} {
		o := cloud.Observe(own, c.events)
		got := fmt.Sprintf("%s %q %s %s ", o.Status, o.StatusReason, minute(o.StartedAt), minute(o.RevertedAt))
		if o.End == nil {
			got += "none"
		} else {
			got += fmt.Sprintf("%s %t %q %q", minute(o.End.At), o.End.Failed, o.End.Reason, o.End.Rollback)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestARollbackIsSeenThatNamesNoTargetOfADeploymentWithoutAnID(t *testing.T) {
	t.Parallel()
	o := cloud.Observe("", []cloud.Event{said(1, cloud.DeploymentInProgress, "ecs-svc/3", "ECS deployment circuit breaker: rolling back.")})
	if o.RevertTo != "" || o.RevertedAt != at.Add(1*time.Minute) || o.End == nil || !o.End.Failed {
		t.Errorf("%+v", o)
	}
}

func minute(when time.Time) string {
	if when.IsZero() {
		return "none"
	}
	return fmt.Sprint(int(when.Sub(at).Minutes()))
}
