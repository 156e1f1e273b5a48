package demo

import (
	"context"
	"time"
)

// tempo is how time goes by while a deployment is carried out: the seeding leaps over it, the live runner
// waits.
type tempo struct {
	now func() time.Time
	// pass lets from to to seconds of the cloud's time go by.
	pass func(ctx context.Context, from, to float64) error
	// looks is how many reports are made while something moves, at least one if it is live; the seeding
	// has 0, and reports only what nobody could miss.
	looks int
}

// leaping is the tempo of the seeding.
func (d *demo) leaping() tempo {
	return tempo{now: d.clock.Now, pass: func(_ context.Context, from, to float64) error {
		d.clock.pass(d.between(from, to))
		return nil
	}}
}
