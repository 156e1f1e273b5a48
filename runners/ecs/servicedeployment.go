package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
)

// deployments returns the service deployments of a service since it was created, the newest first. ECS lists those of
// 90 days.
func (w *worker) deployments(ctx context.Context, service *types.Service) ([]types.ServiceDeploymentBrief, error) {
	var all []types.ServiceDeploymentBrief
	err := eachPage("service deployments", func(token *string) (*string, error) {
		page, err := w.ecs.ListServiceDeployments(ctx, &ecs.ListServiceDeploymentsInput{
			Service: service.ServiceArn, Cluster: service.ClusterArn, MaxResults: aws.Int32(100), NextToken: token,
		})
		if err != nil {
			return nil, err
		}

		for _, d := range page.ServiceDeployments {
			// One of the same name may have been there before, and have been deleted.
			if service.CreatedAt == nil || d.CreatedAt == nil || !d.CreatedAt.Before(*service.CreatedAt) {
				all = append(all, d)
			}
		}

		return page.NextToken, nil
	})

	slices.SortStableFunc(all, func(a, b types.ServiceDeploymentBrief) int {
		return aws.ToTime(b.CreatedAt).Compare(aws.ToTime(a.CreatedAt))
	})
	return all, err
}

// idOf returns the last part of an ARN.
func idOf(arn *string) string {
	return text(arn)[strings.LastIndex(text(arn), "/")+1:]
}

// noDeployment is the value of tagSince of a service that has had no service deployment yet.
const noDeployment = "none"

// lastDeployment returns the id of the newest service deployment.
func (w *worker) lastDeployment(ctx context.Context, service *types.Service) (string, error) {
	all, err := w.deployments(ctx, service)
	if err != nil || len(all) == 0 {
		return noDeployment, err
	}
	return idOf(all[0].ServiceDeploymentArn), nil
}

// maxRevisions is how many service revisions ECS describes at once.
const maxRevisions = 20

// ownDeployment returns the service deployment of this deployment, nil if it has not begun: one after that of the
// service's tagSince that brings the task definition. A rollback of ECS's own has another task definition.
func (w *worker) ownDeployment(
	ctx context.Context, service *types.Service, definition *types.TaskDefinition,
) (*types.ServiceDeploymentBrief, error) {
	all, err := w.deployments(ctx, service)
	if err != nil {
		return nil, err
	}

	since := tagOf(service.Tags, tagSince)
	if at := slices.IndexFunc(
		all, func(d types.ServiceDeploymentBrief) bool { return idOf(d.ServiceDeploymentArn) == since },
	); at >= 0 {
		all = all[:at]
	}

	slices.Reverse(all) // the first after it is the one that was begun by the update
	for part := range slices.Chunk(all, maxRevisions) {
		revisions, err := w.revisions(ctx, part)
		if err != nil {
			return nil, err
		}
		for i, d := range part {
			if text(revisions[text(d.TargetServiceRevisionArn)].TaskDefinition) == text(definition.TaskDefinitionArn) {
				return &part[i], nil
			}
		}
	}

	return nil, nil
}

// revisions returns the service revisions that at most maxRevisions service deployments bring, by their ARNs.
func (w *worker) revisions(
	ctx context.Context, of []types.ServiceDeploymentBrief,
) (map[string]types.ServiceRevision, error) {
	found := map[string]types.ServiceRevision{}
	var arns []string
	for _, d := range of {
		if arn := text(d.TargetServiceRevisionArn); arn != "" && !slices.Contains(arns, arn) {
			arns = append(arns, arn)
		}
	}
	if len(arns) == 0 {
		return found, nil
	}
	out, err := w.ecs.DescribeServiceRevisions(ctx, &ecs.DescribeServiceRevisionsInput{ServiceRevisionArns: arns})
	if err != nil {
		return nil, explain(err)
	}
	for _, r := range out.ServiceRevisions {
		found[text(r.ServiceRevisionArn)] = r
	}
	return found, nil
}

// maxLooks is how often ECS is asked for the service deployment that it has begun.
const maxLooks = 30

// await returns the service deployment once ECS lists it, and reports what it is called.
func (w *worker) await(
	ctx context.Context, service *types.Service, definition *types.TaskDefinition, found *types.ServiceDeploymentBrief,
) (*types.ServiceDeploymentBrief, error) {
	for looks := 0; found == nil; looks++ {
		if looks == maxLooks {
			return nil, fmt.Errorf("ECS lists no service deployment of %s with the task definition %s, %d times after it was "+
				"updated; look there what became of it",
				text(service.ServiceArn), text(definition.TaskDefinitionArn), maxLooks)
		}

		if looks > 0 {
			w.wait(ctx, true)
		}
		var err error
		found, err = patiently(
			ctx, w, func() (*types.ServiceDeploymentBrief, error) { return w.ownDeployment(ctx, service, definition) },
		)
		if err != nil && !isUnseen(err) {
			return nil, err
		}
	}

	now, err := visibly(ctx, w, func() (*types.Service, error) {
		now, err := patiently(ctx, w, func() (*types.Service, error) { return w.service(ctx) })
		if now == nil && err == nil {
			err = fmt.Errorf("the service %s cannot be seen: %w", text(service.ServiceArn), errUnseen)
		}
		return now, err
	})
	if err != nil {
		return nil, err
	}

	w.print.started(now, found, definition)
	return found, nil
}

// describe returns a service deployment as it is now.
func (w *worker) describe(ctx context.Context, arn *string) (*observation, error) {
	return visibly(ctx, w, func() (*observation, error) {
		out, err := w.ecs.DescribeServiceDeployments(
			ctx, &ecs.DescribeServiceDeploymentsInput{ServiceDeploymentArns: []string{text(arn)}},
		)
		if err != nil {
			return nil, explain(err)
		}
		if len(out.ServiceDeployments) == 0 {
			return nil, fmt.Errorf("the service deployment %s cannot be described: %w", text(arn), errUnseen)
		}
		return &observation{ServiceDeployment: &out.ServiceDeployments[0], at: timeOf(out.ResultMetadata)}, nil
	})
}

// isGoingBack reports whether ECS ends a service deployment already.
func isGoingBack(status types.ServiceDeploymentStatus) bool {
	return status == types.ServiceDeploymentStatusStopRequested ||
		status == types.ServiceDeploymentStatusRollbackRequested ||
		status == types.ServiceDeploymentStatusRollbackInProgress
}

// hasEnded reports whether a service deployment is over.
func hasEnded(status types.ServiceDeploymentStatus) bool {
	switch status {
	case types.ServiceDeploymentStatusSuccessful, types.ServiceDeploymentStatusStopped,
		types.ServiceDeploymentStatusRollbackSuccessful, types.ServiceDeploymentStatusRollbackFailed:
		return true
	case types.ServiceDeploymentStatusPending, types.ServiceDeploymentStatusInProgress,
		types.ServiceDeploymentStatusStopRequested,
		types.ServiceDeploymentStatusRollbackRequested, types.ServiceDeploymentStatusRollbackInProgress:
	}
	return false
}
