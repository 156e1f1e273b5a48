package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
	smithymiddleware "github.com/aws/smithy-go/middleware"
)

// observation is a service deployment at a moment of the cloud's clock.
type observation struct {
	*types.ServiceDeployment
	at time.Time
}

// timeOf returns when AWS has answered, by its own clock, as its events are. AWS gives that in whole seconds. It is the
// end of the second here, because what the events of the same second say is in the answer, or in a later one.
func timeOf(metadata smithymiddleware.Metadata) time.Time {
	if at, ok := middleware.GetServerTime(metadata); ok {
		return at.UTC().Truncate(time.Second).Add(time.Second - time.Millisecond)
	}
	return time.Now().UTC()
}

// follow reports the service deployment until it has ended. If the program is to end, or the time is over, it has
// ECS roll back, and follows that.
func (w *worker) follow(ctx context.Context, started *types.ServiceDeploymentBrief) error {
	// by the cloud's clock, whatever program has begun it
	deadline := timeOr(started.CreatedAt, time.Now()).Add(w.timeout())
	var stopped error // why it was stopped
	for {
		o, err := w.look(ctx, started.ServiceDeploymentArn)
		if err != nil {
			return err
		}

		w.observe(ctx, o)
		if hasEnded(o.Status) {
			return w.outcome(ctx, o, stopped)
		}

		if stopped == nil {
			if stopped = w.overdue(o.at, deadline); stopped != nil {
				if err := w.rollBack(ctx, o, stopped); err != nil {
					return err
				}
				continue
			}
		}

		w.wait(ctx, stopped != nil)
	}
}

// overdue returns why the service deployment is not to go on, nil if it is.
func (w *worker) overdue(now, deadline time.Time) error {
	switch {
	case w.stopping():
		return errStopped
	case now.After(deadline):
		return fmt.Errorf("the service deployment had not ended after %d minutes", w.wants().TimeoutMinutes)
	}
	return nil
}

// look returns a service deployment as it is now.
func (w *worker) look(ctx context.Context, arn *string) (*observation, error) {
	o, err := patiently(ctx, w, func() (*observation, error) { return w.describe(ctx, arn) })
	if err != nil {
		return nil, fmt.Errorf("what becomes of the service deployment %s is not known: %w", text(arn), err)
	}
	return o, nil
}

// rollBack has ECS go back to the earlier revision. ECS does so by itself from then on, whatever becomes of this
// program.
func (w *worker) rollBack(ctx context.Context, o *observation, why error) error {
	if len(o.SourceServiceRevisions) == 0 {
		return fmt.Errorf("%w: the service has no earlier revision to go back to, so ECS goes on with this one; destroy the "+
			"instance to remove it", why)
	}
	if isGoingBack(o.Status) {
		return nil
	}
	if _, err := patiently(ctx, w, func() (*types.Service, error) { return w.mayChange(ctx) }); err != nil {
		return fmt.Errorf("%w: %w", why, err)
	}

	w.print.message("Stopping: ECS is asked to go back to the earlier revision.")
	_, err := patiently(ctx, w, func() (*ecs.StopServiceDeploymentOutput, error) {
		return visibly(ctx, w, func() (*ecs.StopServiceDeploymentOutput, error) {
			out, err := w.ecs.StopServiceDeployment(ctx, &ecs.StopServiceDeploymentInput{
				ServiceDeploymentArn: o.ServiceDeploymentArn, StopType: types.StopServiceDeploymentStopTypeRollback,
			})
			return out, explain(err)
		})
	})
	if err == nil {
		return nil
	}

	// It may have ended in the meantime, or be stopped already. Otherwise nothing was stopped.
	err = fmt.Errorf("%w: ECS goes on, because it could not be stopped: %w", why, err)
	now, lookErr := w.look(ctx, o.ServiceDeploymentArn)
	if lookErr != nil {
		return fmt.Errorf("%w; and then: %w", err, lookErr)
	}

	w.observe(ctx, now)
	if hasEnded(now.Status) || isGoingBack(now.Status) {
		return nil
	}
	return err
}

// outcome returns how the service deployment ended, after its last report.
func (w *worker) outcome(ctx context.Context, o *observation, stopped error) error {
	if err := w.listenersAfter(ctx); err != nil { // what has ended has ended, whatever can be seen of it
		w.print.message("What the listeners do now cannot be seen: " + err.Error())
	}
	if o.Status == types.ServiceDeploymentStatusSuccessful {
		w.print.step("DONE", "The service deployment was successful.")
		return nil
	}

	reason := text(o.StatusReason)
	if o.Rollback != nil {
		reason = cmp.Or(text(o.Rollback.Reason), reason)
	}
	err := fmt.Errorf(
		"the service deployment %s ended as %s: %s", text(o.ServiceDeploymentArn), o.Status,
		cmp.Or(reason, "ECS gives no reason"),
	)
	if stopped != nil {
		return fmt.Errorf("%w: %w", stopped, err)
	}
	return err
}
