package server_test

import (
	"bufio"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
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

// patience is how long a test waits for what is to happen soon.
const patience = 20 * time.Second

// dial opens a socket and says who it is by the token.
func dial(t *testing.T, url, token string) *websocket.Conn {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), url+"/graphql", &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	say(t, conn, `{"type":"connection_init","payload":{"Authorization":"Bearer `+token+`"}}`)
	return conn
}

func say(t *testing.T, conn *websocket.Conn, text string) {
	t.Helper()
	if err := conn.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// hear returns the next message, or the code that the socket was closed with.
func hear(t *testing.T, conn *websocket.Conn) (string, websocket.StatusCode) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, text, err := conn.Read(ctx)
	return string(text), websocket.CloseStatus(err)
}

func follow(deploymentID string) string {
	return `{"query":"subscription { deploymentChanged(id: \"` + deploymentID + `\") { deployment { status } } }"}`
}

// listen opens an event stream and gives it from its first event on.
func listen(t *testing.T, url, token, body string) *bufio.Reader {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/graphql", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	in := bufio.NewReader(resp.Body)
	if first := event(t, in); !strings.HasPrefix(first, "event: next") || strings.Contains(first, `"errors"`) {
		t.Fatalf("the stream begins with %q", first)
	}
	return in
}

// event returns the next event of a stream.
func event(t *testing.T, in *bufio.Reader) string {
	t.Helper()
	for block := ""; ; {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream ended: %q, %v", block, err)
		}
		switch {
		case line != "\n":
			block += line
		case strings.HasPrefix(block, ":"):
			block = ""
		default:
			return block
		}
	}
}

func TestStreamsEndWithTheirToken(t *testing.T) {
	t.Parallel()
	clock := testkit.NewRunningClock(store.Now) // a verified token is believed for five seconds
	w, s, log := serve(t, server.Config{Now: clock.Now})
	d := w.Fixture(t, w.Acme, "web").Succeeded(t)
	running := w.Fixture(t, w.Acme, "api")
	active := running.Deploy(t, running.Instance.ID, `{"image":"registry.example/web:1"}`)
	token := w.Acme.Tokens[actor.Viewer]

	socket := dial(t, s.URL, token)
	if got, _ := hear(t, socket); got != `{"type":"connection_ack"}` {
		t.Fatal(got)
	}
	say(t, socket, `{"id":"1","type":"subscribe","payload":`+follow(d.ID)+`}`)
	if got, _ := hear(t, socket); !strings.Contains(got, "SUCCEEDED") {
		t.Fatal(got)
	}
	if got, _ := hear(t, socket); got != `{"type":"complete","id":"1"}` {
		t.Fatal(got)
	}
	stream := listen(t, s.URL, token, follow(active.ID))

	revoke(t, w, token)
	clock.Advance(6 * time.Second)
	if got, code := hear(t, socket); code != 4403 {
		t.Errorf("the socket: %s %d", got, code)
	}
	if got := event(t, stream); !strings.Contains(got, "slipway:Request:UNAUTHENTICATED") {
		t.Errorf("the stream: %s", got)
	}
	if got := event(t, stream); got != "event: complete\ndata:\n" {
		t.Errorf("the stream: %s", got)
	}
	if text := log.String(); strings.Contains(text, token) {
		t.Error("the log has the token")
	}
}

// revoke ends a token of Acme.
func revoke(t *testing.T, w *worldtest.World, token string) {
	t.Helper()
	id := w.GraphQL(t, token, `{ viewer { tokenId } }`, nil).Text(t, "data", "viewer", "tokenId")
	if _, err := w.Accounts.RevokeToken(w.Acme.As(actor.Admin), id); err != nil {
		t.Fatal(err)
	}
}

func TestASocketOfABadTokenIsForbiddenAndCounted(t *testing.T) {
	t.Parallel()
	_, s, _ := serve(t, server.Config{})
	for range 21 {
		if _, code := hear(t, dial(t, s.URL, "slp_admin_bad")); code != 4403 {
			t.Fatalf("closed with %d", code)
		}
	}
	resp, _ := send(t, "GET", s.URL+"/module-definitions", "", "Authorization", "Bearer slp_admin_bad")
	if resp.StatusCode != http.StatusUnauthorized || resp.Header.Get("RateLimit-Remaining") != "0" {
		t.Errorf("after 21 failures: %d %v", resp.StatusCode, resp.Header)
	}
}

func TestStreamsThatEndWithTheirTokenAreNoFailures(t *testing.T) {
	t.Parallel()
	clock := testkit.NewRunningClock(store.Now)
	w, s, _ := serve(t, server.Config{Now: clock.Now})
	p := w.Fixture(t, w.Acme, "web")
	d := p.Deploy(t, p.Instance.ID, `{"image":"registry.example/web:1"}`)
	token := w.Acme.Tokens[actor.Viewer]
	var streams []*bufio.Reader
	var sockets []*websocket.Conn
	for range 15 {
		streams = append(streams, listen(t, s.URL, token, follow(d.ID)))
		socket := dial(t, s.URL, token)
		if got, _ := hear(t, socket); got != `{"type":"connection_ack"}` {
			t.Fatal(got)
		}
		sockets = append(sockets, socket)
	}
	revoke(t, w, token)
	clock.Advance(6 * time.Second)
	for i := range streams {
		if got := event(t, streams[i]); !strings.Contains(got, "slipway:Request:UNAUTHENTICATED") {
			t.Errorf("a stream: %s", got)
		}
		if got, code := hear(t, sockets[i]); code != 4403 {
			t.Errorf("a socket: %s %d", got, code)
		}
	}
	resp, _ := send(t, "GET", s.URL+"/module-definitions", "", "Authorization", "Bearer slp_admin_bad")
	if left := resp.Header.Get("RateLimit-Remaining"); left != "19" {
		t.Errorf("%s failures are left after the first one", left)
	}
}

func TestStreamsOutliveTheTimeOfARequest(t *testing.T) {
	t.Parallel()
	w, s, _ := serve(t, server.Config{Timeout: 300 * time.Millisecond})
	p := w.Fixture(t, w.Acme, "web")
	d := p.Deploy(t, p.Instance.ID, `{"image":"registry.example/web:1"}`)
	stream := listen(t, s.URL, w.Acme.Tokens[actor.Viewer], follow(d.ID))
	<-time.After(600 * time.Millisecond)
	p.Finish(t, d, nil)
	for {
		got := event(t, stream)
		if strings.HasPrefix(got, "event: complete") || strings.Contains(got, `"errors"`) {
			t.Fatalf("the stream ended with %s", got)
		}
		if strings.Contains(got, "SUCCEEDED") {
			break
		}
	}
}

func TestShutdownTellsSocketsAndStreams(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	api := server.New(w.Store, server.Config{Log: slog.New(slog.DiscardHandler)})
	s := httptest.NewServer(api)
	t.Cleanup(s.Close)
	p := w.Fixture(t, w.Acme, "web")
	d := p.Deploy(t, p.Instance.ID, `{"image":"registry.example/web:1"}`)
	socket, stream := dial(t, s.URL, w.Acme.Tokens[actor.Viewer]), listen(t, s.URL, w.Acme.Tokens[actor.Viewer], follow(d.ID))
	hear(t, socket)
	ended := make(chan error, 1)
	go func() { ended <- api.Shutdown(context.WithoutCancel(t.Context())) }()
	if got, code := hear(t, socket); code != websocket.StatusGoingAway {
		t.Errorf("the socket: %s %d", got, code)
	}
	if got := event(t, stream); got != "event: complete\ndata:\n" {
		t.Errorf("the stream: %s", got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	resp, _ := send(t, "GET", s.URL+"/module-definitions", "")
	if resp.StatusCode != http.StatusOK {
		t.Errorf("a plain request during the drain: %d", resp.StatusCode)
	}
}
