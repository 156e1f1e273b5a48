package main_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"slipway/internal/base/actor"
	"slipway/internal/test/worldtest"
)

func TestWhatACallerMayHaveAtOnceIsASetting(t *testing.T) {
	t.Parallel()
	url := worldtest.SQLite(t)
	w := worldtest.New(t, url)
	p := w.Fixture(t, w.Acme, "web")
	id, token := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`).ID, w.Acme.Tokens[actor.Viewer]
	s := serve(t, "--database", url, "--max-streams-per-caller", "2", "--max-requests-per-caller", "1", "--max-handshakes", "1")
	listening(t, s.API, token, id)
	listening(t, s.API, token, id) // a stream is no request in flight
	if status, text := stream(t, s.API, token, id); status != http.StatusTooManyRequests || !strings.Contains(text, "at most 2 streams") {
		t.Errorf("a third stream: %d %s", status, text)
	}

	asks, rest := io.Pipe() // a body that is asked for and does not end is a request in flight
	go ask(t, s.API, token, asks, "Expect", "100-continue")
	if _, err := io.WriteString(rest, `{"query":"{ __typename }"`); err != nil {
		t.Fatal(err)
	}
	if status, text := ask(t, s.API, token, strings.NewReader(`{"query":"{ __typename }"}`)); status != http.StatusTooManyRequests || !strings.Contains(text, "at most 1 requests in flight") {
		t.Errorf("a second request: %d %s", status, text)
	}
	_ = rest.Close()

	silent := handshake(t, s.API)
	if err := silent.Write(t.Context(), websocket.MessageText, []byte(`{"type":"ping"}`)); err != nil {
		t.Fatal(err)
	}
	if _, text, err := silent.Read(t.Context()); string(text) != `{"type":"pong"}` { // so it is the older one
		t.Fatalf("%s, %v", text, err)
	}
	handshake(t, s.API)
	if _, _, err := silent.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusTryAgainLater {
		t.Errorf("the older of two silent sockets: %v", err)
	}
}

func handshake(t *testing.T, url string) *websocket.Conn {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), url+"/graphql", &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	return conn
}

// stream asks for an event stream that is refused.
func stream(t *testing.T, url, token, id string) (status int, text string) {
	t.Helper()
	return ask(t, url, token, strings.NewReader(`{`+follow+`,"variables":{"id":"`+id+`"}}`), "Accept", "text/event-stream")
}

// ask posts a body to GraphQL; 0 is the status of what is not answered.
func ask(t *testing.T, url, token string, body io.Reader, headers ...string) (status int, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/graphql", body)
	if err != nil {
		return 0, err.Error()
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	waiting := http.Transport{ExpectContinueTimeout: patience}
	defer waiting.CloseIdleConnections()
	resp, err := waiting.RoundTrip(r)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(got)
}

func TestWhatARequestMayCostAndAnswerIsASetting(t *testing.T) {
	t.Parallel()
	const codes = `{"query":"{ errorCodes { code } }"}` // 1, and 1.1 for each of some seventy
	for flag, want := range map[string]string{
		"--max-cost=20":       `"limit":"cost","path":"errorCodes","value":20`,
		"--max-cost=1000":     `"limit":1000`,
		"--max-answer=1KiB":   `"limit":"answer","value":1024`,
		"--cost-capacity=500": `"capacity":500`,
		"--cost-per-second=7": `"perSecond":7`,
	} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			url := worldtest.SQLite(t)
			w := worldtest.New(t, url)
			s := serve(t, "--database", url, flag)
			if _, text := ask(t, s.API, w.Acme.Tokens[actor.Viewer], strings.NewReader(codes), "Slipway-Cost", "true"); !strings.Contains(text, want) {
				t.Errorf("%.300s … %s", text, text[max(0, len(text)-200):])
			}
		})
	}
}
