package cli

import (
	"context"
	"errors"
	"io"
	"time"

	"slipway/internal/base/fault"
	"slipway/internal/remote/client"
)

// errEnough ends a subscription whose last item was the last that is wanted.
var errEnough = errors.New("that was the last item")

// The time before a stream is begun again doubles from firstWait to longestWait.
const firstWait, longestWait = 100 * time.Millisecond, 5 * time.Second

// subscription is an operation whose items are followed.
type subscription[T any] struct {
	operation string
	variables map[string]any
	// each takes an item and returns its cursor, "" for none; errEnough says that no more are wanted.
	each func(*T) (cursor string, err error)
	// isLast says, before a stream begins, whether nothing is left when the server completes that; nil is never.
	isLast func(context.Context) (bool, error)
}

// follow takes every item of a subscription. A stream that is cut off, silent or completed, as by a server that ends,
// goes on after the last cursor, for as long as ctx lasts: no item is lost, and none comes twice. If the server does
// not know the cursor any more, it begins anew.
func follow[T any](ctx context.Context, s *session, sub subscription[T]) error {
	told := false
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		isLast := false
		if sub.isLast != nil {
			var err error
			if isLast, err = sub.isLast(ctx); err != nil {
				return err
			}
		}

		var refused error // by what takes the items, which no stream mends
		err := client.Subscribe(ctx, s.conn.Client, sub.operation, sub.variables, s.config.Silence, func(item *T) error {
			wait, told = firstWait, false
			cursor, err := sub.each(item)
			if cursor != "" {
				sub.variables["after"] = cursor
			}
			refused = err
			return err
		})

		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(refused, errEnough), err == nil && isLast:
			return nil
		case refused != nil:
			return refused
		case isCode(err, fault.FeedCursorExpired, fault.RequestCursorInvalid) && sub.variables["after"] != nil:
			delete(sub.variables, "after")
			continue
		case err != nil && !cutOff(err):
			return s.conn.explain(err)
		case err != nil && !told:
			told = true
			s.note("%v; going on as soon as it answers", s.conn.explain(err))
		}

		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// cutOff reports whether a stream that ended with an error may go on.
func cutOff(err error) bool {
	return away(err) || errors.Is(err, client.ErrSilent) || errors.Is(err, io.ErrUnexpectedEOF) ||
		isCode(err, fault.FeedTooSlow)
}

// sleep returns after a time, or with the cause of ctx when that ends before.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// followDeployment calls see with a deployment as it is, and after each change, until it has ended or see returns an
// error. It returns how it has ended by a read of its status: a stream that fails decides nothing.
func (s *session) followDeployment(
	ctx context.Context, id string, see func(*client.DeploymentProgress) error,
) (*client.DeploymentProgress, error) {
	for {
		d, err := s.progressOf(ctx, id)
		if err != nil {
			return nil, err
		}
		if err := see(d); err != nil {
			return nil, err
		}

		if d.CompletedAt != nil {
			return d, nil
		}

		err = follow(ctx, s, subscription[client.FollowDeploymentResponse]{
			operation: client.FollowDeployment_Operation, variables: map[string]any{"id": id},
			each: func(item *client.FollowDeploymentResponse) (string, error) {
				d := &item.DeploymentChanged.Deployment
				if err := see(d); err != nil {
					return "", err
				}
				if d.CompletedAt != nil {
					return "", errEnough
				}
				return item.DeploymentChanged.Cursor, nil
			},
		})
		if err != nil {
			return nil, err
		}
	}
}

// progressOf returns a deployment as it is. While the server is away it asks for as long as ctx lasts.
func (s *session) progressOf(ctx context.Context, id string) (*client.DeploymentProgress, error) {
	for {
		r, err := client.Progress(ctx, s.conn, id)
		switch {
		case err == nil && r.Deployment == nil:
			return nil, refusedf("there is no deployment %s", id)
		case err == nil:
			return r.Deployment, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case !away(err):
			return nil, err
		}
		if err := sleep(ctx, longestWait); err != nil {
			return nil, err
		}
	}
}

// followLogs calls see with the lines of a deployment's log that come after a cursor, "" for all, until the deployment
// has ended and all of them came, or see returns errEnough.
func (s *session) followLogs(ctx context.Context, id, after string, see func(*client.LogRecord) error) error {
	variables := map[string]any{"id": id}
	if after != "" {
		variables["after"] = after
	}

	last := 0 // as the lines may begin anew
	return follow(ctx, s, subscription[client.FollowLogsResponse]{
		operation: client.FollowLogs_Operation, variables: variables,
		each: func(item *client.FollowLogsResponse) (string, error) {
			for _, line := range item.DeploymentLogs.Lines {
				if line.Number <= last {
					continue
				}
				last = line.Number
				if err := see(&line); err != nil {
					return "", err
				}
			}
			return item.DeploymentLogs.Cursor, nil
		},
		isLast: func(ctx context.Context) (bool, error) {
			d, err := s.progressOf(ctx, id)
			return err == nil && d.CompletedAt != nil, err
		},
	})
}
