package fake

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
)

// breakCircuit is what the circuit breaker does.
func (d *deployment) breakCircuit() {
	d.DeploymentCircuitBreaker.Status = types.ServiceDeploymentRollbackMonitorsStatusTriggered
	const reason = "ECS deployment circuit breaker: tasks failed to start."
	d.StatusReason = new(reason)
	d.event(d.target.externalID, failed, reason)
	breaker := d.DeploymentConfiguration.DeploymentCircuitBreaker
	if breaker == nil || !breaker.Rollback || d.service.current == nil {
		d.stop(reason)
		return
	}
	d.goBack("ECS deployment circuit breaker")
}

// goBack begins to roll back, which shows as one more deployment in the events.
func (d *deployment) goBack(who string) {
	now := d.service.cloud.Clock.Now()
	back := d.service.current
	d.backTo = back
	d.rollbackID = fmt.Sprintf("ecs-svc/%019d", 4980306466373570000+d.service.cloud.next())
	reason := fmt.Sprintf("%s: rolling back to deploymentId %s.", who, back.externalID)
	d.Status, d.LifecycleHookDetails = types.ServiceDeploymentStatusRollbackInProgress, nil
	d.Rollback = &types.Rollback{Reason: &reason, StartedAt: &now, ServiceRevisionArn: back.ServiceRevisionArn}
	d.event(d.rollbackID, inProgress, reason)
	shifts := d.DeploymentConfiguration.Strategy != types.DeploymentStrategyRolling

	d.due = now
	d.plan = []step{
		{takes: taskTakes, begin: func(d *deployment) {
			if shifts {
				d.weights(0, 0)
			}
			d.sources(func(s *types.ServiceRevisionSummary) {
				s.RunningTaskCount, s.RequestedTaskCount = d.service.described.DesiredCount, d.service.described.DesiredCount
			})
		}},
		{begin: (*deployment).wentBack},
	}
}

func (d *deployment) wentBack() {
	now := d.service.cloud.Clock.Now()
	d.tasks(0, 0)
	d.Status, d.FinishedAt = types.ServiceDeploymentStatusRollbackSuccessful, &now
	d.service.described.TaskDefinition = d.service.current.TaskDefinition
	d.service.current.summary = d.SourceServiceRevisions[0]
	summary := &d.service.current.summary
	summary.RequestedProductionTrafficWeight, summary.RequestedTestTrafficWeight = nil, nil
	d.event(d.rollbackID, completed, fmt.Sprintf("ECS deployment %s completed.", d.rollbackID))
}

func stopServiceDeployment(c *Cloud, in *ecs.StopServiceDeploymentInput) (*ecs.StopServiceDeploymentOutput, error) {
	d, err := c.deploymentOf(in.ServiceDeploymentArn)
	if err != nil {
		return nil, err
	}
	switch {
	case d.ended():
		return nil, refuse("ConflictException", "The service deployment is %s and cannot be stopped.", d.Status)
	case d.service.current == nil: // a guess
		return nil, refuse("ConflictException", "There is no service revision to roll back to.")
	case d.Rollback == nil && d.Status != types.ServiceDeploymentStatusRollbackRequested:
		d.Status, d.LifecycleHookDetails = types.ServiceDeploymentStatusRollbackRequested, nil
		d.StatusReason = new("The service deployment was stopped.")
		d.due = c.Clock.Now()
		d.plan = []step{{begin: func(d *deployment) { d.goBack("Service deployment rolled back because it was stopped") }}}
	}
	return &ecs.StopServiceDeploymentOutput{ServiceDeploymentArn: d.ServiceDeploymentArn}, nil
}
