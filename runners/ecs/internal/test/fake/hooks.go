package fake

import (
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
)

// pauseTakes is how long a pause waits that says nothing of it.
const pauseTakes = 24 * time.Hour

func (d *deployment) beginHooks(stage types.ServiceDeploymentLifecycleStage) {
	for _, hook := range d.DeploymentConfiguration.LifecycleHooks {
		if !slices.Contains(hook.LifecycleStages, types.DeploymentLifecycleHookStage(stage)) {
			continue
		}

		detail := types.DeploymentLifecycleHookDetail{
			TargetType: types.DeploymentLifecycleHookTargetTypeAwsLambda, TargetArn: hook.HookTargetArn,
			HookId: new(fmt.Sprintf("ecs-hook-%d", d.service.cloud.next())),
			Status: types.DeploymentLifecycleHookStatusInProgress,
		}

		if hook.TargetType == types.DeploymentLifecycleHookTargetTypePause {
			takes, action := pauseTakes, types.DeploymentLifecycleHookActionRollback
			if c := hook.TimeoutConfiguration; c != nil {
				takes, action = time.Duration(deref(c.TimeoutInMinutes))*time.Minute, c.Action
			}
			detail.HookId = new(fmt.Sprintf("ecs-pause-%d", d.service.cloud.next()))
			detail.TargetType = types.DeploymentLifecycleHookTargetTypePause
			detail.Status = types.DeploymentLifecycleHookStatusAwaitingAction
			d.pausedAt = d.service.cloud.Clock.Now()
			detail.ExpiresAt, detail.TimeoutAction = new(d.pausedAt.Add(takes)), action
			d.hookEvent(d.pausedAt, hookAwaitsAction, detail)
		}

		d.LifecycleHookDetails = append(d.LifecycleHookDetails, detail)
	}
}

// finishHooks ends the hooks of a stage that is over.
func (d *deployment) finishHooks() {
	for _, detail := range d.LifecycleHookDetails {
		if detail.TargetType == types.DeploymentLifecycleHookTargetTypeAwsLambda {
			d.hookEvent(d.service.cloud.Clock.Now(), hookSucceeded, detail)
		}
	}
	d.LifecycleHookDetails = nil
}

// waits reports whether a pause waits for somebody.
func (d *deployment) waits() bool {
	return slices.ContainsFunc(d.LifecycleHookDetails, func(h types.DeploymentLifecycleHookDetail) bool {
		return h.Status == types.DeploymentLifecycleHookStatusAwaitingAction
	})
}

// settlePauses ends the pauses whose time is over.
func (d *deployment) settlePauses(now time.Time) {
	for i := range d.LifecycleHookDetails {
		h := &d.LifecycleHookDetails[i]
		if h.Status != types.DeploymentLifecycleHookStatusAwaitingAction || now.Before(*h.ExpiresAt) {
			continue
		}
		h.Status = types.DeploymentLifecycleHookStatusTimedOut
		if h.TimeoutAction == types.DeploymentLifecycleHookActionRollback {
			d.hookEvent(now, hookFailed, *h)
			d.StatusReason = new("A pause was not continued in time.")
			d.goBackFromHook()
			return
		}
		d.due = now
	}
}

func (d *deployment) goBackFromHook() {
	if d.service.current == nil {
		d.stop(deref(d.StatusReason))
		return
	}
	d.goBack("Service deployment rolled back because of a lifecycle hook")
}

func continueServiceDeployment(
	c *Cloud, in *ecs.ContinueServiceDeploymentInput,
) (*ecs.ContinueServiceDeploymentOutput, error) {
	d, err := c.deploymentOf(in.ServiceDeploymentArn)
	if err != nil {
		return nil, err
	}

	now := c.Clock.Now()
	for i := range d.LifecycleHookDetails {
		h := &d.LifecycleHookDetails[i]
		if deref(h.HookId) != deref(in.HookId) || h.Status != types.DeploymentLifecycleHookStatusAwaitingAction {
			continue
		}

		d.UpdatedAt = &now
		if in.Action == types.DeploymentLifecycleHookActionRollback {
			h.Status = types.DeploymentLifecycleHookStatusFailed
			d.hookEvent(now, hookFailed, *h)
			d.StatusReason = new("A pause was refused.")
			d.goBackFromHook()
		} else {
			h.Status, d.due = types.DeploymentLifecycleHookStatusSucceeded, now.Add(stageTakes)
			d.accepted = &Pause{HookID: *h.HookId, Stage: string(d.LifecycleStage), Began: d.pausedAt, Accepted: now}
			d.hookEvent(now, hookSucceeded, *h)
		}

		return &ecs.ContinueServiceDeploymentOutput{ServiceDeploymentArn: d.ServiceDeploymentArn}, nil
	}

	return nil, invalid("No lifecycle hook %s awaits an action.", deref(in.HookId))
}

// Continue ends a pause as somebody does who lets the service deployment go on, or go back.
func (c *Cloud) Continue(deployment, hook string, goOn bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	action := types.DeploymentLifecycleHookActionRollback
	if goOn {
		action = types.DeploymentLifecycleHookActionContinue
	}
	_, err := continueServiceDeployment(
		c, &ecs.ContinueServiceDeploymentInput{ServiceDeploymentArn: &deployment, HookId: &hook, Action: action},
	)
	return err
}

// UpdateOutside updates a service as somebody does who goes past Slipway, and waits until that has been carried out.
func (c *Cloud) UpdateOutside(in *ecs.UpdateServiceInput) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := updateService(c, in); err != nil {
		return err
	}
	for range 1000 {
		s, err := c.find(in.Cluster, in.Service)
		if err != nil || s.last.ended() {
			return err
		}
		c.Clock.Advance(c.Tick)
		c.settle()
	}
	return refuse("ServerException", "the service deployment does not end")
}
