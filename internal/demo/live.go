package demo

import (
	"context"
	"log/slog"
	"sync"
	"time"

	entdeployment "slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/data/page"
	"slipway/internal/data/record"
	"slipway/internal/pure/module"
	"slipway/internal/server"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/view"
)

const (
	// atOnce is how many deployments are carried out concurrently.
	atOnce = 8
	// hurry is how many times faster than in the cloud the stages pass: an all-at-once deployment takes about half a
	// minute, one that moves task by task half of that.
	hurry = 15
	// leisure is how many times slower those pass that Seed has left running, so that a visitor still sees them.
	leisure = 4
	// lookEvery is the time between two looks for deployments, and retryEvery that after a failure of the database.
	lookEvery  = 500 * time.Millisecond
	retryEvery = 5 * time.Second
	// watchEvery is the time between two reports of the deployment that goes on, watchLeast that at a high pace.
	watchEvery = 10 * time.Second
	watchLeast = 500 * time.Millisecond
)

// live is the state of Run.
type live struct {
	*server.Services
	pace float64
	log  *slog.Logger
	// slots has an item for each deployment that is carried out.
	slots chan struct{}
	jobs  sync.WaitGroup
}

// Run carries out the deployments of the seeded organization, as its runner, until ctx ends. Deployments that are not
// done by then end with their leases. The services must be those that visitors call. With a pace of 1 a deployment
// takes up to half a minute, with 2 half of that, and so on; it must be over 0.
//
// A deployment fails whose inputs or artifact have the word "broken" in them, as an image's tag may, and the followed
// one goes on until it is canceled; all others succeed.
func Run(ctx context.Context, s *server.Services, r *Result, pace float64, log *slog.Logger) {
	l := &live{Services: s, pace: pace, log: log, slots: make(chan struct{}, atOnce)}
	defer l.jobs.Wait()

	ctx = actor.With(ctx, r.runner)
	l.takeOver(ctx, r)
	for l.reserve(ctx) {
		claimed, lease, err := l.Deploy.Execution.Claim(
			ctx, execution.Claim{Kinds: module.DeploymentTypes, Actions: bothActions},
		)
		if claimed != nil {
			l.start(ctx, &job{live: l, deployment: (*record.Deployment)(claimed), leaseID: lease.ID})
			continue
		}

		<-l.slots
		again := time.Duration(float64(lookEvery) / max(pace, 1))
		if err != nil && ctx.Err() == nil {
			l.log.WarnContext(ctx, "the demo's runner cannot claim a deployment; trying again", "error", err)
			again = retryEvery
		}

		if wait(ctx, again) != nil {
			return
		}
	}
}

// takeOver continues the deployments that Seed has left running.
func (l *live) takeOver(ctx context.Context, r *Result) {
	running := view.Filter{Statuses: []entdeployment.Status{entdeployment.StatusRUNNING}}
	found, err := l.Deploy.View.Deployments(ctx, running, page.Args{})
	if err != nil {
		l.log.WarnContext(ctx, "the demo's runner cannot continue a running deployment", "error", err)
		return
	}
	for _, d := range found.Nodes() {
		if d.Runner != nil && *d.Runner == r.runner.Name && l.reserve(ctx) {
			l.start(
				ctx, &job{live: l, deployment: d, leaseID: *d.LeaseID, underway: true, followed: d.ID == r.FollowedDeploymentID},
			)
		}
	}
}

// reserve waits for a slot and takes it; it returns false if ctx ends before.
func (l *live) reserve(ctx context.Context) bool {
	select {
	case l.slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// start carries a deployment out in the slot that was reserved for it.
func (l *live) start(ctx context.Context, j *job) {
	l.jobs.Go(func() {
		defer func() { <-l.slots }()
		j.run(ctx)
	})
}

// wait waits for d, and returns the error of ctx if that ends before.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
