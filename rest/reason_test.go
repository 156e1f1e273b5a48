package rest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/test/worldtest"
)

// firstPointer returns where an answer says that a request is wrong, "" for nowhere.
func firstPointer(t *testing.T, got worldtest.Response) string {
	t.Helper()
	var body struct {
		Details []struct{ Items []string }
	}
	if err := json.Unmarshal(got.Body, &body); err != nil {
		t.Fatalf("%s: %v", got.Body, err)
	}
	if len(body.Details) == 0 || len(body.Details[0].Items) == 0 {
		return ""
	}
	pointer, _, _ := strings.Cut(body.Details[0].Items[0], ":")
	return pointer
}

// raw sends a request whose headers may be empty or there twice.
func raw(t *testing.T, w *worldtest.World, e exchange, headers http.Header) worldtest.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), e.method, w.URL+e.path, strings.NewReader(e.body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = headers
	r.Header.Set("Authorization", "Bearer "+e.token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := answer.Body.Close(); err != nil {
			t.Error(err)
		}
	}()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return worldtest.Response{Status: answer.StatusCode, Header: answer.Header, Body: body}
}

// empty sends a request with a header that has no value.
func empty(t *testing.T, w *worldtest.World, e exchange, name string) worldtest.Response {
	t.Helper()
	return raw(t, w, e, http.Header{name: {""}})
}

func TestABodyHasOneContentType(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		s := newStage(t, w)
		patch := exchange{method: http.MethodPatch, path: "/default-value-definitions/" + s.definition.ID, token: s.Acme.Tokens[actor.Admin], body: `{"data":{}}`}
		query := exchange{method: http.MethodPost, path: "/graphql", token: s.Acme.Tokens[actor.Admin], body: `{"query":"{ viewer { name } }"}`}
		for _, e := range []exchange{patch, query} {
			for _, types := range [][]string{{"application/json", "application/json"}, {"application/json", "text/plain"}, {"text/plain", "application/json"}} {
				if got := raw(t, w, e, http.Header{"Content-Type": types}); got.Status != http.StatusBadRequest || !strings.Contains(string(got.Body), "Content-Type may be given once") {
					t.Errorf("%s %s with %q: %d %s", e.method, e.path, types, got.Status, got.Body)
				}
			}
			if got := raw(t, w, e, http.Header{"Content-Type": {"application/json"}}); got.Status != http.StatusOK {
				t.Errorf("%s %s: %d %s", e.method, e.path, got.Status, got.Body)
			}
		}
	})
}

func TestAReasonOfAReplayComesByAHeader(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		s := newStage(t, w)
		for i, verb := range []string{"rollback", "redeploy"} {
			send := func(name, value string) worldtest.Response {
				t.Helper()
				e := s.replay(verb, s.spare.ID, actor.Developer)
				if value != "" {
					e.headers = map[string]string{name: value}
					return ask(t, w, e)
				}
				return empty(t, w, e, name)
			}
			for _, wrong := range []struct{ header, value, pointer string }{
				{"Slipway-Reason", "", "/reason"}, {"Slipway-Reason", "%20", "/reason"}, {"Slipway-Reason", "%ff", "/reason"},
				{"Slipway-Reason", "100 % sure", "/reason"}, {"Slipway-Reason", "für Ann", "/reason"},
				{"Slipway-Reason", strings.Repeat("x", 501), "/reason"}, {"Expected-Live-Deployment", "", "/expectedLiveDeploymentId"},
			} {
				got := send(wrong.header, wrong.value)
				if got.Status != http.StatusBadRequest || firstPointer(t, got) != wrong.pointer {
					t.Errorf("%s: %s %q: %d %s", verb, wrong.header, wrong.value, got.Status, got.Body)
				}
			}
			reason := fmt.Sprintf("für Ann, 100 %% sure %d", i)
			got := send("Slipway-Reason", url.PathEscape(reason))
			if got.Status != http.StatusCreated || strings.Contains(string(got.Body), "Ann") {
				t.Fatalf("%s: %d %s", verb, got.Status, got.Body)
			}
			id := got.At(t, "data", "id")
			shown := w.GraphQL(t, s.Acme.Tokens[actor.Viewer], `query($id: ID!) { deployment(id: $id) { reason } }`, map[string]any{"id": id})
			if found := shown.At(t, "data", "deployment", "reason"); found != reason {
				t.Errorf("%s: the reason is %v, want %q", verb, found, reason)
			}
			w.Cancel(t, s.Acme, fmt.Sprint(id))
		}
	})
}
