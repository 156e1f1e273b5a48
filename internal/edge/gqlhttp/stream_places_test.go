package gqlhttp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/edge/gqlhttp/stream"
	"slipway/internal/test/testkit"
)

func TestNoMoreStreamsThanMayBeOpen(t *testing.T) {
	t.Parallel()
	l := goLive(t, stream.Config{Open: 2})
	p := l.welcome(t)
	l.listen(t, items)
	if _, resp := l.handshake(t, transport); resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" {
		t.Errorf("a third, a socket: %v", resp)
	}
	resp := l.post(t, items, "text/event-stream")
	text, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != 503 || !strings.Contains(string(text), "as many streams and sockets open as it may, 2.") {
		t.Errorf("a third, a stream: %v %s", resp, text)
	}
	// One that ends leaves its place to another.
	p.say(hello)
	p.ends(4429, "Too many initialisation requests")
	for {
		if next, resp := l.handshake(t, transport); resp.StatusCode == 101 {
			_ = next.conn.Close()
			return
		}
	}
}

// refusal reads the error of a request that is asked to come back.
func refusal(t *testing.T, resp *http.Response) (message, metadata string) {
	t.Helper()
	var body struct {
		Errors []struct {
			Message    string
			Extensions struct {
				Code     fault.Code
				Metadata map[string]any
			}
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&body); err != nil || len(body.Errors) != 1 {
		t.Fatalf("%v: %+v", err, body)
	}
	e := body.Errors[0]
	if resp.StatusCode != e.Extensions.Code.Status() || resp.Header.Get("Retry-After") != fmt.Sprint(e.Extensions.Metadata["retryAfterSeconds"]) {
		t.Errorf("%d %v, Retry-After %q: %+v", resp.StatusCode, e.Extensions.Code, resp.Header.Get("Retry-After"), e)
	}
	return e.Message, fmt.Sprint(e.Extensions.Metadata)
}

func TestACallerHasItsStreamsAndNoMore(t *testing.T) {
	t.Parallel()
	const elsewhere = "192.0.2.1:1"
	l := goLive(t, stream.Config{PerCaller: 2})
	p := l.welcome(t)
	l.listen(t, items)

	message, metadata := refusal(t, l.post(t, items, "text/event-stream"))
	if message != "A caller may have at most 2 streams and sockets open at once (--max-streams-per-caller); this would be one more." ||
		metadata != "map[limit:streamsPerCaller retryAfterSeconds:1 value:2]" {
		t.Errorf("a third, a stream: %s %s", message, metadata)
	}
	third := l.socket(t)
	third.say(hello)
	third.ends(1013, "A caller may have at most 2 streams and sockets open at once (--max-streams-per-caller)")

	other := l.socket(t, "Test-From: "+elsewhere)
	other.say(hello)
	other.hear(`{"type":"connection_ack"}`)
	l.listen(t, items, "Test-From", elsewhere)

	// One that ends leaves its place to another.
	p.frame(testkit.OpClose, true, []byte{3, 232})
	p.ends(1000, "")
	for resp := l.post(t, items, "text/event-stream"); resp.StatusCode != http.StatusOK; {
		resp = l.post(t, items, "text/event-stream")
	}
}

func TestSilentSocketsTakeNoPlaceOfThoseWhoSayWhoTheyAre(t *testing.T) {
	t.Parallel()
	l := goLive(t, stream.Config{Open: 2, InitTimeout: patience})
	var silent []*peer
	for range 50 {
		silent = append(silent, l.socket(t))
	}
	l.welcome(t)
	p := l.socket(t)
	l.welcome(t)
	p.say(hello) // its handshake was in time, but the places are taken
	p.ends(1013, "The server has as many streams and sockets open as it may, 2. The limit is --max-streams.")
	if _, resp := l.handshake(t, transport); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a handshake when all places are taken: %v", resp)
	}
	go func() { _ = l.streams.Shutdown(t.Context()) }()
	for _, p := range silent {
		p.ends(1001, "Going away")
	}
}

func TestOneSilentSocketTooManyEndsTheOldestOfTheBusiestAddress(t *testing.T) {
	t.Parallel()
	l := goLive(t, stream.Config{Handshakes: 3, InitTimeout: patience})
	const reason = "At most 3 sockets may wait for their connection_init (--max-handshakes); this was the oldest."
	open := func(headers ...string) *peer { // that is read from, so that the sockets come in this order
		p := l.socket(t, headers...)
		p.say(`{"type":"ping"}`)
		p.hear(`{"type":"pong"}`)
		return p
	}
	good := open("Test-From: 192.0.2.1:1")
	first, second, third := open(), open(), open() // the first has to go for the third
	first.ends(1013, reason)
	fourth := open()
	second.ends(1013, reason)
	acknowledged := []*peer{good, third, fourth}
	for _, p := range acknowledged {
		p.say(hello)
		p.hear(`{"type":"connection_ack"}`)
	}
	// Of addresses with as many each, the oldest has to go; what is acknowledged or gone does not count.
	var peers []*peer
	for i := range 4 {
		peers = append(peers, open(fmt.Sprintf("Test-From: 192.0.2.%d:1", i)))
	}
	peers[0].ends(1013, reason)
	for _, p := range peers[1:] {
		p.say(hello)
		p.hear(`{"type":"connection_ack"}`)
	}
	for _, p := range acknowledged {
		p.say(`{"type":"ping"}`)
		p.hear(`{"type":"pong"}`)
	}
}

// of has each request be of the organization and the caller that it names.
func of(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if organization, caller, is := strings.Cut(r.Header.Get("Test-Of"), "/"); is {
			r = r.WithContext(actor.With(r.Context(), &actor.Actor{ID: caller, Role: actor.Viewer, OrganizationID: organization}))
		}
		next.ServeHTTP(w, r)
	})
}

func TestAnOrganizationHasItsStreamsAndNoMoreWhoeverItsCallersAre(t *testing.T) {
	t.Parallel()
	l := prepare(t, stream.Config{PerCaller: 2, PerOrganization: 3, Open: 5})
	l.Config.Handler = of(l.Config.Handler)
	l.Start()
	socket := func(caller string) *peer {
		p := l.socket(t, "Test-Of: "+caller)
		p.say(hello)
		return p
	}
	l.listen(t, items, "Test-Of", "busy/a")
	second := socket("busy/b")
	second.hear(`{"type":"connection_ack"}`)
	l.listen(t, items, "Test-Of", "busy/c")

	const message = "An organization may have at most 3 streams and sockets open at once (--max-streams-per-organization); this would be one more."
	for _, caller := range []string{"busy/a", "busy/d"} {
		found, metadata := refusal(t, l.post(t, items, "text/event-stream", "Test-Of", caller))
		if found != message || metadata != "map[limit:streamsPerOrganization retryAfterSeconds:1 value:3]" {
			t.Errorf("%s: %s %s", caller, found, metadata)
		}
	}
	socket("busy/e").ends(1013, "An organization may have at most 3 streams and sockets open at once (--max-streams-per-organization); this would be one …")

	// Others have what is left, and nothing was taken by those who were refused.
	l.listen(t, items, "Test-Of", "other/a")
	socket("other/b").hear(`{"type":"connection_ack"}`)
	second.frame(testkit.OpClose, true, []byte{3, 232})
	second.ends(1000, "")
	for resp := l.post(t, items, "text/event-stream", "Test-Of", "busy/d"); resp.StatusCode != http.StatusOK; {
		resp = l.post(t, items, "text/event-stream", "Test-Of", "busy/d")
	}
}

func TestHalfOfAllStreamsIsForOneOrganization(t *testing.T) {
	t.Parallel()
	for open, want := range map[int]int{1: 1, 2: 1, 3: 1, 4: 2, 10_000: 5000} {
		if got := stream.DefaultPerOrganization(open); got != want {
			t.Errorf("%d of %d", got, open)
		}
	}
}
