package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"slipway/internal/keeper"
)

// about is what a runner that takes a program up has to know of it.
type about struct {
	DeploymentID string `json:"deploymentId"`
	InstanceID   string `json:"instanceId"`
}

// job is one deployment that this runner carries out.
type job struct {
	*runner
	about
	kept *keeper.Kept
	// held ends where the server has taken the lease away, or the lease ran out; its cause says why.
	held context.Context
	lose context.CancelCauseFunc
	log  *slog.Logger
}

func (r *runner) newJob(a about, kept *keeper.Kept) *job {
	j := &job{runner: r, about: a, kept: kept, log: r.Log.With("deployment", a.DeploymentID, "instance", a.InstanceID)}
	j.held, j.lose = context.WithCancelCause(r.last)
	return j
}

func (j *job) lease() keeper.Lease { return j.kept.Lease() }

// keepers is the folder among those of the instances that has the keepers' folders.
const keepers = ".keepers"

// start starts the program of a deployment under a keeper.
func (r *runner) start(w work, lease keeper.Lease) (*job, error) {
	a := about{w.Deployment.ID, w.Deployment.ModuleInstanceID}
	for _, name := range []string{a.DeploymentID, a.InstanceID} {
		if name == "." || name == keepers || name != filepath.Base(name) || !filepath.IsLocal(name) {
			return nil, fmt.Errorf("the id is not the name of a folder: %q", name)
		}
	}
	dir := filepath.Join(r.WorkDir, a.InstanceID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	input, err := w.input()
	if err != nil {
		return nil, err
	}
	kept, err := keeper.Start(filepath.Join(r.WorkDir, keepers), a.DeploymentID, lease, keeper.Program{
		Command: r.Command, Dir: dir, Input: input, Grace: r.StopGrace, Stderr: r.Log.Enabled(r.last, slog.LevelDebug),
	}, w.environ(r.Environ), a)
	if err != nil {
		return nil, err
	}
	j := r.newJob(a, kept)
	j.log.Info("claimed", "kind", w.Deployment.DeploymentType, "trigger", w.Deployment.TriggerSource)
	return j, nil
}

// carryOut attends to the program until it has ended and its deployment is completed, unless the lease is
// lost before, or the program is left to another runner.
func (j *job) carryOut() {
	begun := time.Now()
	defer j.lose(context.Canceled)
	defer context.AfterFunc(j.working, func() { j.stop(keeper.Halted) })()
	defer context.AfterFunc(j.held, func() {
		if j.last.Err() == nil {
			j.stop(keeper.Lost)
		}
	})()
	reported := make(chan struct{})
	go func() { j.report(); close(reported) }()
	go j.keepLease()
	end, err := j.watch()
	<-reported
	if j.held.Err() != nil {
		end, err = j.kept.Wait(j.last)
	}
	if err == nil {
		err = j.conclude(end, time.Since(begun))
	}
	if err != nil || j.last.Err() != nil {
		j.log.Info("left to the runner that comes next", "error", err)
		j.kept.Leave()
	} else if err := j.kept.Remove(); err != nil {
		j.log.Error("what was kept of the program cannot be removed", "error", err)
	}
}

// conclude completes the deployment of a program that has ended. It returns an error where another runner
// is to do so.
func (j *job) conclude(end keeper.End, duration time.Duration) error {
	log := j.log.With("duration", duration)
	if j.last.Err() != nil {
		return context.Cause(j.last)
	}
	if lost := context.Cause(j.held); lost != nil {
		log.Warn("stopped, and not completed", "why", lost)
		return nil
	}
	status, err := j.complete(end)
	if j.last.Err() != nil {
		return err
	}
	if err == nil {
		log.Info("finished", "status", status, "exitCode", end.ExitCode)
	} else {
		log.Warn("not completed", "error", err)
	}
	return nil
}

// stop has the program stopped, and killed after the grace.
func (j *job) stop(why keeper.Reason) {
	if err := j.kept.Stop(why, j.Clock().Add(j.StopGrace)); err != nil {
		j.log.Error("the program cannot be stopped", "error", err)
	}
}

// takeUp returns the programs that an earlier runner has left, or was killed beside.
func (r *runner) takeUp() (jobs []*job) {
	left, err := keeper.TakeUp(filepath.Join(r.WorkDir, keepers))
	for _, kept := range left {
		var a about
		if failed := kept.About(&a); failed != nil {
			kept.Leave()
			err = errors.Join(err, failed)
			continue
		}
		j := r.newJob(a, kept)
		j.log.Info("taken up: it was begun by an earlier runner")
		jobs = append(jobs, j)
	}
	if err != nil {
		r.Log.Error("what an earlier runner has left cannot be taken up", "error", err)
	}
	return jobs
}
