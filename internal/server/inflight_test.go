package server_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/edge/gqlhttp/stream"
	"slipway/internal/edge/quota"
	"slipway/internal/server"
)

// halfway is a request whose head is there and whose body is not.
type halfway struct {
	net.Conn
	in *bufio.Reader
}

// begin sends the head of a request that waits for 100 Continue, and gives the first status of the answer.
func begin(t *testing.T, url, method, path, token string, headers ...string) (halfway, *http.Response) {
	t.Helper()
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	headers = append(headers, "Host: x", "Authorization: Bearer "+token, "Content-Type: application/json", "Expect: 100-continue")
	if _, err := fmt.Fprintf(conn, "%s %s HTTP/1.1\r\n%s\r\n\r\n", method, path, strings.Join(headers, "\r\n")); err != nil {
		t.Fatal(err)
	}
	h := halfway{conn, bufio.NewReader(conn)}
	return h, h.answer(t)
}

func (h halfway) answer(t *testing.T) *http.Response {
	t.Helper()
	resp, err := http.ReadResponse(h.in, nil)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func TestACallerHasSoManyRequestsInFlightOnBothSurfaces(t *testing.T) {
	t.Parallel()
	// There is room for one operation, of which those that are being read take nothing.
	w, s, _ := serve(t, server.Config{MaxRequests: 2, MaxOperations: 1, Bucket: quota.Bucket{Capacity: 1000, PerSecond: 1000}})
	mine, others := w.Acme.Tokens[actor.Developer], w.Acme.Tokens[actor.Viewer]
	body := `{"query":"{ __typename }"}`
	length := fmt.Sprintf("Content-Length: %d", len(body))
	first, resp := begin(t, s.URL, "POST", "/deployments/x/rollback", mine, length)
	second, again := begin(t, s.URL, "POST", "/graphql", mine, length)
	if resp.StatusCode != http.StatusContinue || again.StatusCode != http.StatusContinue {
		t.Fatalf("%d and %d", resp.StatusCode, again.StatusCode)
	}
	ask := func(token string) (rest, graphql *http.Response, texts [2]string) {
		rest, texts[0] = send(t, "GET", s.URL+"/module-definitions", "", "Authorization", "Bearer "+token)
		graphql, texts[1] = send(t, "POST", s.URL+"/graphql", body, "Authorization", "Bearer "+token, "Content-Type", "application/json")
		return rest, graphql, texts
	}
	rest, graphql, texts := ask(mine)
	for i, resp := range []*http.Response{rest, graphql} {
		if resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") != "1" ||
			!strings.Contains(texts[i], "at most 2 requests in flight at once (--max-requests-per-caller)") || !strings.Contains(texts[i], `"limit":"requestsPerCaller"`) {
			t.Errorf("a third: %d %v %s", resp.StatusCode, resp.Header, texts[i])
		}
	}
	if rest.Header.Get("RateLimit-Limit") != "1000" || rest.Header.Get("RateLimit-Remaining") == "" || rest.Header.Get("RateLimit-Reset") == "" {
		t.Errorf("a third is not told what is left in the bucket: %v", rest.Header)
	}
	if rest, graphql, texts := ask(others); rest.StatusCode != http.StatusOK || graphql.StatusCode != http.StatusOK {
		t.Errorf("another caller: %d %d %s", rest.StatusCode, graphql.StatusCode, texts)
	}
	for _, h := range []halfway{first, second} {
		if _, err := io.WriteString(h, body); err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, h.answer(t).Body)
	}
	if rest, graphql, texts := ask(mine); rest.StatusCode != http.StatusOK || graphql.StatusCode != http.StatusOK {
		t.Errorf("once they have ended: %d %d %s", rest.StatusCode, graphql.StatusCode, texts)
	}
}

func TestEachTokenHasItsOwnStreams(t *testing.T) {
	t.Parallel()
	w, s, _ := serve(t, server.Config{Streams: stream.Config{PerCaller: 1}})
	p := w.Fixture(t, w.Acme, "web")
	d := p.Deploy(t, p.Instance.ID, `{"image":"registry.example/web:1"}`)
	mine, others := w.Acme.Tokens[actor.Developer], w.Acme.Tokens[actor.Viewer]
	listen(t, s.URL, mine, follow(d.ID))
	resp, text := send(t, "POST", s.URL+"/graphql", follow(d.ID), "Authorization", "Bearer "+mine,
		"Content-Type", "application/json", "Accept", "text/event-stream")
	if resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") != "1" || !strings.Contains(text, "--max-streams-per-caller") {
		t.Errorf("a second stream: %d %v %s", resp.StatusCode, resp.Header, text)
	}
	if got, code := hear(t, dial(t, s.URL, mine)); code != 1013 {
		t.Errorf("a socket beside the stream: %s %d", got, code)
	}
	if got, code := hear(t, dial(t, s.URL, others)); got != `{"type":"connection_ack"}` {
		t.Errorf("another token from the same address: %s %d", got, code)
	}
}
