package feed_test

import (
	"testing"

	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// There is no such deployment, so that only the notification tells.
func TestWhoWatchesALogIsNotifiedByOtherServers(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t))
	far := worldtest.Another(t, w.DatabaseURL)
	woken, stop := far.Deploy.View.Feed.WatchLog("dep_one")
	defer stop()
	<-woken // as the reader begins, which wakes everybody
	other, stopOther := far.Deploy.View.Feed.WatchLog("dep_other")
	defer stopOther()
	select {
	case <-woken:
	default:
	}
	testkit.Eventually(t, "it is woken", func() bool {
		w.Deploy.View.Feed.LogChanged("dep_one") // again: the other server may not listen yet
		select {
		case <-woken:
			return true
		default:
			return false
		}
	})
	select {
	case <-other:
		t.Error("a watcher of another log was woken")
	default:
	}
}
