// Package runner carries deployments out: it claims them from a server's GraphQL API, runs a program for
// each, reports what the program prints and completes the deployment as the program ends.
package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"slipway/internal/keeper"
)

// Config says what a runner carries out, and how.
type Config struct {
	// Server is the base URL of the API, without a slash at its end; Token is a runner's.
	Server, Token string
	// Kinds are those of the deployments that are claimed.
	Kinds []string
	// Command is run by sh -c for each deployment; Environ is what its environment starts from, which
	// variables of Slipway's own are taken out of.
	Command string
	Environ []string
	// Parallel is how many deployments may run at once; 0 stands for DefaultParallel.
	Parallel int
	// Poll is how long to wait before asking again where nothing was waiting; 0 stands for DefaultPoll.
	Poll time.Duration
	// WorkDir has a folder for each module instance, where its programs run.
	WorkDir string
	// ShutdownTimeout is how long programs may go on once the runner is to end; StopGrace is how long a
	// program may take to end after SIGTERM, before SIGKILL.
	ShutdownTimeout, StopGrace time.Duration
	// Once ends the runner where nothing is waiting.
	Once bool
	// Clock is the machine's where it is nil.
	Clock keeper.Clock
	Log   *slog.Logger
}

// What a Config of zeros stands for.
const (
	DefaultParallel = 1
	DefaultPoll     = 2 * time.Second
)

// settling is how long the last requests may take once the programs have ended.
const settling = 10 * time.Second

// ErrHandOver is the cause with which the context of Run ends where the programs that run are to be left to
// the runner that comes next.
var ErrHandOver = errors.New("the programs that run are left to another runner")

// runner is a running one. Its contexts end one after the other.
type runner struct {
	Config
	client *client
	// working ends where programs are to be stopped, and last where nothing is asked of the server any more.
	working, last context.Context
	jobs          sync.WaitGroup
	// unsure is the lease of a claim whose answer was lost, and that gave nothing when it was made again: the
	// server may still have been at it. One more claim, a poll later, is made under it.
	unsure string
}

// Run takes up the programs that an earlier runner has left in the work folder, claims deployments and
// carries them out until ctx ends; then it claims no more and lets those that run finish, or leaves them
// where the cause is ErrHandOver. It returns an error where the server refuses to give work, once those
// that run have ended.
func Run(ctx context.Context, c Config) error {
	dir, err := filepath.Abs(c.WorkDir)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return fmt.Errorf("cannot make the folder to work in: %w", err)
	}
	c.WorkDir, c.Parallel, c.Poll = dir, max(c.Parallel, DefaultParallel), cmp.Or(c.Poll, DefaultPoll)
	if c.Clock == nil {
		c.Clock = keeper.Now
	}
	r := &runner{Config: c, client: newClient(c)}
	var endWorking, endLast context.CancelFunc
	r.working, endWorking = after(ctx, c.ShutdownTimeout)
	defer endWorking()
	r.last, endLast = after(r.working, c.StopGrace+settling)
	defer endLast()
	r.Log.Info("looking for deployments", "server", r.Server, "kinds", r.Kinds, "parallel", r.Parallel)
	defer r.jobs.Wait()
	err = r.claimAll(ctx)
	if errors.Is(context.Cause(ctx), ErrHandOver) {
		r.Log.Info("stopping: programs that run are left to the next runner")
		endLast()
	} else {
		r.Log.Info("stopping: programs that run may finish", "timeout", r.ShutdownTimeout)
	}
	return err
}

// after gives a context that ends a time after another has ended.
func after(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	later, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(d, end)
		context.AfterFunc(later, func() { timer.Stop() })
	})
	return later, func() { stop(); end() }
}

// claimAll takes up what was left and claims as long as there is room, each deployment for a goroutine of
// its own.
func (r *runner) claimAll(ctx context.Context) error {
	room := make(chan struct{}, r.Parallel)
	attend := func(j *job, free func()) {
		r.jobs.Go(func() {
			defer free()
			j.carryOut()
		})
	}
	for r.resume(ctx, room, attend); free(ctx, room); r.resume(ctx, room, attend) {
		job, err := r.claim(ctx)
		switch {
		case errors.Is(err, errLate), errors.Is(err, errNotBegun):
			r.Log.Warn("not carried out", "error", err)
			<-room
		case err != nil:
			return err
		case job != nil:
			attend(job, func() { <-room })
		case r.Once && r.unsure == "":
			return nil
		default:
			<-room
			pause(ctx, r.Poll)
		}
	}
	return nil
}

// resume attends to programs that run already, and so do not wait for room.
func (r *runner) resume(ctx context.Context, room chan struct{}, attend func(j *job, free func())) {
	if ctx.Err() != nil {
		return
	}
	for _, j := range r.takeUp() {
		select {
		case room <- struct{}{}:
			attend(j, func() { <-room })
		default:
			attend(j, func() {})
		}
	}
}

// free waits for room, and says whether the runner still is to claim.
func free(ctx context.Context, room chan<- struct{}) bool {
	select {
	case room <- struct{}{}:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// pause waits, and says whether ctx still lives.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
