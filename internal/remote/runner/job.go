package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"slipway/internal/remote/runner/keeper"
)

// jobInfo is what a runner has to know of a program that it adopts.
type jobInfo struct {
	DeploymentID string `json:"deploymentId"`
	InstanceID   string `json:"instanceId"`
	// Server and OrganizationID are whose deployment it is.
	Server         string `json:"server"`
	OrganizationID string `json:"organizationId"`
	// Secrets are to be masked in what it prints.
	Secrets []string `json:"secrets,omitempty"`
}

// job is a deployment that this runner carries out.
type job struct {
	*runner
	jobInfo
	program *keeper.Handle
	mask    mask
	// leaseCtx ends when the lease has ended, or the server has refused it or this runner; its cause is the reason.
	leaseCtx  context.Context
	loseLease context.CancelCauseFunc
	log       *slog.Logger
}

func (r *runner) newJob(info jobInfo, program *keeper.Handle) *job {
	j := &job{
		runner: r, jobInfo: info, program: program, mask: newMask(info.Secrets),
		log: r.Log.With("deployment", info.DeploymentID, "instance", info.InstanceID),
	}
	j.leaseCtx, j.loseLease = context.WithCancelCause(r.requestCtx)
	return j
}

func (j *job) lease() keeper.Lease { return j.program.Lease() }

// keepers is the name of the folder, beside those of the module instances, that has the folders of the keepers.
const keepers = ".keepers"

// start starts the program of a deployment under a keeper.
func (r *runner) start(in input, lease keeper.Lease) (*job, error) {
	secrets, err := secretsOf(in)
	if err != nil {
		return nil, err
	}
	info := jobInfo{in.Deployment.ID, in.Deployment.ModuleInstanceID, r.Server, in.Deployment.OrganizationID, secrets}
	for _, name := range []string{info.DeploymentID, info.InstanceID} {
		if name == "." || name == keepers || name != filepath.Base(name) || !filepath.IsLocal(name) {
			return nil, fmt.Errorf("the id cannot be the name of a folder: %q", name)
		}
	}

	dir := filepath.Join(r.WorkDir, info.InstanceID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}

	stdin, err := in.encode()
	if err != nil {
		return nil, err
	}

	program, err := keeper.Start(filepath.Join(r.WorkDir, keepers), info.DeploymentID, lease, keeper.Program{
		Command: r.Command, Dir: dir, Input: stdin, Stop: r.Stop, Grace: r.StopGrace,
	}, in.environ(r.Environ, r.Stop), info)
	if err != nil {
		return nil, err
	}

	j := r.newJob(info, program)
	j.log.Info("deployment claimed", "kind", in.Deployment.DeploymentType, "trigger", in.Deployment.TriggerSource)
	return j, nil
}

// run reports the output of the program, renews the lease, and completes the deployment when the program has ended.
// It ends earlier if the lease is lost or the program is left to another runner.
func (j *job) run() {
	started := time.Now()

	defer j.loseLease(context.Canceled)
	defer context.AfterFunc(j.programCtx, func() { j.stop(keeper.Shutdown) })()
	defer context.AfterFunc(j.leaseCtx, func() {
		if j.hasLost() {
			j.stop(keeper.LeaseLost)
		}
	})()

	reported := make(chan struct{})
	go func() { j.report(); close(reported) }()
	go j.keepLease()

	end, err := j.watch()
	if err == nil && end.Stopped == keeper.LeaseExpiring {
		j.waitForRenewal()
	}
	<-reported
	if err == nil {
		err = j.finish(end, time.Since(started))
	}

	if err != nil || j.requestCtx.Err() != nil {
		if errors.Is(err, errLetGo) {
			j.letGo(j.DeploymentID)
		}
		j.log.Info("program left to the next runner", "error", err)
		j.program.Detach()
	} else if err := j.program.Remove(); err != nil {
		j.log.Error("cannot remove the files of the program", "error", err)
	}
}

// finish completes the deployment of a program that has ended. It returns an error if the next runner has to do it.
func (j *job) finish(end keeper.End, duration time.Duration) error {
	log := j.log.With("duration", duration)
	if j.requestCtx.Err() != nil {
		return context.Cause(j.requestCtx)
	}

	cause := context.Cause(j.leaseCtx)
	switch {
	case errors.Is(cause, errLetGo):
		return cause
	case cause != nil:
		log.Warn("program stopped; its deployment is not completed, because the lease was lost", "reason", cause)
		return nil
	}

	if failed := j.failureOf(end); failed != nil {
		log = log.With("failure", strings.TrimSpace(failed.message+" "+end.Failure))
	}

	status, err := j.complete(end)
	switch {
	case err == nil:
		log.Info("deployment completed", "status", status, "exitCode", end.ExitCode)
	case j.requestCtx.Err() != nil:
		return err
	case !leaseLost(err) && !aboutContent(err):
		return fmt.Errorf("%w: %w", errLetGo, err)
	default:
		log.Warn("cannot complete the deployment", "error", err)
	}
	return nil
}

// hasLost reports whether the lease is lost, so that the program must not run any more.
func (j *job) hasLost() bool {
	return j.leaseCtx.Err() != nil && j.requestCtx.Err() == nil && !errors.Is(context.Cause(j.leaseCtx), errLetGo)
}

// stop makes the keeper stop the program, and kill it after the grace.
func (j *job) stop(why keeper.Reason) {
	if err := j.program.Stop(why, j.Clock().Add(j.StopGrace)); err != nil {
		j.log.Error("cannot stop the program", "error", err)
	}
}
