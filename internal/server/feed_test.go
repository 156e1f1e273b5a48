package server_test

import (
	"bufio"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

const (
	everyChange = `{"query":"subscription($after: String) { deploymentsChanged(after: $after) { cursor kind version deployment { id status version } } }","variables":{"after":AFTER}}`
	listAndFeed = `{ deployments(first: 2) { feedCursor nodes { id version } }
		moduleInstances(first: 1) { nodes { plain: deployments(first: 1) { nodes { id } } deployments(first: 1) { feedCursor nodes { id } } } } }`
)

// events opens the event stream of every change after a cursor.
func events(t *testing.T, w *worldtest.World, after, lastEventID string) *bufio.Reader {
	t.Helper()
	return open(t, w, strings.ReplaceAll(everyChange, "AFTER", after), lastEventID)
}

// open opens an event stream, as a client does that has lost one after an event.
func open(t *testing.T, w *worldtest.World, body, lastEventID string) *bufio.Reader {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL+"/graphql", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+w.Acme.Tokens[actor.Viewer])
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	if lastEventID != "" {
		r.Header.Set("Last-Event-ID", lastEventID)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return bufio.NewReader(resp.Body)
}

var eventForm = regexp.MustCompile(`^event: next\ndata: \{"data":\{"deploymentsChanged":\{"cursor":"(\S+?)","kind":"([A-Z]+)","version":\d+,.*\nid: (\S+)\n$`)

// change returns the next event of a stream: the cursor of a change, and its kind.
func change(t *testing.T, in *bufio.Reader) (cursor, kind string) {
	t.Helper()
	text := event(t, in)
	found := eventForm.FindStringSubmatch(text)
	if found == nil || found[1] != found[3] {
		t.Fatalf("no change with its cursor as id: %s", text)
	}
	return found[1], found[2]
}

func TestAListAndItsStreamJoinAndTheStreamGoesOnAfterALostConnection(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		earlier := p.Succeeded(t)
		testkit.Eventually(t, "what was is settled", func() bool {
			last, err := w.Store.LastChange(w.Acme.As(actor.Viewer))
			return err == nil && last != nil && last.Version == earlier.Version
		})
		list := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], listAndFeed, nil)
		after := `"` + list.Text(t, "data", "deployments", "feedCursor") + `"`
		if nested := list.Text(t, "data", "moduleInstances", "nodes", 0, "deployments", "feedCursor"); nested == "" {
			t.Errorf("the list of an instance has no feedCursor: %s", list.Body)
		}
		d := p.Succeeded(t)

		in := events(t, w, after, "")
		first, kind := change(t, in)
		if kind != "CREATED" {
			t.Errorf("the first change is %s", kind)
		}
		for kind != "COMPLETED" {
			_, kind = change(t, in)
		}
		// The id of an event takes precedence over the cursor that the request has.
		in = events(t, w, after, first)
		for kind = ""; kind != "COMPLETED"; {
			if _, kind = change(t, in); kind == "CREATED" {
				t.Error("a change came that was not missed")
			}
		}
		socket := dial(t, w.URL, w.Acme.Tokens[actor.Viewer])
		hear(t, socket)
		say(t, socket, `{"id":"1","type":"subscribe","payload":`+strings.ReplaceAll(everyChange, "AFTER", `"`+first+`"`)+`}`)
		for got := ""; !strings.Contains(got, "COMPLETED"); {
			if got, _ = hear(t, socket); !strings.Contains(got, d.ID) || strings.Contains(got, "CREATED") {
				t.Fatal(got)
			}
		}
		if text := event(t, events(t, w, `"x"`, "")); !strings.Contains(text, string(fault.RequestCursorInvalid)) {
			t.Errorf("of no cursor came %s", text)
		}
	})
}
