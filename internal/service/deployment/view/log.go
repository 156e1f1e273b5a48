package view

import (
	"context"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/ent/deploymentlog"
	"slipway/internal/base/actor"
	"slipway/internal/data/page"
	"slipway/internal/data/record"
)

// The lines that the program of a deployment prints are no change of the deployment: they raise no version and leave
// neither an audit row nor a change row, because a program may print a lot. There is one row for each line. The newest
// are kept, up to the bounds of package runlog; the others are counted.

// LogsOf returns a page of the log of each deployment, the oldest line first.
func (s *Service) LogsOf(
	ctx context.Context, deploymentIDs []string, args page.Args,
) (map[string]*page.LogLineConnection, error) {
	return page.ReadEach(ctx, record.LogLines.In(s.Store), page.Parents{
		List: logList, Viewer: actor.From(ctx).OrganizationID, Column: deploymentlog.FieldDeploymentID, IDs: deploymentIDs,
	}, args, func(l *ent.DeploymentLog) string { return l.DeploymentID })
}

// logList names the list of lines in cursors.
const logList = "deployment.logs"

// LogBatch is a part of a log, or why it cannot be followed any more.
type LogBatch struct {
	// Cursor is that of the last line, as in a page of the log.
	Cursor string
	Lines  []*ent.DeploymentLog
	Err    error
}

// FollowLogs returns the lines of a deployment's log after a cursor, or from the start if that is nil, in batches of up
// to page.MaxSize, until the deployment has ended and all was received, or ctx ends; the channel is closed then. It
// fails with DeploymentNotFound, DeploymentForbidden and RequestCursorInvalid. What fails later is the last item.
func (s *Service) FollowLogs(ctx context.Context, deploymentID string, after *string) (<-chan *LogBatch, error) {
	f := &logFollower{service: s, deploymentID: deploymentID, after: after, batches: make(chan *LogBatch)}
	woken, stop := s.Feed.WatchLog(deploymentID)
	c, ended, err := f.read(ctx)
	if err != nil {
		stop()
		return nil, err
	}
	go func() {
		defer close(f.batches)
		defer stop()
		f.run(ctx, woken, c, ended)
	}()
	return f.batches, nil
}

// logFollower sends the lines of a log as they come.
type logFollower struct {
	service      *Service
	deploymentID string
	// after is the cursor of the last line that was sent.
	after   *string
	batches chan *LogBatch
}

// endColumns are what a follower has to know of the deployment.
var endColumns = record.NewColumns(map[string][]string{deployment.Table: {deployment.FieldCompletedAt}})

// read returns the lines that come next, and reports whether the deployment had ended before they were read: then no
// others can follow.
func (f *logFollower) read(ctx context.Context) (c *page.LogLineConnection, ended bool, err error) {
	err = f.service.Feed.Read(ctx, func(ctx context.Context) error {
		d, err := f.service.Deployment(record.WithColumns(ctx, endColumns), f.deploymentID)
		if err != nil {
			return err
		}
		pages, err := f.service.LogsOf(
			ctx, []string{f.deploymentID}, page.Args{First: new(int32(page.MaxSize)), After: f.after},
		)
		c, ended = pages[f.deploymentID], d.CompletedAt != nil
		return err
	})
	return c, ended, err
}

// run sends what was read, and what is read after that, until there is no more.
func (f *logFollower) run(ctx context.Context, woken <-chan struct{}, c *page.LogLineConnection, ended bool) {
	for {
		if len(c.Edges) > 0 {
			f.after = c.PageInfo.EndCursor
			if !f.send(ctx, &LogBatch{Cursor: *f.after, Lines: c.Nodes()}) {
				return
			}
		}
		if !c.PageInfo.HasNextPage && (ended || !isWoken(ctx, woken)) {
			return
		}
		var err error
		if c, ended, err = f.read(ctx); err != nil {
			f.send(ctx, &LogBatch{Err: err})
			return
		}
	}
}

// isWoken waits, and reports whether it was woken before ctx has ended.
func isWoken(ctx context.Context, woken <-chan struct{}) bool {
	select {
	case <-woken:
		return true
	case <-ctx.Done():
		return false
	}
}

// send sends a batch, and reports whether ctx has not ended.
func (f *logFollower) send(ctx context.Context, b *LogBatch) bool {
	select {
	case f.batches <- b:
		return true
	case <-ctx.Done():
		return false
	}
}
