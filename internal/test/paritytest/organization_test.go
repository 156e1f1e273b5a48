package paritytest_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/base/id"
	"slipway/internal/test/worldtest"
)

// heard is how a request ended: its HTTP status, or the code that its socket was closed with, and what was said.
type heard struct {
	status int
	text   string
}

// way is one of those that a request can come in by and name organizations.
type way func(t *testing.T, w *worldtest.World, token string, organizations ...string) heard

// ways are all of them, on the records of one organization. But for the replays they change nothing.
func (r records) ways() map[string]way {
	all := map[string]way{
		"list":     over(http.MethodGet, "/module-definitions", "", nil),
		"POST":     over(http.MethodPost, "/graphql", `{"query":"{ projects { totalCount } }"}`, nil),
		"GET":      over(http.MethodGet, "/graphql?query="+url.QueryEscape("{ projects { totalCount } }"), "", nil),
		"mutation": over(http.MethodPost, "/graphql", fmt.Sprintf(`{"query":"mutation { updateDefaultValueDefinition(input: {id: \"%s\"}) { changes { __typename } } }"}`, r.definition.ID), nil),
		"events":   over(http.MethodPost, "/graphql", fmt.Sprintf(`{"query":"%s"}`, r.following()), map[string]string{"Accept": "text/event-stream"}),
		"connection_init": r.socket(func(_ http.Header, organizations []string) string {
			text := ""
			for i, name := range organizations { // JSON has no member twice, but names of members have two cases
				text += fmt.Sprintf(`,"%s":%q`, []string{"organization", "Organization"}[i], name)
			}
			return text
		}),
		"handshake": r.socket(func(h http.Header, organizations []string) string {
			h["Slipway-Organization"] = organizations
			return ""
		}),
	}
	for _, o := range byID {
		body := ""
		if o.method == http.MethodPatch {
			body = `{"data":{}}`
		}
		all[o.name] = over(o.method, strings.Replace(o.path, "{id}", r.id(o), 1), body, nil)
	}
	return all
}

// following is a subscription that ends at once, for its deployment has ended.
func (r records) following() string {
	return fmt.Sprintf(`subscription { deploymentChanged(id: \"%s\") { deployment { id } } }`, r.deployment.ID)
}

// over is the way of a request over HTTP.
func over(method, path, body string, headers map[string]string) way {
	return func(t *testing.T, w *worldtest.World, token string, organizations ...string) heard {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, w.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range headers {
			r.Header.Set(name, value)
		}
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("X-Request-Id", "same")
		if organizations != nil {
			r.Header["Slipway-Organization"] = organizations
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		vary := strings.Join(answer.Header.Values("Vary"), ", ")
		for _, header := range []string{"Accept", "Authorization", "Slipway-Organization"} {
			if !slices.Contains(strings.Split(vary, ", "), header) {
				t.Errorf("%s %s answers %d with Vary: %s", method, path, answer.StatusCode, vary)
			}
		}
		return heard{answer.StatusCode, string(text)}
	}
}

// socket is the way of an operation over a socket; name puts the organizations into the handshake, or returns
// them as members of connection_init.
func (r records) socket(name func(http.Header, []string) string) way {
	return func(t *testing.T, w *worldtest.World, token string, organizations ...string) heard {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		header := http.Header{}
		members := name(header, organizations)
		conn, _, err := websocket.Dial(ctx, w.URL+"/graphql", &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}, HTTPHeader: header})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.CloseNow() }()
		for _, text := range []string{
			`{"type":"connection_init","payload":{"Authorization":"Bearer ` + token + `"` + members + `}}`,
			`{"type":"subscribe","id":"1","payload":{"query":"` + r.following() + `"}}`,
		} {
			if err := conn.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
				break // closed already, as is read below
			}
			_, answer, err := conn.Read(ctx)
			if code := websocket.CloseStatus(err); code != -1 {
				return heard{int(code), strings.TrimPrefix(err.Error(), "failed to get reader: ")}
			}
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(answer), "connection_ack") {
				return heard{http.StatusOK, string(answer)}
			}
		}
		t.Fatal("nothing was said")
		return heard{}
	}
}

// refusedWith is how each way refuses what is refused over REST with a status.
func refusedWith(name string, status int) int {
	switch name {
	case "connection_init", "handshake":
		return map[int]int{http.StatusBadRequest: 4400, http.StatusNotFound: 4403}[status]
	case "list":
		if status == http.StatusNotFound {
			return http.StatusForbidden
		}
	}
	return status
}

func TestAnotherOrganizationIsAsIfAbsent(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		own, foreign := recordsOf(t, w, w.Acme), recordsOf(t, w, w.Globex)
		ways := own.ways()
		for name, ask := range foreign.ways() {
			ways["foreign "+name] = ask
		}
		before := state(t, w)
		refuse := func(name string, ask way, token, organization string) string {
			t.Helper()
			got := ask(t, w, token, organization)
			if want := refusedWith(strings.TrimPrefix(name, "foreign "), http.StatusNotFound); got.status != want || !strings.Contains(got.text, "There is no organization ") {
				t.Errorf("%s in %s: %+v, want %d", name, organization, got, want)
			}
			return fmt.Sprint(got.status, strings.ReplaceAll(got.text, organization, "NAME"))
		}
		absentID := id.New(id.Organization)
		for name, ask := range ways {
			want := refuse(name, ask, w.Superadmin, absentID)
			for _, token := range []string{w.Acme.Tokens[actor.Admin], w.Acme.Tokens[actor.Runner]} {
				for _, organization := range []string{w.Globex.ID, w.Globex.Slug, absentID, "initech", "Acme", actor.Global} {
					if got := refuse(name, ask, token, organization); got != want {
						t.Errorf("%s: a member is answered about %s\n%s\nand a superadmin of an absent one\n%s", name, organization, got, want)
					}
				}
			}
		}
		if diff := cmp.Diff(before, state(t, w)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAnOrganizationThatCannotBeOneIsMalformed(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		own := recordsOf(t, w, w.Acme)
		before := state(t, w)
		for name, ask := range own.ways() {
			for _, organizations := range [][]string{{""}, {"acme", "acme"}, {"acme,globex"}, {"a b"}, {strings.Repeat("a", 61)}} {
				for _, token := range []string{w.Superadmin, w.Acme.Tokens[actor.Admin]} {
					got := ask(t, w, token, organizations...)
					if want := refusedWith(name, http.StatusBadRequest); got.status != want || !strings.Contains(got.text, "Slipway-Organization m") {
						t.Errorf("%s in %q: %+v, want %d", name, organizations, got, want)
					}
				}
			}
		}
		if diff := cmp.Diff(before, state(t, w)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestEverybodyMayNameTheirOwnOrganizationAndSuperadminsAny(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		for _, o := range []*worldtest.Org{w.Acme, w.Globex} {
			ways := recordsOf(t, w, o).ways()
			delete(ways, rollback.name) // which have a test of their own
			delete(ways, redeploy.name)
			for _, name := range slices.Sorted(maps.Keys(ways)) {
				plain := ways[name](t, w, o.Tokens[actor.Admin])
				if plain.status >= 300 || strings.Contains(plain.text, `"errors"`) {
					t.Errorf("%s of %s without the header: %+v", name, o.Slug, plain)
				}
				for _, token := range []string{o.Tokens[actor.Admin], w.Superadmin} {
					for _, organization := range []string{o.ID, o.Slug} {
						got := ways[name](t, w, token, organization)
						if got.status >= 300 || strings.Contains(got.text, `"errors"`) || plainly(got) != plainly(plain) {
							t.Errorf("%s in %s: %+v, without the header %+v", name, organization, got, plain)
						}
					}
				}
			}
		}
	})
}

// eventID is the cursor of an event, which has the time where nothing has changed yet.
var eventID = regexp.MustCompile(`(?m)^id: .*$`)

// plainly is an answer without what is left of its caller's bucket.
func plainly(h heard) string {
	text, _, _ := strings.Cut(h.text, `,"extensions":{"cost"`)
	return fmt.Sprint(h.status, eventID.ReplaceAllString(text, ""))
}

func TestASuperadminWithoutAnOrganizationHasOnlyWhatIsGlobal(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ways := recordsOf(t, w, w.Acme).ways()
		before := state(t, w)
		for name, ask := range ways {
			for _, organizations := range [][]string{nil, {actor.Global}} {
				got := ask(t, w, w.Superadmin, organizations...)
				if name == "list" {
					if got.status != http.StatusOK || !strings.Contains(got.text, `"totalCount":0`) {
						t.Errorf("the catalogue of %v: %+v", organizations, got)
					}
				} else if !strings.Contains(got.text, "slipway:Request:ORGANIZATION_NEEDED") || got.status != 200 && got.status != 400 {
					t.Errorf("%s in %v: %+v", name, organizations, got)
				}
			}
		}
		if diff := cmp.Diff(before, state(t, w)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestASuperadminReplaysInTheOrganizationThatIsNamed(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		own := recordsOf(t, w, w.Acme)
		for _, o := range []operation{rollback, redeploy} {
			if r := o.rest(t, w.In(w.Globex.Slug), w.Superadmin, own.id(o), ""); r.Status != http.StatusNotFound {
				t.Errorf("%s in another organization: %d %s", o.name, r.Status, r.Body)
			}
			made := o.rest(t, w.In(w.Acme.Slug), w.Superadmin, own.id(o), "")
			if made.Status != http.StatusCreated || made.Text(t, "data", "organizationId") != w.Acme.ID {
				t.Fatalf("%s: %d %s", o.name, made.Status, made.Body)
			}
			w.Cancel(t, w.Acme, made.Text(t, "data", "id"))
		}
	})
}

func TestAnOrganizationIsLookedUpOnceForManyRequests(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		own := recordsOf(t, w, w.Acme)
		ask := func(token, organization string) []string {
			return w.Statements(func() {
				if r := read.rest(t, w.In(organization), token, own.id(read), ""); r.Status != http.StatusOK {
					t.Errorf("%d %s", r.Status, r.Body)
				}
			})
		}
		for _, c := range []struct{ token, organization string }{
			{w.Superadmin, w.Acme.ID}, {w.Superadmin, w.Acme.Slug}, {w.Acme.Tokens[actor.Viewer], w.Acme.Slug}, {w.Acme.Tokens[actor.Viewer], w.Acme.ID},
		} {
			ask(c.token, c.organization)
			if again := ask(c.token, c.organization); len(again) != 1 {
				t.Errorf("in %s: %q", c.organization, again)
			}
		}
	})
}
