package rest_test

import (
	"net/http"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/test/worldtest"
)

func TestHeadersDecideAsDocumented(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		s := newStage(t, w)
		const nothing = `{"data":{}}`
		patch := exchange{method: http.MethodPatch, path: "/default-value-definitions/" + s.definition.ID, token: s.Acme.Tokens[actor.Admin], body: nothing}
		read := exchange{method: http.MethodGet, path: "/deployments/" + s.failed.ID, token: s.Acme.Tokens[actor.Viewer]}
		withBody := read
		withBody.body = "{}"
		for _, test := range []struct {
			of          exchange
			name, value string
			want        int
		}{
			{patch, "If-Match", `"v1"`, 200},
			{patch, "If-Match", `*`, 200},
			{patch, "If-Match", `"v7", "other" ,"v1"`, 200},
			{patch, "If-Match", `W/"v1"`, 412},
			{patch, "If-Match", `"v2"`, 412},
			{patch, "If-Match", `v1`, 412},
			{patch, "If-Match", `"v01"`, 412},
			{patch, "If-Match", `"v9999999999"`, 412},
			{patch, "If-Match", `""`, 412},
			{patch, "If-Match", `"v2","v3","v4","v5","v6","v7","v8","v9","v1"`, 400},
			{patch, "Content-Type", "application/json; charset=UTF-8", 200},
			{patch, "Content-Type", "", 200},
			{patch, "Content-Type", "application/json; charset=latin1", 415},
			{patch, "Content-Type", "application/merge-patch+json", 415},
			{patch, "Content-Type", "json", 415},
			{patch, "Content-Encoding", "gzip", 415},
			{patch, "Content-Encoding", "identity", 200},
			{read, "Content-Type", "text/plain", 200},
			{withBody, "Content-Type", "text/plain", 415},
			{read, "If-None-Match", `"v3"`, 304},
			{read, "If-None-Match", `W/"v3"`, 304},
			{read, "If-None-Match", `"v1", "v3"`, 304},
			{read, "If-None-Match", `*`, 304},
			{read, "If-None-Match", `"v2"`, 200},
			{read, "Accept", "application/*;q=0.1", 200},
			{read, "Accept", "text/html, */*;q=0.5", 200},
			{read, "Accept", "*/*, application/json;q=0", 406},
			{read, "Accept", "text/html", 406},
			{read, "Authorization", "Basic eDp5", 401},
		} {
			e := test.of
			e.headers = map[string]string{test.name: test.value}
			if got := ask(t, w, e); got.Status != test.want {
				t.Errorf("%s %s: %s gets %d, want %d: %s", e.method, test.name, test.value, got.Status, test.want, got.Body)
			}
		}
	})
}

func TestTheETagOfAnAnswerMatchesTheRecord(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		s := newStage(t, w)
		made := ask(t, w, s.replay("redeploy", s.spare.ID, actor.Developer))
		again := ask(t, w, exchange{
			method: http.MethodGet, path: made.Header.Get("Location"), token: s.Acme.Tokens[actor.Viewer],
			headers: map[string]string{"If-None-Match": made.Header.Get("ETag")},
		})
		if again.Status != http.StatusNotModified || len(again.Body) > 0 {
			t.Errorf("what was just created is read with %d: %s", again.Status, again.Body)
		}
		patch := exchange{
			http.MethodPatch, "/default-value-definitions/" + s.definition.ID, s.Acme.Tokens[actor.Admin], `{"data":{"name":"N"}}`,
			map[string]string{"If-Match": `"v1"`},
		}
		first := ask(t, w, patch)
		if second := ask(t, w, patch); second.Status != http.StatusPreconditionFailed {
			t.Errorf("a change of a version that is gone gets %d", second.Status)
		}
		patch.headers["If-Match"] = first.Header.Get("ETag")
		if third := ask(t, w, patch); third.Status != http.StatusOK {
			t.Errorf("a change of the version just read gets %d: %s", third.Status, third.Body)
		}
	})
}

func TestATagHoldsInNoOtherOrganization(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		s := newStage(t, w)
		deployment, definition := "/deployments/"+s.failed.ID, "/default-value-definitions/"+s.definition.ID
		for _, test := range []struct {
			method, path, body, header, tag, organization string
			want                                          int
		}{
			{http.MethodGet, deployment, "", "If-None-Match", `"v3"`, "acme", 304},
			{http.MethodGet, deployment, "", "If-None-Match", `"v3"`, "globex", 404},
			{http.MethodGet, deployment, "", "If-None-Match", `*`, "globex", 404},
			{http.MethodGet, deployment, "", "If-None-Match", `"v3"`, "initech", 404},
			{http.MethodGet, deployment, "", "If-None-Match", `"v3"`, "", 400},
			{http.MethodGet, deployment, "", "If-None-Match", `"v3"`, "global", 400},
			{http.MethodPatch, definition, `{"data":{}}`, "If-Match", `"v1"`, "acme", 200},
			{http.MethodPatch, definition, `{"data":{}}`, "If-Match", `"v1"`, "globex", 404},
			{http.MethodPatch, definition, `{"data":{}}`, "If-Match", `"v9"`, "globex", 404},
		} {
			headers := map[string]string{test.header: test.tag, "Slipway-Organization": test.organization}
			got := ask(t, w, exchange{test.method, test.path, s.Superadmin, test.body, headers})
			if got.Status != test.want || got.Status >= 400 && got.Header.Get("ETag") != "" {
				t.Errorf("%s in %q: %s: %s gets %d, want %d: %s", test.method, test.organization, test.header, test.tag, got.Status, test.want, got.Body)
			}
		}
	})
}

func TestAGivenRequestIDIsTakenOver(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		got := ask(t, w, exchange{method: http.MethodGet, path: "/deployments/x", headers: map[string]string{"X-Request-Id": "mine-1"}})
		if got.Header.Get("X-Request-Id") != "mine-1" || got.Text(t, "requestId") != "mine-1" {
			t.Errorf("the id is %q, in the body %q", got.Header.Get("X-Request-Id"), got.Text(t, "requestId"))
		}
	})
}

func TestOtherMethodsAndPathsAreRefused(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	for _, test := range []struct {
		method, path string
		want         int
		allow        string
	}{
		{http.MethodOptions, "/module-definitions", 204, "GET, HEAD, OPTIONS"},
		{http.MethodOptions, "/default-value-definitions/x", 204, "PATCH, OPTIONS"},
		{http.MethodHead, "/module-definitions", 200, ""},
		{http.MethodHead, "/deployments/x/rollback", 405, "POST, OPTIONS"},
		{http.MethodGet, "/deployments/x/rollback", 405, "POST, OPTIONS"},
		{http.MethodPut, "/default-value-definitions/x", 405, "PATCH, OPTIONS"},
		{"BREW", "/deployments/x", 405, "GET, HEAD, OPTIONS"},
		{http.MethodOptions, "/nowhere", 404, ""},
		{http.MethodHead, "/nowhere", 404, ""},
		{"BREW", "/nowhere", 404, ""},
		{http.MethodGet, "/deployments/", 404, ""},
		{http.MethodGet, "/deployments", 404, ""},
		{http.MethodGet, "/module-definitions/", 404, ""},
		{http.MethodPost, "/deployments/x/rollback/", 404, ""},
	} {
		got := w.REST(t, test.method, test.path, "", "", nil)
		if got.Status != test.want || got.Header.Get("Allow") != test.allow {
			t.Errorf("%s %s gets %d and Allow %q, want %d and %q", test.method, test.path, got.Status, got.Header.Get("Allow"), test.want, test.allow)
		}
	}
}
