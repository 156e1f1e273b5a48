package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"slipway/internal/base/actor"
	"slipway/internal/data/store"
	"slipway/internal/server"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// enter opens a socket in an organization.
func enter(t *testing.T, url, token, organization string) *websocket.Conn {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), url+"/graphql", &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	say(t, conn, `{"type":"connection_init","payload":{"Authorization":"Bearer `+token+`","organization":"`+organization+`"}}`)
	return conn
}

func TestASocketActsInItsOrganizationAndEndsWithIt(t *testing.T) {
	t.Parallel()
	clock := testkit.NewRunningClock(store.Now) // an organization is believed to be there for five seconds
	w, s, _ := serve(t, server.Config{Now: clock.Now})
	system := actor.With(t.Context(), &actor.Actor{Name: "test", Role: actor.System, Channel: actor.CLI})
	if _, err := w.Accounts.CreateOrganization(system, "Initech", "initech"); err != nil {
		t.Fatal(err)
	}
	slug := func(conn *websocket.Conn) string {
		say(t, conn, `{"id":"1","type":"subscribe","payload":{"query":"{ viewer { organization { slug } } }"}}`)
		got, _ := hear(t, conn)
		hear(t, conn) // complete
		return got
	}
	sockets := map[string]*websocket.Conn{}
	for _, organization := range []string{"initech", "acme"} {
		sockets[organization] = enter(t, s.URL, w.Superadmin, organization)
		if got, code := hear(t, sockets[organization]); got != `{"type":"connection_ack"}` {
			t.Fatalf("%s %d", got, code)
		}
		if got := slug(sockets[organization]); !strings.Contains(got, `{"organization":{"slug":"`+organization+`"}}`) {
			t.Errorf("a socket in %s: %s", organization, got)
		}
	}
	if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), `DELETE FROM organizations WHERE slug = 'initech'`); err != nil {
		t.Fatal(err)
	}
	clock.Advance(6 * time.Second)
	if got, code := hear(t, sockets["initech"]); code != 4403 {
		t.Errorf("a socket in an organization that is gone: %s %d", got, code)
	}
	if got := slug(sockets["acme"]); !strings.Contains(got, `{"organization":{"slug":"acme"}}`) {
		t.Errorf("a socket in another: %s", got)
	}
}

func TestTheLogLineSaysWhereASuperadminActed(t *testing.T) {
	t.Parallel()
	w, s, log := serve(t, server.Config{})
	for organization, want := range map[string]string{"": "", "acme": w.Acme.ID, w.Globex.ID: w.Globex.ID, "global": "global", "initech": ""} {
		for _, request := range [][2]string{{"POST", "/graphql"}, {"GET", "/module-definitions"}} {
			header := []string{"Authorization", "Bearer " + w.Superadmin, "Content-Type", "application/json"}
			if organization != "" {
				header = append(header, "Slipway-Organization", organization)
			}
			body := ""
			if request[0] == "POST" {
				body = `{"query":"{ viewer { tokenId } }"}`
			}
			resp, _ := send(t, request[0], s.URL+request[1], body, header...)
			line := log.line(t, func(text string) bool { return strings.Contains(text, resp.Header.Get("X-Request-Id")) })
			if line["organization"] != want || line["actor"] != string(actor.Superadmin) {
				t.Errorf("%s in %q: %v", request[1], organization, line)
			}
		}
	}
}

func TestNobodyNamesAnOrganizationWithoutAToken(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	for _, organization := range []string{"acme", "initech", "global", "!"} {
		r := w.In(organization).GraphQL(t, "", "{ __typename }", nil)
		if r.Status != 401 || r.Code(t) != "slipway:Request:UNAUTHENTICATED" || r.Header.Get("WWW-Authenticate") != "Bearer" || r.At(t, "data") != nil {
			t.Errorf("%s: %s", organization, fmt.Sprint(r.Status, r.Header, string(r.Body)))
		}
	}
}
