package server

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"slipway/internal/base/fault"
)

const (
	// sweepEvery is how late a lease may be found to have run out.
	sweepEvery = time.Second
	// lookEvery is how late an event of the cloud may find its deployment, and how late a purge begins.
	lookEvery = time.Minute
)

// RunHousekeeping works until ctx ends: every second it ends the deployments whose lease has run out, and every minute
// those that have waited for approvals for too long; it looks again at the events of the cloud that wait for their
// deployment, fills in what servers of before some columns wrote, and looks whether it is time to remove what is too
// old. Any number of servers may do so at once.
func (s *Services) RunHousekeeping(ctx context.Context, log *slog.Logger) {
	var all sync.WaitGroup
	all.Go(func() { repeat(ctx, log, sweepEvery, s.Deploy.Execution.ExpireLeases) })
	all.Go(func() { repeat(ctx, log, lookEvery, s.Deploy.Waiting.ExpireWaiting) })
	all.Go(func() { repeat(ctx, log, lookEvery, s.Deploy.CloudEvents.RetryEvents) })
	all.Go(func() { repeat(ctx, log, lookEvery, s.Deploy.Execution.FillIn) })
	all.Go(func() { repeat(ctx, log, lookEvery, s.Accounts.Store.FillNames) })
	all.Go(func() { repeat(ctx, log, lookEvery, s.Retention.PurgeIfDue) })
	all.Wait()
}

// repeat calls work now and then at intervals, until ctx ends.
func repeat(ctx context.Context, log *slog.Logger, every time.Duration, work func(context.Context) (int, error)) {
	next := time.NewTicker(every)
	defer next.Stop()
	for {
		if _, err := work(ctx); err != nil && ctx.Err() == nil && fault.IsFailure(err) {
			log.ErrorContext(ctx, "housekeeping failed; it is tried again", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
	}
}
