package demo

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"slipway/internal/base/fault"
	"slipway/internal/data/feed"
	"slipway/internal/data/record"
	"slipway/internal/pure/ecs"
	"slipway/internal/pure/release"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/releases"
	"slipway/internal/service/deployment/state"
)

// job is a deployment that the live runner carries out.
type job struct {
	*live
	deployment *record.Deployment
	leaseID    string
	// underway is whether Seed has started the deployment. It is slow, so that a visitor still sees it.
	underway bool
	// followed marks the deployment that goes on for as long as the demo runs.
	followed bool
}

// errCancelRequested is the reason why a deployment ends whose cancellation is requested.
var errCancelRequested = errors.New("its cancellation was requested")

// run carries the deployment out until it is done, its cancellation is requested, somebody else has ended it, or ctx
// ends.
func (j *job) run(ctx context.Context) {
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	changes, err := j.Deploy.View.Follow(working, j.deployment.ID, nil)
	if err == nil {
		go watch(changes, stop)
		err = j.carryOut(working)
	}
	if err != nil && errors.Is(context.Cause(working), errCancelRequested) {
		_, err = j.Deploy.Execution.End(
			ctx, j.deployment.ID, j.leaseID,
			execution.Completion{Failure: lastWords("The deployment was stopped on request."), Canceled: true},
		)
	}
	// A lost lease is no failure: the deployment was ended by somebody else.
	if lost := fault.Is(err, fault.DeploymentLeaseLost); err != nil && !lost && working.Err() == nil {
		j.log.WarnContext(ctx, "the demo's runner cannot carry out a deployment", "deployment", j.deployment.ID, "error", err)
	}
}

// watch stops the work on a deployment when it has ended or its cancellation is requested.
func watch(changes <-chan *feed.Item, stop context.CancelCauseFunc) {
	for c := range changes {
		if c.Err != nil {
			return // its next report will find out
		}
		if c.Deployment.CancelRequestedAt != nil {
			stop(errCancelRequested)
		}
	}
	stop(nil)
}

func (j *job) carryOut(ctx context.Context) error {
	stored, err := j.Deploy.Releases.Release(ctx, *j.deployment.ReleaseID)
	if err != nil {
		return err
	}
	content, err := releases.ContentOf(ctx, stored)
	if err != nil {
		return err
	}

	instance, err := j.Catalog.Instance(ctx, j.deployment.ModuleInstanceID)
	if err != nil {
		return err
	}

	//nolint:gosec // names that only look like the cloud's
	drawn := chance{rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))}
	destroys := state.ActionOf(j.deployment.TriggerSource) == state.DestroyAction
	if j.deployment.DeploymentType == ecs.Type && !destroys {
		return j.rollOut(ctx, drawn, instance, content)
	}

	p := &provisioning{
		chance: drawn, tempo: j.waiting(), deploy: j.Deploy, deploymentID: j.deployment.ID, leaseID: j.leaseID,
		first: instance.LiveDeploymentID == nil, broken: broken(content), destroys: destroys,
	}
	if destroys {
		return p.run(ctx)
	}
	if p.outputs, err = j.makes(ctx, instance, content); err != nil {
		return err
	}
	return p.run(ctx)
}

// broken reports whether a release is one that cannot be deployed.
func broken(c release.Content) bool {
	const word = "broken"
	return bytes.Contains(c.Inputs, []byte(word)) || bytes.Contains(c.Artifact, []byte(word))
}

// waiting returns the tempo of a deployment that visitors watch.
func (j *job) waiting() tempo {
	const looks = 4
	return tempo{now: j.Deploy.Execution.Journal.Now, pass: j.pass, looks: looks}
}

// pass waits for a time of the cloud, shortened, and renews the lease meanwhile.
func (j *job) pass(ctx context.Context, from, to float64) error {
	seconds := (from + to) / 2 / hurry / j.pace
	if j.underway {
		seconds *= leisure
	}
	return j.waitWithLease(ctx, time.Duration(seconds*float64(time.Second)))
}

// waitWithLease waits for d, and renews the lease meanwhile.
func (j *job) waitWithLease(ctx context.Context, d time.Duration) error {
	renewed := cmp.Or(j.Deploy.Execution.LeaseTime, execution.DefaultLease) / 3
	for left := d; left > 0; left -= renewed {
		if err := wait(ctx, min(left, renewed)); err != nil {
			return err
		}
		if left > renewed {
			if _, _, err := j.Deploy.Execution.RenewLease(ctx, j.deployment.ID, j.leaseID); err != nil {
				return err
			}
		}
	}
	return nil
}
