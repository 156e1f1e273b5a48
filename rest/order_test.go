package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/id"
	"slipway/internal/test/worldtest"
)

// Each request breaks what its own line says and everything that is checked later.
func TestTheFirstThingWrongIsWhatIsTold(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		s := newStage(t, w)
		admin, viewer := s.Acme.Tokens[actor.Admin], s.Acme.Tokens[actor.Viewer]
		mine, unknown := "/default-value-definitions/"+s.definition.ID, "/default-value-definitions/"+id.New(id.DefaultValueDefinition)
		const crossed = `{"data":{"schema":{"id":"n","label":"N","type":"number","min":9,"max":1}}}`
		large := strings.Repeat("x", 256<<10+1)
		text := map[string]string{"Content-Type": "text/plain", "If-Match": `"v9"`}
		stale := map[string]string{"If-Match": `"v9"`}
		for _, test := range []struct {
			want int
			exchange
		}{
			{405, exchange{http.MethodDelete, unknown + "?x=1", "slp_wrong", large, text}},
			{401, exchange{http.MethodPatch, unknown + "?x=1", "slp_wrong", large, text}},
			{401, exchange{http.MethodPatch, unknown + "?x=1", "", large, text}},
			{415, exchange{http.MethodPatch, unknown + "?x=1", viewer, large, text}},
			{413, exchange{http.MethodPatch, unknown + "?x=1", viewer, large, stale}},
			{400, exchange{http.MethodPatch, unknown + "?x=1", viewer, crossed, stale}},
			{400, exchange{http.MethodPatch, unknown, viewer, `{"data":{"name":""}}`, stale}},
			{400, exchange{http.MethodPatch, unknown, viewer, `{"data":{"nam":""}}`, map[string]string{"If-Match": `"v9"`, "Slipway-Organization": "globex"}}},
			{404, exchange{http.MethodPatch, mine, viewer, crossed, map[string]string{"If-Match": `"v9"`, "Slipway-Organization": "globex"}}},
			{400, exchange{http.MethodPatch, unknown, viewer, crossed, map[string]string{"If-Match": `"v9"`, "Slipway-Organization": "!"}}},
			{401, exchange{http.MethodGet, "/module-definitions?x=1", "", "", map[string]string{"Slipway-Organization": "!"}}},
			{400, exchange{http.MethodGet, "/module-definitions?x=1", viewer, "", map[string]string{"Slipway-Organization": "globex"}}},
			{403, exchange{http.MethodGet, "/module-definitions?cursor=x", viewer, "", map[string]string{"Slipway-Organization": "globex"}}},
			{404, exchange{http.MethodPatch, unknown, viewer, crossed, stale}},
			{403, exchange{http.MethodPatch, mine, viewer, crossed, stale}},
			{412, exchange{http.MethodPatch, mine, admin, crossed, stale}},
			{422, exchange{http.MethodPatch, mine, admin, crossed, nil}},
			{422, s.replay("rollback", s.failedAndBusy(t), actor.Developer)},
		} {
			if got := ask(t, w, test.exchange); got.Status != test.want {
				t.Errorf("%s %.60s gets %d, want %d: %.300s", test.method, test.path, got.Status, test.want, got.Body)
			}
		}
	})
}

// failedAndBusy is a deployment that failed, of an instance where another one is active.
func (s *stage) failedAndBusy(t *testing.T) string {
	t.Helper()
	if got := ask(t, s.World, s.replay("redeploy", s.failed.ID, actor.Developer)); got.Status != http.StatusCreated {
		t.Fatalf("redeploy gets %d: %s", got.Status, got.Body)
	}
	return s.failed.ID
}
