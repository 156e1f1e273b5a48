package gqlhttp_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"slipway/internal/base/fault"
	"slipway/internal/edge/gqlhttp"
	"slipway/internal/edge/gqlhttp/stream"
	"slipway/internal/edge/quota"
)

// listener reads an event stream on a connection of its own.
type listener struct {
	t    *testing.T
	conn net.Conn
	resp *http.Response
	in   *bufio.Reader
}

const (
	completed = "complete "
	comment   = ":"
)

// send asks over a connection of its own, which the test closes at the latest when it ends.
func (l *live) send(t *testing.T, method, target, body string, headers ...string) *listener {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, l.URL+target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(l.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	if err := r.Write(conn); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), r)
	if err != nil {
		t.Fatal(err)
	}
	return &listener{t, conn, resp, bufio.NewReader(resp.Body)}
}

func (l *live) post(t *testing.T, query, accept string, headers ...string) *http.Response {
	t.Helper()
	body, _ := json.Marshal(map[string]string{"query": query})
	return l.send(t, "POST", "/graphql", string(body), append(headers, "Content-Type", "application/json", "Accept", accept)...).resp
}

// listen opens the event stream of an operation.
func (l *live) listen(t *testing.T, query string, headers ...string) *listener {
	t.Helper()
	body, _ := json.Marshal(map[string]string{"query": query})
	s := l.send(t, "POST", "/graphql", string(body), append(headers, "Content-Type", "application/json", "Accept", "text/event-stream")...)
	s.begins()
	return s
}

func (s *listener) begins() {
	s.t.Helper()
	if got := s.resp.Header.Get("Content-Type"); s.resp.StatusCode != 200 || got != "text/event-stream; charset=utf-8" || s.resp.Header.Get("Cache-Control") != "no-store" {
		s.t.Fatalf("%d %v", s.resp.StatusCode, s.resp.Header)
	}
	if got := s.raw(); got != comment {
		s.t.Fatalf("the stream begins with %q", got)
	}
}

// raw returns the next block, "event data" for an event.
func (s *listener) raw() string {
	s.t.Helper()
	block := ""
	for {
		line, err := s.in.ReadString('\n')
		if err != nil {
			s.t.Fatalf("the stream ended: %q, %v", block, err)
		}
		if line == "\n" {
			break
		}
		block += line
	}
	if block == comment+"\n" {
		return comment
	}
	event, data, ok := strings.Cut(strings.TrimPrefix(block, "event: "), "\ndata:")
	if !ok || strings.Count(block, "\n") != 2 {
		s.t.Fatalf("no event: %q", block)
	}
	return event + " " + tidy(strings.TrimPrefix(data, " "))
}

// next returns the next event.
func (s *listener) next() string {
	s.t.Helper()
	for {
		if got := s.raw(); got != comment {
			return got
		}
	}
}

func (s *listener) hear(want ...string) {
	s.t.Helper()
	for _, w := range want {
		if got := strings.ReplaceAll(s.next(), " }", "}"); got != w {
			s.t.Fatalf("heard %s, want %s", got, w)
		}
	}
}

// ends expects the end of the answer.
func (s *listener) ends() {
	s.t.Helper()
	if rest, err := io.ReadAll(s.in); err != nil || len(rest) > 0 {
		s.t.Errorf("after the end: %q, %v", rest, err)
	}
}

func TestAnEventStreamCarriesEveryKindOfOperation(t *testing.T) {
	t.Parallel()
	l := goLive(t, stream.Config{})
	const one, two, three = `next {"data":{"feed":{"n":1}}}`, `next {"data":{"feed":{"n":2}}}`, `next {"data":{"feed":{"n":3}}}`
	for query, want := range map[string][]string{
		`{ echo(text: "x") }`:                      {`next {"data":{"echo":"x"}}`},
		`mutation { echo(text: "y") }`:             {`next {"data":{"echo":"y"}}`},
		`subscription { feed(of: "three") { n } }`: {one, two, three},
	} {
		s := l.listen(t, query)
		s.hear(append(want, completed)...)
		s.ends()
		if strings.HasPrefix(query, "mutation") {
			continue
		}
		s = l.send(t, "GET", "/graphql?"+url.Values{"query": {query}}.Encode(), "", "Accept", "text/event-stream")
		s.begins()
		s.hear(append(want, completed)...)
		s.ends()
	}
}

func TestAcceptChoosesBetweenStreamsAndAnswersInOnePiece(t *testing.T) {
	t.Parallel()
	l := goLive(t, stream.Config{})
	const query, subscription = `{ echo }`, `subscription { feed(of: "three") { n } }`
	const events, whole = "text/event-stream; charset=utf-8", "application/json; charset=utf-8"
	for _, c := range []struct {
		query, accept, media string
		status               int
	}{
		{query, "text/event-stream", events, 200},
		{query, "text/event-stream, */*;q=0.1", events, 200},
		{query, "text/event-stream, application/json", whole, 200},
		{query, "text/event-stream;q=0.5, application/json", whole, 200},
		{query, "text/event-stream;q=0, application/json", whole, 200},
		{query, "text/event-stream;q=0", whole, 406},
		{query, "text/*", whole, 406},
		{subscription, "text/event-stream, application/json", events, 200},
		{subscription, "text/event-stream;q=0.5, application/json", events, 200},
		{subscription, "text/event-stream;q=0, application/json", whole, 406},
		{subscription, "application/json", whole, 406},
		{subscription, "*/*", whole, 406},
		{subscription, "", whole, 406},
	} {
		resp := l.post(t, c.query, c.accept)
		if resp.StatusCode != c.status || resp.Header.Get("Content-Type") != c.media {
			t.Errorf("%s, Accept %q: %d %s", c.query, c.accept, resp.StatusCode, resp.Header.Get("Content-Type"))
		}
	}
}

func TestABadDocumentIsAnEventAndABadRequestAStatus(t *testing.T) {
	t.Parallel()
	l := goLive(t, stream.Config{})
	for query, want := range map[string]fault.Code{
		`{`:           fault.DocumentParseFailed,
		`{ nothing }`: fault.DocumentValidationFailed,
		`subscription { feed(of: "error") { n } }`:  fault.DeploymentNotFound,
		`subscription { feed(of: "secret") { n } }`: fault.ServerInternal,
		`subscription { feed(of: "panic") { n } }`:  fault.ServerInternal,
	} {
		s := l.listen(t, query)
		if got := s.next(); !strings.HasPrefix(got, `next {"errors":[`) || !strings.Contains(got, string(want)) || strings.Contains(got, "secret") || strings.Contains(got, `"data"`) {
			t.Errorf("%s: %s", query, got)
		}
		s.hear(completed)
		s.ends()
	}
	const accept = "text/event-stream"
	for status, resp := range map[int]*http.Response{
		400: l.send(t, "POST", "/graphql", `{`, "Content-Type", "application/json", "Accept", accept).resp,
		405: l.send(t, "GET", "/graphql?query=mutation{echo}", "", "Accept", accept).resp,
		415: l.send(t, "POST", "/graphql", `{"query":"{ echo }"}`, "Content-Type", "text/plain", "Accept", accept).resp,
	} {
		if body, _ := io.ReadAll(resp.Body); resp.StatusCode != status || !strings.HasPrefix(string(body), `{"errors":[`) {
			t.Errorf("%d, want %d: %s", resp.StatusCode, status, body)
		}
	}
}

func TestAnEventStreamLivesLongerThanARequestMayTake(t *testing.T) {
	t.Parallel()
	l := prepare(t, stream.Config{Heartbeat: 10 * time.Millisecond})
	l.Config.ReadTimeout, l.Config.WriteTimeout = 100*time.Millisecond, 100*time.Millisecond
	l.Start()
	s := l.listen(t, items)
	for range 30 {
		if got := s.raw(); got != comment {
			t.Fatalf("heard %s", got)
		}
	}
	l.items <- 7
	s.hear(`next {"data":{"feed":{"n":7}}}`)
	_ = s.conn.Close()
	l.over(t, "items")
}

func TestASlowReaderOfAnEventStreamIsCutOff(t *testing.T) {
	t.Parallel()
	l := goLive(t, stream.Config{WriteTimeout: 20 * time.Millisecond, Heartbeat: time.Millisecond})
	l.listen(t, `subscription { feed(of: "large") { text } }`)
	l.over(t, "large")
}

func TestAnEventStreamEndsWithItsToken(t *testing.T) {
	t.Parallel()
	shut := make(chan struct{})
	l := goLive(t, stream.Config{Authenticate: doorkeeper(shut), Recheck: time.Millisecond})
	s := l.listen(t, items, "Authorization", "Bearer down") // a question without an answer ends nothing
	l.items <- 7
	s.hear(`next {"data":{"feed":{"n":7}}}`)
	close(shut)
	if got := s.next(); !strings.Contains(got, string(fault.RequestUnauthenticated)) {
		t.Errorf("heard %s", got)
	}
	s.hear(completed)
	s.ends()
	l.over(t, "items")
}

func TestAnEmptyBucketIsTheStatusOfAStreamToo(t *testing.T) {
	t.Parallel()
	config := gqlhttp.Config{Costs: quota.NewCosts(quota.Bucket{Capacity: 10, PerSecond: 1}, func() time.Time { return time.Time{} })}
	h := gqlhttp.NewServer(toy{toySchema}, config, gqlhttp.HTTP{Streams: stream.New(stream.Config{})})
	for _, want := range []int{http.StatusOK, http.StatusTooManyRequests} {
		r := post(`{"query":"{ echo }"}`)
		r.Header.Set("Accept", "text/event-stream")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want || (w.Header().Get("Retry-After") != "") != (want == http.StatusTooManyRequests) {
			t.Errorf("%d %v %s, want %d", w.Code, w.Header(), w.Body, want)
		}
	}
}
