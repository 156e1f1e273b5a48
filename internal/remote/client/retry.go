package client

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"
)

// The time before a request is repeated doubles from firstWait to longestWait.
const firstWait, longestWait = 100 * time.Millisecond, 5 * time.Second

// Retry calls try until it returns no error, or an error that is not to be tried again, or ctx ends.
func (c *Client) Retry(ctx context.Context, operation string, try func() (again bool, err error)) error {
	level := slog.LevelWarn // of the first failure; the others are details
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		again, err := try()
		if err == nil || !again {
			return err
		}

		if ctx.Err() == nil {
			c.log.Log(ctx, level, "request failed; trying again", "operation", operation, "error", err)
			level = slog.LevelDebug
		}

		// A random quarter more or less keeps many clients from asking at the same moment.
		timer := time.NewTimer(wait*3/4 + rand.N(wait/2)) //nolint:gosec // not a secret
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return errors.Join(context.Cause(ctx), err)
		}
	}
}
