// Package runner carries deployments out. A runner is a client of a server's GraphQL API, on a machine where programs
// may deploy: it claims a deployment, runs a command with the deployment on standard input, reports each line that the
// command prints, with secrets masked, and completes the deployment when the command has ended.
//
// The server gives a deployment to one runner at a time, for the time of a lease. The runner renews the lease while the
// program runs. The program itself is under a keeper (package keeper), which stops it before the lease ends even if the
// runner does not live any more. A runner can be replaced while programs run: the next one in the same work folder
// adopts them, and reports what they have printed since.
//
// Requests may be lost, and their answers as well, so each can be repeated: a claim has the id of its lease, a report
// has a number, and the server recognizes both.
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

	"slipway/internal/remote/client"
	"slipway/internal/remote/runner/keeper"
)

// Config configures a runner.
type Config struct {
	// Server is the base URL of the API, without a slash at its end; Token is a runner's.
	Server, Token string
	// Kinds are the deployment types that are claimed.
	Kinds []string
	// Destroy is whether the program reads SLIPWAY_ACTION and can destroy; otherwise it never gets a deployment that does.
	Destroy bool
	// Command is run for each deployment, as Stop says. Its environment is Environ, without Slipway's own variables and
	// with those of the deployment.
	Command string
	// Stop is who gets SIGTERM when a program is stopped; "" stands for keeper.StopGroup.
	Stop    keeper.StopMode
	Environ []string
	// Parallel is how many deployments may run at once; 0 stands for DefaultParallel.
	Parallel int
	// Poll is how long to wait after a claim that found no deployment; 0 stands for DefaultPoll.
	Poll time.Duration
	// WorkDir has a folder for each module instance, where its programs run.
	WorkDir string
	// ShutdownTimeout is how long programs may continue when the runner is shut down.
	ShutdownTimeout time.Duration
	// StopGrace is how long a program may take to end after SIGTERM, before SIGKILL.
	StopGrace time.Duration
	// Once ends the runner when no deployment waits.
	Once bool
	// Clock is the machine's if it is nil.
	Clock keeper.Clock
	Log   *slog.Logger
}

// What a Config of zeros stands for.
const (
	DefaultParallel = 1
	DefaultPoll     = 2 * time.Second
)

// finalRequestTime is how long requests may take after the programs have ended.
const finalRequestTime = 10 * time.Second

// ErrHandOver is a cause for the end of Run's context. It makes Run leave the running programs to the next runner.
var ErrHandOver = errors.New("running programs are left to the next runner")

// runner is the state of Run.
type runner struct {
	Config
	client *client.Client
	// programCtx ends when programs must be stopped, and requestCtx, later, when no request may be sent any more.
	programCtx, requestCtx context.Context
	jobs                   sync.WaitGroup
	// unconfirmed is the lease id of a claim whose answer was lost, and that found no deployment when it was
	// repeated: the server may still have been working on the first. One more claim, a poll later, has this id.
	unconfirmed string
	// serverWaits is whether the server lets claims wait; one from before that refuses them.
	serverWaits bool
	// serverDestroys is whether the server knows of deployments that destroy; one from before that has none.
	serverDestroys bool
	// organizationID is whose deployments the token is for.
	organizationID string
	// adoptError is what was wrong when programs were adopted last, others how many were not this runner's. What stays
	// the same is logged once.
	adoptError string
	others     int

	mu sync.Mutex
	// refused has the ids of the deployments of the work folder that the server does not let this runner carry out.
	refused map[string]bool
}

// Run adopts the programs that an earlier runner has left in the work folder, claims deployments and carries them out
// until ctx ends. Then it claims no more and lets the running programs finish, or leaves them to the next runner if the
// cause is ErrHandOver. If the server refuses to give work, Run returns the error when the running programs have ended.
func Run(ctx context.Context, c Config) error {
	dir, err := filepath.Abs(c.WorkDir)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return fmt.Errorf("cannot make the work folder: %w", err)
	}

	c.WorkDir, c.Parallel, c.Poll = dir, max(c.Parallel, DefaultParallel), cmp.Or(c.Poll, DefaultPoll)
	c.Stop = cmp.Or(c.Stop, keeper.StopGroup)
	if c.Clock == nil {
		c.Clock = keeper.Now
	}

	r := &runner{
		Config: c, client: client.New(c.Server, c.Token, c.Log),
		serverWaits: true, serverDestroys: true, refused: map[string]bool{},
	}

	var stopPrograms, stopRequests context.CancelFunc
	r.programCtx, stopPrograms = afterDone(ctx, c.ShutdownTimeout)
	defer stopPrograms()
	r.requestCtx, stopRequests = afterDone(r.programCtx, c.StopGrace+finalRequestTime)
	defer stopRequests()

	r.Log.Info("looking for deployments", "server", r.Server, "kinds", r.Kinds, "parallel", r.Parallel)
	defer r.jobs.Wait()
	err = r.claimLoop(ctx)

	if errors.Is(context.Cause(ctx), ErrHandOver) {
		r.Log.Info("shutting down; running programs are left to the next runner")
		stopRequests()
	} else {
		r.Log.Info("shutting down; running programs may finish", "timeout", r.ShutdownTimeout)
	}
	return err
}

// afterDone returns a context that ends when a time has passed since another has ended.
func afterDone(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	later, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(d, cancel)
		context.AfterFunc(later, func() { timer.Stop() })
	})
	return later, func() { stop(); cancel() }
}

// claimLoop adopts programs, at once and every Poll, and claims deployments until ctx ends or the server refuses to
// give work. Each deployment is carried out on a goroutine of its own, which holds one of the slots until it is done.
func (r *runner) claimLoop(ctx context.Context) error {
	slots := make(chan struct{}, r.Parallel)

	start := func(j *job, free func()) {
		r.jobs.Go(func() {
			defer free()
			j.run()
		})
	}

	if err := r.identify(ctx); err != nil {
		return err
	}

	r.adoptAll(ctx, slots, start)
	adopting, stop := context.WithCancel(ctx)
	defer stop()
	r.jobs.Go(func() {
		for sleep(adopting, r.Poll) {
			r.adoptAll(adopting, slots, start)
		}
	})

	for takeSlot(ctx, slots) {
		begun := time.Now()
		job, err := r.claim(ctx)
		switch {
		case errors.Is(err, errClaimTooLate), errors.Is(err, errNotStarted):
			r.Log.Warn("a claimed deployment was not carried out", "error", err)
			<-slots
		case err != nil:
			return err
		case job != nil:
			start(job, func() { <-slots })
		case r.Once && r.unconfirmed == "":
			return nil
		default:
			<-slots
			sleep(ctx, r.Poll-time.Since(begun)) // not at all if the claim has waited
		}
	}
	return nil
}

// adoptAll starts jobs for the programs that can be adopted. They run already, so they do not wait for a free slot.
func (r *runner) adoptAll(ctx context.Context, slots chan struct{}, start func(j *job, free func())) {
	if ctx.Err() != nil {
		return
	}
	for _, j := range r.adopt() {
		select {
		case slots <- struct{}{}:
			start(j, func() { <-slots })
		default:
			start(j, func() {})
		}
	}
}

// takeSlot waits for a free slot and takes it, and reports false if ctx ended.
func takeSlot(ctx context.Context, slots chan<- struct{}) bool {
	select {
	case slots <- struct{}{}:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// sleep waits for d, and reports whether ctx has not ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
