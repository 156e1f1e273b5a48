package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/server"
)

func TestOnlyEventsMayBearTheirTokenInAHeaderOfTheirOwn(t *testing.T) {
	t.Parallel()
	const events = "/integrations/ecs/events"
	body := `{"id":"1","detail-type":"ECS Service Action","time":"` + time.Now().UTC().Format(time.RFC3339) + `",` +
		`"resources":["arn:aws:ecs:eu-west-1:123456789012:service/main/web"],"detail":{"eventName":"SERVICE_STEADY_STATE"}}`
	w, s, log := serve(t, server.Config{EventTokenHeader: "X-Api-Key", MaxFailures: 7})
	runner, viewer := w.Acme.Tokens[actor.Runner], w.Acme.Tokens[actor.Viewer]
	for _, c := range []struct {
		name, method, path string
		status             int
		headers            []string
	}{
		{"the header", "POST", events, 202, []string{"X-Api-Key", runner}},
		{"Authorization", "POST", events, 202, []string{"Authorization", "Bearer " + runner}},
		{"another role", "POST", events, 403, []string{"X-Api-Key", viewer}},
		{"both", "POST", events, 401, []string{"X-Api-Key", runner, "Authorization", "Bearer " + runner}},
		{"a scheme", "POST", events, 401, []string{"X-Api-Key", "Bearer " + runner}},
		{"an unknown token", "POST", events, 401, []string{"X-Api-Key", runner[:len(runner)-1] + "_"}},
		{"another header", "POST", events, 401, []string{"X-Other-Key", runner}},
		{"another operation", "GET", "/deployments/dep_1", 401, []string{"X-Api-Key", viewer}},
		{"GraphQL", "POST", "/graphql", 200, []string{"X-Api-Key", viewer}},
	} {
		text := body
		switch {
		case c.method == "GET":
			text = ""
		case c.path == "/graphql":
			text = `{"query":"{ viewer { tokenId } }"}`
		}
		resp, answer := send(t, c.method, s.URL+c.path, text, append(c.headers, "Content-Type", "application/json")...)
		if resp.StatusCode != c.status || c.path == "/graphql" && strings.Contains(answer, "tok_") {
			t.Errorf("%s: %d %s, want %d", c.name, resp.StatusCode, answer, c.status)
		}
		if strings.Contains(answer, runner[12:]) {
			t.Errorf("%s: the answer has the token: %s", c.name, answer)
		}
	}
	// Failures are counted as those of Authorization are.
	if resp, _ := send(t, "POST", s.URL+events, body, "X-Api-Key", "nonsense"); resp.Header.Get("RateLimit-Limit") != "7" || resp.Header.Get("RateLimit-Remaining") != "3" {
		t.Errorf("%v", resp.Header)
	}
	if text := log.String(); strings.Contains(text, runner) || strings.Contains(text, viewer) || strings.Contains(text, "nonsense") {
		t.Errorf("the log has a token: %s", text)
	}
	_, off, _ := serve(t, server.Config{})
	if resp, _ := send(t, "POST", off.URL+events, body, "X-Api-Key", runner); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a header: %d", resp.StatusCode)
	}
}
