package feed_test

import (
	"context"
	"errors"
	"testing"

	"slipway/internal/feed"
	"slipway/internal/worldtest"
)

func TestOtherServersAreNotifiedOfAChange(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t))
	p := w.Fixture(t, w.Acme, "web")
	notified := w.Store.Listen(viewer(t, w.Acme))
	receive(t, notified) // it is connected
	p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
	receive(t, notified)
}

func TestWhatChangesDuringANotificationIsNotifiedOfOnceMore(t *testing.T) {
	t.Parallel()
	begun, goOn := make(chan struct{}), make(chan error)
	send := feed.NewNotifier(func(context.Context) error {
		begun <- struct{}{}
		return <-goOn
	})
	send()
	receive(t, begun)
	for range 3 {
		send()
	}
	goOn <- errors.New("the connection is lost") // which keeps nothing from the next
	receive(t, begun)
	goOn <- nil
	send()
	receive(t, begun)
	goOn <- nil
}
