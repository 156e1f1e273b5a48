package rest_test

import (
	"net/http"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

func TestADatabaseThatIsDownIsTold(t *testing.T) {
	t.Parallel()
	database := worldtest.Postgres(t)
	w := worldtest.New(t, database)
	d := w.Fixture(t, w.Acme, "web").Succeeded(t)
	proxy, url := testkit.NewProxy(t, database, testkit.AcceptAll)
	through := worldtest.Another(t, url)
	read := exchange{method: http.MethodGet, path: "/deployments/" + d.ID, token: w.Acme.Tokens[actor.Viewer]}
	if got := ask(t, through, read); got.Status != http.StatusOK {
		t.Fatalf("before the outage: %d %s", got.Status, got.Body)
	}
	proxy.Close()
	known, unknown := read, read
	unknown.token = w.Acme.Tokens[actor.Admin] // which this server has to look up
	for _, e := range []exchange{known, unknown, {method: http.MethodGet, path: "/module-definitions"}} {
		got := ask(t, through, e)
		if got.Status != http.StatusServiceUnavailable || got.Code(t) != "slipway:Server:UNAVAILABLE" || got.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s %v", e.path, got.Status, got.Body, got.Header)
		}
	}
}
