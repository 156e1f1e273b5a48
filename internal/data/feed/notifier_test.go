package feed_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/data/feed"
	"slipway/internal/data/store"
	"slipway/internal/test/worldtest"
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
	begun, goOn := make(chan store.Notification), make(chan error)
	deployments, log := feed.NewNotifier(func(_ context.Context, n store.Notification) error {
		begun <- n
		return <-goOn
	})
	wants := func(want store.Notification) {
		t.Helper()
		if diff := cmp.Diff(want, receive(t, begun)); diff != "" {
			t.Error(diff)
		}
	}
	deployments()
	wants(store.Notification{Deployments: true})
	for range 3 {
		deployments()
		log("dep_1")
		log("dep_2")
	}
	goOn <- errors.New("the connection is lost") // which keeps nothing from the next
	wants(store.Notification{Deployments: true, Logs: []string{"dep_1", "dep_2"}})
	goOn <- nil
	log("dep_3")
	wants(store.Notification{Logs: []string{"dep_3"}})
	goOn <- nil
}
