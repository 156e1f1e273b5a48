package server_test

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/edge/gqlhttp/stream"
	"slipway/internal/server"
)

// request returns the log line of the request with the id, without what differs from one run to the next.
func (l *logged) request(t *testing.T, id string) map[string]any {
	t.Helper()
	line := l.line(t, func(text string) bool {
		return strings.Contains(text, `"msg":"request"`) && strings.Contains(text, `"requestId":"`+id+`"`)
	})
	for _, name := range []string{"time", "level", "msg", "requestId", "bytes", "duration", "organization"} {
		if _, ok := line[name]; !ok {
			t.Errorf("the log line has no %s: %v", name, line)
		}
		delete(line, name)
	}
	return line
}

// costOf is what a GraphQL answer says that it cost, nil if it says nothing.
func costOf(body string) any {
	var answer struct {
		Extensions struct{ Cost struct{ Used any } }
	}
	_ = json.Unmarshal([]byte(body), &answer) // which need not be one
	return answer.Extensions.Cost.Used
}

func TestTheLogLineOfARequestSaysWhatItWas(t *testing.T) {
	t.Parallel()
	proxies := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	w, s, log := serve(t, server.Config{TrustedProxies: proxies})
	viewer := w.Acme.Tokens[actor.Viewer]
	long := strings.Repeat("x", 101)
	for name, c := range map[string]struct {
		method, path, body, token string
		want                      map[string]any
	}{
		"a query": {"POST", "/graphql", `{"query":"query Mine { viewer { tokenId } }"}`, viewer,
			map[string]any{"route": "/graphql", "status": 200.0, "actor": "viewer", "operation": "Mine"}},
		"one of several": {"POST", "/graphql", `{"query":"query A { viewer { tokenId } } query B { viewer { tokenId } }","operationName":"B"}`, viewer,
			map[string]any{"route": "/graphql", "status": 200.0, "actor": "viewer", "operation": "B"}},
		"a query without a name": {"POST", "/graphql", `{"query":"{ viewer { tokenId } }"}`, viewer,
			map[string]any{"route": "/graphql", "status": 200.0, "actor": "viewer"}},
		"a name of 101 bytes": {"POST", "/graphql", `{"query":"query ` + long + ` { viewer { tokenId } }"}`, viewer,
			map[string]any{"route": "/graphql", "status": 200.0, "actor": "viewer", "operation": long[1:] + "…"}},
		"an error in the answer": {"POST", "/graphql", `{"query":"query Q { deployment(id: \"dep_1\") { id } }"}`, "",
			map[string]any{"route": "/graphql", "status": 200.0, "actor": "anonymous", "operation": "Q", "error": "slipway:Request:UNAUTHENTICATED"}},
		"the first of two errors": {"POST", "/graphql", `{"query":"mutation M { a: cancelDeployment(input: {id: \"dep_1\"}) { deployment { id } } b: createProject(input: {name: \"a\", slug: \"a\"}) { project { id } } }"}`, viewer,
			map[string]any{"route": "/graphql", "status": 200.0, "actor": "viewer", "operation": "M", "error": "slipway:Deployment:NOT_FOUND"}},
		"a document that is none": {"POST", "/graphql", `{"query":"query Q {","operationName":"Q"}`, viewer,
			map[string]any{"route": "/graphql", "status": 200.0, "actor": "viewer", "operation": "Q", "error": "slipway:Document:PARSE_FAILED"}},
		"a body that is none": {"POST", "/graphql", `{`, viewer,
			map[string]any{"route": "/graphql", "status": 400.0, "actor": "viewer", "error": "slipway:Request:MALFORMED"}},
		"a bad token over GraphQL": {"POST", "/graphql", `{"query":"{ viewer { tokenId } }"}`, "nonsense",
			map[string]any{"route": "/graphql", "status": 401.0, "actor": "anonymous", "error": "slipway:Request:UNAUTHENTICATED"}},
		"REST": {"GET", "/module-definitions", "", viewer,
			map[string]any{"route": "/module-definitions", "status": 200.0, "actor": "viewer", "cost": 11.0}},
		"a REST error": {"GET", "/deployments/dep_1", "", viewer,
			map[string]any{"route": "/deployments/{id}", "status": 404.0, "actor": "viewer", "cost": 2.0, "error": "slipway:Deployment:NOT_FOUND"}},
		"a bad token over REST": {"GET", "/deployments/dep_1", "", "nonsense",
			map[string]any{"route": "/deployments/{id}", "status": 401.0, "actor": "anonymous", "error": "slipway:Request:UNAUTHENTICATED"}},
		"a method of 101 letters": {strings.ToUpper(long), "/module-definitions", "", "",
			map[string]any{"route": "", "status": 405.0, "actor": "anonymous", "error": "slipway:Request:METHOD_NOT_ALLOWED"}},
		"nothing": {"GET", "/nothing", "", "",
			map[string]any{"route": "", "status": 404.0, "actor": "anonymous", "error": "slipway:Request:NOT_FOUND"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := []string{"Content-Type", "application/json", "X-Forwarded-For", "1.1.1.1, 203.0.113.5", "Slipway-Cost", "true"}
			if c.token != "" {
				header = append(header, "Authorization", "Bearer "+c.token)
			}
			resp, body := send(t, c.method, s.URL+c.path, c.body, header...)
			got := log.request(t, resp.Header.Get("X-Request-Id"))
			if cost := costOf(body); cost != nil {
				c.want["cost"] = cost
			}
			if isQuery := c.want["operation"] != nil && c.want["error"] != "slipway:Document:PARSE_FAILED"; isQuery && got["cost"] == nil {
				t.Error("no cost")
			}
			c.want["method"], c.want["client"] = c.method, "203.0.113.5"
			if len(c.method) > 100 {
				c.want["method"] = c.method[1:] + "…"
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s\n%s", diff, body)
			}
		})
	}
}

func TestTheLogLineHasThePeerWhereNoProxyIsTrusted(t *testing.T) {
	t.Parallel()
	_, s, log := serve(t, server.Config{})
	resp, _ := send(t, "GET", s.URL+"/openapi.json", "", "X-Forwarded-For", "203.0.113.5")
	if line := log.request(t, resp.Header.Get("X-Request-Id")); line["client"] != "127.0.0.1" {
		t.Errorf("%v", line)
	}
}

func TestTheLogLineOfAStreamIsItsOperationsAndThatOfASocketTheHandshakes(t *testing.T) {
	t.Parallel()
	w, s, log := serve(t, server.Config{})
	viewer := w.Acme.Tokens[actor.Viewer]
	resp, body := send(t, "POST", s.URL+"/graphql", `{"query":"subscription S { deploymentChanged(id: \"dep_1\") { deployment { id } } }"}`,
		"Authorization", "Bearer "+viewer, "Content-Type", "application/json", "Accept", "text/event-stream")
	want := map[string]any{
		"method": "POST", "route": "/graphql", "status": 200.0, "actor": "viewer", "client": "127.0.0.1",
		"operation": "S", "error": "slipway:Deployment:NOT_FOUND",
	}
	id := resp.Header.Get("X-Request-Id")
	if sent := log.line(t, func(text string) bool { return strings.Contains(text, `"requestId":"`+id+`"`) })["bytes"]; sent != float64(len(body)) {
		t.Errorf("the line says %v bytes, the stream had %d: %s", sent, len(body), body)
	}
	got := log.request(t, id)
	if cost, _ := got["cost"].(float64); cost < 1 {
		t.Errorf("the cost is %v", got["cost"])
	}
	delete(got, "cost")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the stream: %s\n%s", diff, body)
	}

	socket := dial(t, s.URL, viewer)
	hear(t, socket)
	say(t, socket, `{"id":"1","type":"subscribe","payload":{"query":"query Q { deployment(id: \"dep_1\") { id } }"}}`)
	if got, _ := hear(t, socket); !strings.Contains(got, "slipway:Deployment:NOT_FOUND") {
		t.Fatal(got)
	}
	_ = socket.Close(1000, "")
	line := log.line(t, func(text string) bool { return strings.Contains(text, `"method":"GET"`) })
	if line["error"] != nil || line["operation"] != nil || line["cost"] != nil || line["actor"] != "viewer" {
		t.Errorf("the socket: %v", line)
	}
}

func TestARefusalForLackOfRoomIsNoErrorInTheLog(t *testing.T) {
	t.Parallel()
	w, s, log := serve(t, server.Config{Streams: stream.Config{Open: 1}})
	p := w.Fixture(t, w.Acme, "web")
	d := p.Deploy(t, p.Instance.ID, `{"image":"registry.example/web:1"}`)
	viewer := w.Acme.Tokens[actor.Viewer]
	listen(t, s.URL, viewer, follow(d.ID))
	resp, body := send(t, "POST", s.URL+"/graphql", follow(d.ID),
		"Authorization", "Bearer "+viewer, "Content-Type", "application/json", "Accept", "text/event-stream")
	if resp.StatusCode != 503 {
		t.Fatalf("%d %s", resp.StatusCode, body)
	}
	if line := log.request(t, resp.Header.Get("X-Request-Id")); line["error"] != "slipway:Server:UNAVAILABLE" {
		t.Errorf("%v", line)
	}
	if strings.Contains(log.String(), `"level":"ERROR"`) {
		t.Errorf("the log has an error: %s", log)
	}
}
