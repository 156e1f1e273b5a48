package prooftest_test

import (
	"sync"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/test/worldtest"
)

// load is clients that roll back until they are told to stop or no server answers.
type load struct {
	clients []*roller
	stop    chan struct{}
	ended   chan struct{}
	acked   chan struct{}
}

// newRollers makes clients of a world, each with an instance of its own to roll back.
func newRollers(t *testing.T, w *worldtest.World, n int) []*roller {
	t.Helper()
	clients := make([]*roller, n)
	for i, source := range targets(t, w, n) {
		clients[i] = &roller{client: newClient(t, w.Acme.Tokens[actor.Developer], 1), number: i, source: source}
	}
	return clients
}

// begin puts a server under load.
func begin(t *testing.T, clients []*roller, url string) *load {
	t.Helper()
	l := &load{clients: clients, stop: make(chan struct{}), ended: make(chan struct{}), acked: make(chan struct{})}
	var all sync.WaitGroup
	for _, c := range clients {
		all.Go(func() {
			c.work(t, []string{url}, l.stop, func() {
				select {
				case l.acked <- struct{}{}:
				case <-l.stop:
				default:
				}
			})
		})
	}
	go func() { all.Wait(); close(l.ended) }()
	t.Cleanup(l.finish)
	return l
}

// proceed waits for so many acknowledgements more, or the end of the load.
func (l *load) proceed(acknowledgements int) {
	for range acknowledgements {
		select {
		case <-l.acked:
		case <-l.ended:
			return
		}
	}
}

// finish stops the load and waits for its end.
func (l *load) finish() {
	select {
	case <-l.stop:
	default:
		close(l.stop)
	}
	<-l.ended
}
