package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
)

// observe reports a service deployment as it is now.
func (w *worker) observe(ctx context.Context, o *observation) {
	now := stateOf(o)
	pre, post := hooksOf(o.DeploymentConfiguration)
	w.print.update(func(d *data) {
		if !sameState(d.ServiceDeploymentState, now) {
			d.ServiceDeploymentState = now
		}
		d.PreDeployEnabled, d.PostDeployEnabled = &pre, &post
	})
	w.observeStage(o)
	w.observePauses(o)
	// the next look may show it; what becomes of it does not depend on it
	if err := w.observeRollback(ctx, o); err != nil {
		w.print.message("What the service goes back to cannot be seen: " + err.Error())
	}
}

// hooksOf reports whether hooks or pauses are to come before production traffic moves, and when it has begun to.
func hooksOf(c *types.DeploymentConfiguration) (pre, post bool) {
	if c == nil {
		return false, false
	}
	for _, h := range c.LifecycleHooks {
		for _, stage := range h.LifecycleStages {
			if slices.Contains(beforeShift, stage) {
				pre = true
			} else {
				post = true
			}
		}
	}
	return pre, post
}

// observeStage says at what a service deployment is, once for each.
func (w *worker) observeStage(o *observation) {
	if hasEnded(o.Status) {
		return
	}
	stage := string(o.LifecycleStage)
	e := progress{
		LifecycleStage: stage, StartedAt: stamp(o.at), Message: fmt.Sprintf("The service deployment is %s.", o.Status),
	}
	if o.TargetServiceRevision != nil {
		e.DesiredCount = &o.TargetServiceRevision.RequestedTaskCount
	}

	at := slices.Index(w.print.steps, cmp.Or(stage, "ROLLING"))
	if !isGoingBack(o.Status) && (stage != "" || at >= 0) {
		e.Message = "ECS replaces the tasks."
		if stage != "" {
			e.Message = "The service deployment is at " + stage + "."
		}
		if r := o.TargetServiceRevision; stage != "" && r != nil && r.RequestedProductionTrafficWeight != nil {
			e.Message += fmt.Sprintf(" The new revision has %g%% of the traffic.", *r.RequestedProductionTrafficWeight)
		}
		if at >= 0 { // ECS may have added a stage
			e.CurrentStep, e.TotalSteps = at+1, len(w.print.steps)
		}
	}

	if e.Message != w.stage {
		w.stage = e.Message
		w.print.event(e)
	}
}

// waiting is a pause that waits for somebody.
type waiting struct {
	since   time.Time
	expires time.Time
	stage   string
}

// observePauses says which pauses wait for somebody, and reports the last that somebody has ended by letting it
// continue.
func (w *worker) observePauses(o *observation) {
	seen := map[string]bool{}
	for _, h := range o.LifecycleHookDetails {
		if h.TargetType != types.DeploymentLifecycleHookTargetTypePause ||
			h.Status != types.DeploymentLifecycleHookStatusAwaitingAction {
			continue
		}

		id := text(h.HookId)
		seen[id] = true
		if _, known := w.pauses[id]; !known {
			w.pauses[id] = waiting{
				since: w.pausedSince(o, &h), expires: aws.ToTime(h.ExpiresAt), stage: string(o.LifecycleStage),
			}
			w.print.event(progress{
				HookID: id, LifecycleStage: string(o.LifecycleStage), StartedAt: stamp(o.at),
				Message: fmt.Sprintf("The service deployment waits until %s for somebody to let it continue or go back: "+
					"aws ecs continue-service-deployment --service-deployment-arn %s --hook-id %s --action CONTINUE",
					timeIn(h.ExpiresAt), text(o.ServiceDeploymentArn), id),
			})
		}
	}

	for id, p := range w.pauses {
		if seen[id] {
			continue
		}
		delete(w.pauses, id)
		if accepted(o, id, p) {
			w.print.update(func(d *data) {
				d.AcceptedPauseControl = &pause{
					AcceptedAt: stamp(timeOr(o.UpdatedAt, o.at)), HookID: id, EventStartedAt: stamp(p.since), LifecycleStage: p.stage,
				}
			})
		}
	}
}

// timeOr returns a time, or another one if it is not known.
func timeOr(at *time.Time, or time.Time) time.Time {
	if at == nil {
		return or
	}
	return *at
}

// pausedSince returns since when a pause waits: as long before its end as it may take, if that is known.
func (w *worker) pausedSince(o *observation, h *types.DeploymentLifecycleHookDetail) time.Time {
	if o.DeploymentConfiguration != nil && h.ExpiresAt != nil {
		for _, hook := range o.DeploymentConfiguration.LifecycleHooks {
			if c := hook.TimeoutConfiguration; hook.TargetType == h.TargetType && c != nil && c.TimeoutInMinutes != nil {
				return h.ExpiresAt.Add(-time.Duration(*c.TimeoutInMinutes) * time.Minute)
			}
		}
	}
	return timeOr(o.UpdatedAt, o.at)
}

// accepted reports whether a pause that no longer waits was let continue by somebody, and not by its time.
func accepted(o *observation, id string, p waiting) bool {
	for _, h := range o.LifecycleHookDetails {
		if text(h.HookId) == id {
			return h.Status == types.DeploymentLifecycleHookStatusSucceeded
		}
	}
	goesOn := o.Status == types.ServiceDeploymentStatusInProgress || o.Status == types.ServiceDeploymentStatusSuccessful
	return goesOn && (p.expires.IsZero() || o.at.Before(p.expires))
}

// observeRollback reports what the service goes back to.
func (w *worker) observeRollback(ctx context.Context, o *observation) error {
	if o.Rollback == nil || w.print.reported.RevertRequestedAt != "" {
		return nil
	}
	all, err := w.deployments(ctx, &types.Service{ServiceArn: o.ServiceArn, ClusterArn: o.ClusterArn})
	if err != nil {
		return err
	}

	target := slices.IndexFunc(all, func(d types.ServiceDeploymentBrief) bool {
		return text(d.TargetServiceRevisionArn) == text(o.Rollback.ServiceRevisionArn) &&
			text(d.ServiceDeploymentArn) != text(o.ServiceDeploymentArn)
	})
	external, err := w.externalOf(ctx, o.Rollback.ServiceRevisionArn)
	if err != nil {
		return err
	}

	w.print.update(func(d *data) {
		d.RevertRequestedAt, d.RevertExternalDeploymentID = stamp(timeOr(o.Rollback.StartedAt, o.at)), external
		if target >= 0 {
			d.RevertServiceDeploymentARN = text(all[target].ServiceDeploymentArn)
		}
	})

	return nil
}

// externalOf returns the id by which events call the deployment of an earlier service revision, "" if it is not
// known any more.
func (w *worker) externalOf(ctx context.Context, revision *string) (string, error) {
	revisions, err := w.revisions(ctx, []types.ServiceDeploymentBrief{{TargetServiceRevisionArn: revision}})
	if err != nil {
		return "", err
	}
	service, err := w.service(ctx)
	if err != nil || service == nil {
		return "", err
	}
	for _, d := range service.Deployments {
		// The one that ECS has begun to go back is PRIMARY, and has the same task definition; that of this deployment may,
		// too.
		if text(d.Status) != "PRIMARY" && text(d.Id) != w.print.fields[externalID] &&
			text(d.TaskDefinition) == text(revisions[text(revision)].TaskDefinition) {
			return text(d.Id), nil
		}
	}
	return "", nil
}
