package demo

import (
	"fmt"

	"slipway/internal/base/fault"
)

// ending is how far a deployment gets and what comes of it.
type ending struct {
	// stage is the last that it reaches; empty for all of them.
	stage string
	// status and reason are the cloud's words for it.
	status, reason string
	// failure makes the error of a deployment that fails.
	failure func(*rollout) *fault.Data
	// canceled deployments are stopped by a developer, waits ones are never claimed.
	canceled, waits bool
}

func (e ending) succeeds() bool { return e.status == "SUCCESSFUL" }

// The ways to end.
var (
	succeeded = ending{status: "SUCCESSFUL"}
	stopped   = ending{stage: scaleUp, status: "STOPPED", reason: "The deployment was stopped on request.", canceled: true}
	midShift  = ending{stage: productionShift, status: "IN_PROGRESS"}
	scalingUp = ending{stage: scaleUp, status: "IN_PROGRESS"}
	baking    = ending{stage: bakeTime, status: "IN_PROGRESS"}
	waiting   = ending{waits: true}

	imageMissing = ending{
		stage: scaleUp, status: "ROLLBACK_SUCCESSFUL", failure: noSuchImage,
		reason: "Service deployment rolled back because the tasks could not be started.",
	}
	circuitBroken = ending{
		stage: scaleUp, status: "ROLLBACK_SUCCESSFUL", failure: tasksExit,
		reason: "Service deployment rolled back because the circuit breaker threshold was exceeded.",
	}
	unhealthy = ending{
		stage: scaleUp, status: "ROLLBACK_SUCCESSFUL", failure: checksFail,
		reason: "Service deployment rolled back because tasks failed their health checks.",
	}
	alarmRaised = ending{
		stage: bakeTime, status: "ROLLBACK_SUCCESSFUL", failure: alarmed,
		reason: "Service deployment rolled back because of one or more alarms.",
	}
)

func noSuchImage(r *rollout) *fault.Data {
	return r.failed("The image could not be pulled.",
		"The registry has no image of the tag that the task definition names. Push it, then redeploy.",
		"CannotPullContainerError: pull image manifest has been retried 5 times: failed to resolve ref: not found",
		map[string]any{"reason": "image_pull", "attempts": 5})
}

func tasksExit(r *rollout) *fault.Data {
	return r.failed("The tasks ended soon after they had started.",
		fmt.Sprintf(
			"%d tasks in a row ended with exit code 1, so the circuit breaker went back to the revision before.", 2*r.s.replicas,
		),
		"Essential container in task exited (exit code: 1)",
		map[string]any{"reason": "circuit_breaker", "failedTasks": 2 * r.s.replicas, "exitCode": 1})
}

func checksFail(r *rollout) *fault.Data {
	return r.failed("The tasks failed their health checks.",
		"The tasks ran, but their health check did not answer in time.",
		"Task failed container health checks",
		map[string]any{"reason": "health_check", "timeoutSeconds": 3, "retries": 3})
}

func alarmed(r *rollout) *fault.Data {
	name := r.s.family() + "-errors"
	return r.failed("An alarm went off after the traffic had moved.",
		"More than 2 % of the requests failed while the new tasks were being watched.",
		"Alarm "+name+" changed to ALARM",
		map[string]any{"reason": "alarm", "alarm": name})
}

// failed makes the error of a deployment whose tasks stopped for a reason.
func (r *rollout) failed(message, description, reason string, metadata map[string]any) *fault.Data {
	where := map[string]any{
		"cluster": r.s.arn("cluster", ""), "service": r.s.arn("service", ""), "serviceDeployment": r.arn,
	}
	var tasks []string
	for range 2 {
		tasks = append(tasks, fmt.Sprintf("task/%s: %s", r.letters(32), reason))
	}
	return &fault.Data{
		Code: string(fault.DeploymentFailed), Message: message, Description: description,
		Action: &fault.Action{Label: "Show the logs", URL: "https://logs.northwind.example/groups/ecs/" + r.s.family()},
		Details: []fault.Section{
			{Title: "Stopped tasks", Render: fault.RenderList, Items: tasks},
			{Title: "Where", Render: fault.RenderObject, Object: where},
		},
		Metadata: metadata,
	}
}
