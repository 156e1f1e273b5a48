package gqlhttp_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"slipway/internal/base/fault"
	"slipway/internal/edge/gqlhttp/stream"
)

func TestShutdownTellsEveryStream(t *testing.T) {
	t.Parallel()
	l := goLive(t, stream.Config{})
	var peers []*peer
	for range 50 {
		p := l.welcome(t)
		p.say(subscribe("1", items))
		p.say(subscribe("2", items))
		p.say(`{"type":"ping"}`)
		p.hear(`{"type":"pong"}`)
		peers = append(peers, p)
	}
	var listeners []*listener
	for range 50 {
		listeners = append(listeners, l.listen(t, items))
	}
	done := make(chan error, 1)
	go func() { done <- l.streams.Shutdown(t.Context()) }()
	for _, p := range peers {
		if got := p.next() + p.next(); got != complete("1")+complete("2") && got != complete("2")+complete("1") {
			t.Errorf("heard %s", got)
		}
		p.ends(1001, "Going away")
	}
	for _, s := range listeners {
		s.hear(completed)
		s.ends()
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestWhatRunsAtShutdownFinishesAndNothingNewStarts(t *testing.T) {
	t.Parallel()
	l := goLive(t, stream.Config{Timeout: 200 * time.Millisecond})
	p := l.welcome(t)
	p.say(subscribe("m", `mutation { slow }`))
	p.say(subscribe("s", items))
	l.items <- 1
	p.hear(item("s", 1))
	done := make(chan error, 1)
	go func() { done <- l.streams.Shutdown(t.Context()) }()
	p.hear(complete("s"))
	p.say(subscribe("q", `{ echo }`))
	if e := p.refused("q"); e.Extensions["code"] != string(fault.ServerUnavailable) {
		t.Errorf("%v", e)
	}
	if _, resp := l.handshake(t, transport); resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" {
		t.Errorf("a new socket: %v", resp)
	}
	if resp := l.post(t, items, "text/event-stream"); resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" {
		t.Errorf("a new stream: %v", resp)
	}
	if got := p.next(); !strings.HasPrefix(got, `{"type":"next","id":"m","payload":{"errors":`) || !strings.Contains(got, string(fault.RequestTimeout)) {
		t.Errorf("heard %s", got)
	}
	p.hear(complete("m"))
	p.ends(1001, "Going away")
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestShutdownWaitsNoLongerThanItMay(t *testing.T) {
	t.Parallel()
	l := goLive(t, stream.Config{Timeout: time.Second})
	p := l.welcome(t)
	p.say(subscribe("m", `mutation { slow }`))
	p.say(`{"type":"ping"}`)
	p.hear(`{"type":"pong"}`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.streams.Shutdown(ctx); err == nil {
		t.Error("no error")
	}
}

func TestTheTimeoutIsThatOfAnEventNotOfItsStream(t *testing.T) {
	t.Parallel()
	const limit = 30 * time.Millisecond
	l := goLive(t, stream.Config{Timeout: limit})
	p := l.welcome(t)
	p.say(subscribe("1", `subscription { feed(of: "items") { n slow } }`))
	begun := time.Now()
	for i := range 3 {
		<-time.After(2 * limit) // no event for longer than one may take
		l.items <- i
		if got := p.next(); !strings.Contains(got, string(fault.RequestTimeout)) || !strings.Contains(got, fmt.Sprintf(`"n":%d`, i)) {
			t.Fatalf("after %s: %s", time.Since(begun), got)
		}
	}
	p.say(complete("1"))
	l.over(t, "items")

	p.say(subscribe("2", `subscription { feed(of: "never") { n } }`))
	if e := p.refused("2"); e.Extensions["code"] != string(fault.RequestTimeout) {
		t.Errorf("a source that does not start: %v", e)
	}
	p.say(subscribe("3", `{ slow }`))
	if got := p.next(); !strings.Contains(got, string(fault.RequestTimeout)) {
		t.Errorf("a query: %s", got)
	}
}

// eachAnswer is an extension made of a function.
type eachAnswer func(*graphql.Response) *graphql.Response

func (eachAnswer) ExtensionName() string                   { return "EachAnswer" }
func (eachAnswer) Validate(graphql.ExecutableSchema) error { return nil }
func (f eachAnswer) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	return f(next(ctx))
}

func TestAPanicOutsideTheResolversEndsItsStreamOnly(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]eachAnswer{
		"panic": func(*graphql.Response) *graphql.Response { panic("secret of an extension") },
		"no JSON": func(*graphql.Response) *graphql.Response {
			return &graphql.Response{Data: []byte(`{}`), Extensions: map[string]any{"secret": make(chan int)}}
		},
	} {
		l := goLive(t, stream.Config{}, f)
		p := l.welcome(t)
		for range 2 {
			p.say(subscribe("1", `subscription { feed(of: "endless") { n } }`))
			if e := p.refused("1"); e.Extensions["code"] != string(fault.ServerInternal) || strings.Contains(e.Message, "secret") {
				t.Errorf("%s: %v", name, e)
			}
			l.over(t, "endless")
		}
		s := l.listen(t, `subscription { feed(of: "endless") { n } }`)
		if got := s.next(); !strings.HasPrefix(got, `next {"errors":`) || !strings.Contains(got, string(fault.ServerInternal)) {
			t.Errorf("%s: %s", name, got)
		}
		s.hear(completed)
		l.over(t, "endless")
	}
}

// TestNothingIsLeftOfStreams is not parallel: it counts goroutines.
func TestNothingIsLeftOfStreams(t *testing.T) { //nolint:paralleltest // it counts the goroutines of the process
	l := goLive(t, stream.Config{Recheck: time.Millisecond})
	before := runtime.NumGoroutine()
	for i := range 20 {
		p, s := l.welcome(t), l.listen(t, items)
		for id := range 20 {
			p.say(subscribe(fmt.Sprint(id), items))
		}
		p.say(`{"type":"ping"}`)
		p.hear(`{"type":"pong"}`)
		if i%2 == 0 {
			p.say(`?`)
			p.ends(4400, "")
		}
		_, _ = p.conn.Close(), s.conn.Close()
		for range 21 {
			l.over(t, "items")
		}
	}
	deadline := time.After(patience)
	for runtime.NumGoroutine() > before {
		select {
		case <-deadline:
			t.Fatalf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before, stacks())
		default:
			runtime.Gosched()
		}
	}
}
