package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/data/store"
	"slipway/internal/test/worldtest"
)

func TestNotificationsSayWhatHasChanged(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t))
	listening := worldtest.Another(t, w.DatabaseURL).Store.Listen(t.Context())
	if diff := cmp.Diff(store.Notification{Deployments: true}, <-listening); diff != "" {
		t.Errorf("when it is connected: %s", diff)
	}
	for _, sent := range []store.Notification{
		{Logs: []string{"dep_1", "dep_2"}}, {Deployments: true}, {Deployments: true, Logs: []string{"dep_3"}},
	} {
		if err := w.Store.Notify(t.Context(), sent); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(sent, <-listening); diff != "" {
			t.Error(diff)
		}
	}
	// A server of before says no more than that something has changed.
	if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), "NOTIFY slipway_changes"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(store.Notification{Deployments: true}, <-listening); diff != "" {
		t.Error(diff)
	}
}

func TestANotificationOfManyLogsIsSent(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t))
	listening := w.Store.Listen(t.Context())
	<-listening
	var n store.Notification
	for len(n.Logs) < store.MaxNotifiedLogs {
		n.Logs = append(n.Logs, w.Journal.NewID("dep"))
	}
	n.Deployments = true
	if err := w.Store.Notify(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	if got := <-listening; len(got.Logs) != store.MaxNotifiedLogs || !got.Deployments {
		t.Errorf("%d logs came", len(got.Logs))
	}
}
