package server

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

const (
	// maxOffset is how far the server's clock may be from the database's before it is not ready, warnOffset
	// before it is logged.
	maxOffset  = 30 * time.Second
	warnOffset = 2 * time.Second
	// watchClockEvery is how often the offset is looked at for the log.
	watchClockEvery = time.Minute
)

// Offset measures how far the server's clock is ahead of the database's, to half of the time that it takes to ask.
// What the servers must agree on goes by the database's; record times and ids go by the server's.
type Offset struct {
	// Database asks the database's clock; the zero time where it has none.
	Database func(context.Context) (time.Time, error)
	// Now is the server's clock.
	Now func() time.Time
}

// Measure returns the offset, 0 if the database has no clock.
func (o Offset) Measure(ctx context.Context) (time.Duration, error) {
	before := o.Now()
	database, err := o.Database(ctx)
	if err != nil || database.IsZero() {
		return 0, err
	}
	return before.Add(o.Now().Sub(before) / 2).Sub(database), nil
}

// Watch warns in the log of an offset, now and once a minute, until ctx ends.
func (o Offset) Watch(ctx context.Context, log *slog.Logger) {
	next := time.NewTicker(watchClockEvery)
	defer next.Stop()
	for {
		o.warn(ctx, log)
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
	}
}

func (o Offset) warn(ctx context.Context, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, pinging)
	defer cancel()
	// If the database does not answer, others say so.
	if offset, err := o.Measure(ctx); err == nil && offset.Abs() > warnOffset {
		log.WarnContext(
			ctx,
			"the server's clock differs from the database's: "+describeOffset(offset)+"; synchronize it, for example by NTP",
		)
	}
}

func describeOffset(offset time.Duration) string {
	direction := "ahead of"
	if offset < 0 {
		direction = "behind"
	}
	return fmt.Sprintf("it is %s %s it, and not ready over %s", offset.Abs().Round(time.Millisecond), direction, maxOffset)
}
