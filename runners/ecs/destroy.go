package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
)

// The steps of a destroy.
var destroySteps = []string{"SCALE", "DELETE", "DEREGISTER", "DONE"}

// destroy removes the service and the task definitions that Slipway has registered for it. What is gone already is
// passed over, so that it can be carried out again.
func (w *worker) destroy(ctx context.Context) error {
	w.print.steps = destroySteps
	service, err := w.beforeDestroying(ctx)
	if err != nil {
		return err
	}

	w.print.update(func(d *data) {
		d.ClusterARN, d.ECSModuleDeploymentID = w.wants().ClusterARN, w.Deployment.ID
		if service != nil {
			d.ServiceARN = text(service.ServiceArn)
		}
	})

	if service != nil && text(service.Status) != draining {
		if err := w.scaleToZero(ctx, service); err != nil {
			return err
		}
		w.print.step("DELETE", "Deleting the service.")
		if _, err := w.beforeDestroying(ctx); err != nil {
			return err
		}

		// By force: something may have scaled it up again.
		_, err := visibly(ctx, w, func() (*ecs.DeleteServiceOutput, error) {
			return w.ecs.DeleteService(
				ctx, &ecs.DeleteServiceInput{Service: service.ServiceArn, Cluster: service.ClusterArn, Force: aws.Bool(true)},
			)
		})
		if err != nil && !isCode(err, "ServiceNotFoundException") && !isCode(err, "ServiceNotActiveException") {
			return explain(err)
		}
	}

	if err := w.gone(ctx); err != nil {
		return err
	}
	w.print.step("DEREGISTER", "Deregistering the task definitions.")
	if err := w.deregister(ctx); err != nil {
		return err
	}

	w.print.step("DONE", "The service is gone.")
	return w.print.err
}

// beforeDestroying is beforeChange for a destroy, of which a part may have been done.
func (w *worker) beforeDestroying(ctx context.Context) (*types.Service, error) {
	if w.stopping() {
		return nil, fmt.Errorf("%w while the service was destroyed: destroy it again to go on", errStopped)
	}
	return w.mayChange(ctx)
}

func (w *worker) scaleToZero(ctx context.Context, service *types.Service) error {
	w.print.step("SCALE", "Scaling the service to 0 tasks.")
	if tagOf(service.Tags, tagFence) != string(w.Deployment.Fence) ||
		tagOf(service.Tags, tagDeployment) != w.Deployment.ID {
		tags := append(w.tags(tagOf(service.Tags, tagSince)), tag(tagCount, unknownCount))
		if err := w.tag(ctx, service, tags); err != nil {
			return err
		}
	}

	if _, err := w.beforeDestroying(ctx); err != nil {
		return err
	}

	_, err := visibly(ctx, w, func() (*ecs.UpdateServiceOutput, error) {
		return w.ecs.UpdateService(
			ctx, &ecs.UpdateServiceInput{Service: service.ServiceArn, Cluster: service.ClusterArn, DesiredCount: aws.Int32(0)},
		)
	})
	if err != nil && !isCode(err, "ServiceNotFoundException") && !isCode(err, "ServiceNotActiveException") {
		return explain(err)
	}
	return nil
}

// gone waits until the service is gone.
func (w *worker) gone(ctx context.Context) error {
	for deadline := w.deadline(); ; {
		service, err := w.beforeDestroying(ctx)
		if err != nil || service == nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the service %s is still %s after %d minutes: destroy it again to go on",
				text(service.ServiceArn), text(service.Status), w.wants().TimeoutMinutes)
		}
		w.wait(ctx, false)
	}
}

// deregister deregisters the task definitions of the instance. Those that a release only names stay, and so do those of
// a later deployment, which may have registered its own while the service was gone.
func (w *worker) deregister(ctx context.Context) error {
	arns, err := w.definitions(ctx, math.MaxInt)
	if err != nil {
		return err
	}

	for _, arn := range arns {
		_, tags, err := w.describeTaskDefinition(ctx, arn)
		if err != nil {
			return err
		}
		if tagOf(tags, tagInstance) != w.Deployment.ModuleInstanceID ||
			fence(tagOf(tags, tagFence)).Compare(w.Deployment.Fence) > 0 {
			continue
		}
		if _, err := w.beforeDestroying(ctx); err != nil {
			return err
		}
		if _, err := w.ecs.DeregisterTaskDefinition(
			ctx, &ecs.DeregisterTaskDefinitionInput{TaskDefinition: &arn},
		); err != nil {
			return explain(err)
		}
	}

	return nil
}
