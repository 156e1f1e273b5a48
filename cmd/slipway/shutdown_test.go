package main_test

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"slipway/internal/base/actor"
	"slipway/internal/test/worldtest"
)

func TestStoppingTellsEveryOpenStream(t *testing.T) {
	t.Parallel()
	url := worldtest.SQLite(t)
	w := worldtest.New(t, url)
	p := w.Fixture(t, w.Acme, "web")
	id, token := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`).ID, w.Acme.Tokens[actor.Viewer]
	s := serve(t, "--database", url)

	const each = 50
	var sockets []*websocket.Conn
	var streams []*bufio.Reader
	for range each {
		sockets = append(sockets, following(t, s.API, token, id))
		streams = append(streams, listening(t, s.API, token, id))
	}
	s.stop()
	for _, conn := range sockets {
		if _, text, err := conn.Read(t.Context()); err != nil || string(text) != `{"type":"complete","id":"1"}` {
			t.Errorf("a socket's last message is %s, %v", text, err)
		}
		if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusGoingAway {
			t.Errorf("a socket was closed with %v", err)
		}
	}
	for _, in := range streams {
		if rest, err := io.ReadAll(in); err != nil || !strings.HasSuffix(string(rest), "event: complete\ndata:\n\n") {
			t.Errorf("a stream ended with %q, %v", rest, err)
		}
	}
	// One that had to be cut off when the shutdown's time ran out would make it 1.
	if code := <-s.done; code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestStoppingStoresTheLastUsesOfTokens(t *testing.T) {
	t.Parallel()
	url := worldtest.SQLite(t)
	w := worldtest.New(t, url)
	s := serve(t, "--database", url)
	w.URL = s.API
	if r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], "{ __typename }", nil); r.Status != http.StatusOK {
		t.Fatalf("%d %s", r.Status, r.Body)
	}
	s.stop()
	if code := <-s.done; code != 0 {
		t.Errorf("exit code %d", code)
	}
	tokens, err := w.Accounts.AllTokens(w.Acme.As(actor.Admin))
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range tokens {
		if isUsed := one.LastUsedAt != nil; isUsed != (one.Role == actor.Viewer) {
			t.Errorf("%s was used at %v", one.Name, one.LastUsedAt)
		}
	}
}

const follow = `"query":"subscription($id: ID!) { deploymentChanged(id: $id) { deployment { id } } }"`

// following opens a socket that has heard of the deployment.
func following(t *testing.T, url, token, id string) *websocket.Conn {
	t.Helper()
	return followingBy(t, http.DefaultClient, url, token, id)
}

func followingBy(t *testing.T, client *http.Client, url, token, id string) *websocket.Conn {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), url+"/graphql", &websocket.DialOptions{HTTPClient: client, Subprotocols: []string{"graphql-transport-ws"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	for _, text := range []string{
		`{"type":"connection_init","payload":{"Authorization":"Bearer ` + token + `"}}`,
		`{"id":"1","type":"subscribe","payload":{` + follow + `,"variables":{"id":"` + id + `"}}}`,
	} {
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{`{"type":"connection_ack"}`, `{"type":"next","id":"1"`} {
		if _, text, err := conn.Read(t.Context()); err != nil || !strings.HasPrefix(string(text), want) {
			t.Fatalf("%s, %v", text, err)
		}
	}
	return conn
}

// listening opens an event stream that has heard of the deployment.
func listening(t *testing.T, url, token, id string) *bufio.Reader {
	t.Helper()
	return listeningBy(t, http.DefaultClient, url, token, id)
}

func listeningBy(t *testing.T, client *http.Client, url, token, id string) *bufio.Reader {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/graphql", strings.NewReader(`{`+follow+`,"variables":{"id":"`+id+`"}}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	in := bufio.NewReader(resp.Body)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(line, "data: ") {
			return in
		}
	}
}
