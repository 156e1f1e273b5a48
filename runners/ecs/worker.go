package main

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ecs"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
)

// worker carries one deployment out.
type worker struct {
	settings
	*input
	region string
	// stop is closed when the program is to end.
	stop  <-chan struct{}
	print *printer
	ecs   *ecs.Client
	elb   *elb.Client
	// pauses are those that wait, by the ids of their hooks.
	pauses map[string]waiting
	// plan is the service as this deployment makes it.
	plan *plan
	// absent is that the last look has found no service.
	absent bool
	// stage is what was said last of where the service deployment is.
	stage string
}

// errStopped is that the program was to end before the deployment had.
var errStopped = errors.New("the deployment was stopped")

// stopping reports whether the program is to end.
func (w *worker) stopping() bool {
	select {
	case <-w.stop:
		return true
	default:
		return false
	}
}

// wait waits until it is time to look again, and not at all once the program is to end, unless it goes on all the same.
func (w *worker) wait(ctx context.Context, goOn bool) {
	stop := w.stop
	if goOn {
		stop = nil
	}
	timer := time.NewTimer(w.poll)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-stop:
	case <-ctx.Done():
	}
}

// timeout is how long what AWS does may take.
func (w *worker) timeout() time.Duration {
	return time.Duration(w.wants().TimeoutMinutes) * time.Minute
}

// deadline returns until when to wait for what AWS does, from now on.
func (w *worker) deadline() time.Time { return time.Now().Add(w.timeout()) }
