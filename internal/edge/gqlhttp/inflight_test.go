package gqlhttp_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/base/fault"
	"slipway/internal/base/turns"
	"slipway/internal/edge/gqlhttp/stream"
)

// hold is an extension that keeps queries and mutations in flight until they are let go.
type hold struct{ running, release chan struct{} }

func newHold() hold { return hold{make(chan struct{}), make(chan struct{})} }

func (hold) ExtensionName() string                   { return "Hold" }
func (hold) Validate(graphql.ExecutableSchema) error { return nil }

func (h hold) InterceptOperation(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	if graphql.GetOperationContext(ctx).Operation.Operation != ast.Subscription {
		h.running <- struct{}{}
		<-h.release
	}
	return next(ctx)
}

// started is an extension that gets a value for each subscription that starts.
type started chan struct{}

func (started) ExtensionName() string                   { return "Started" }
func (started) Validate(graphql.ExecutableSchema) error { return nil }

func (s started) InterceptOperation(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	if graphql.GetOperationContext(ctx).Operation.Operation == ast.Subscription {
		s <- struct{}{}
	}
	return next(ctx)
}

// atMost is a limit of requests in flight. What it has no place for waits, or not at all.
func atMost(most int, wait time.Duration) *turns.Gate {
	return turns.NewGate(turns.Limit{Name: "requestsPerCaller", Flag: "--max-requests-per-caller", Of: "requests in flight", Max: most, Wait: wait, Queue: most})
}

// ask sends a query on a connection of its own, and gives its answer once it is there.
func (l *live) ask(t *testing.T, accept string, headers ...string) <-chan *http.Response {
	t.Helper()
	answers := make(chan *http.Response, 1)
	go func() { answers <- l.post(t, `{ echo(text: "x") }`, accept, headers...) }()
	return answers
}

func TestACallerHasSoManyRequestsInFlightAndNoMore(t *testing.T) {
	t.Parallel()
	h := newHold()
	l := goLive(t, stream.Config{Requests: atMost(3, 0)}, h)
	p := l.welcome(t)
	whole := l.ask(t, "application/json")
	<-h.running
	stream := l.ask(t, "text/event-stream")
	<-h.running
	p.say(subscribe("1", `mutation { echo(text: "x") }`))
	<-h.running

	const want = "A caller may have at most 3 requests in flight at once (--max-requests-per-caller); this would be one more."
	for _, accept := range []string{"application/json", "text/event-stream"} {
		message, metadata := refusal(t, l.post(t, `{ echo }`, accept))
		if message != want || metadata != "map[limit:requestsPerCaller retryAfterSeconds:1 value:3]" {
			t.Errorf("a fourth as %s: %s %s", accept, message, metadata)
		}
	}
	p.say(subscribe("2", `{ echo }`))
	if e := p.refused("2"); e.Message != want || e.Extensions["code"] != string(fault.RequestRateLimited) {
		t.Errorf("a fourth on a socket: %v", e)
	}
	other := l.ask(t, "application/json", "Test-From", "192.0.2.1:1")
	<-h.running

	close(h.release)
	p.hear(`{"type":"next","id":"1","payload":{"data":{"echo":"x"}}}`, complete("1"))
	for _, answers := range []<-chan *http.Response{whole, stream, other} {
		resp := <-answers
		if text, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK || !strings.Contains(string(text), `"echo":"x"`) {
			t.Errorf("%d %s", resp.StatusCode, text)
		}
	}
}

func TestOpenStreamsAreNoRequestsInFlight(t *testing.T) {
	t.Parallel()
	open := make(started, 4)
	l := goLive(t, stream.Config{Requests: atMost(1, patience)}, open)
	l.listen(t, items)
	l.listen(t, items)
	p := l.welcome(t)
	p.say(subscribe("1", items))
	for range 3 {
		<-open
	}
	p.say(subscribe("2", items)) // of this and the next one may be in flight while the other waits
	p.say(subscribe("3", `{ echo(text: "x") }`))
	p.hear(`{"type":"next","id":"3","payload":{"data":{"echo":"x"}}}`, complete("3"))
}

func TestOneRequestMoreWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	h := newHold()
	l := goLive(t, stream.Config{Requests: atMost(1, patience)}, h)
	first := l.ask(t, "application/json")
	<-h.running
	one, other := l.ask(t, "application/json"), l.ask(t, "application/json")
	var resp *http.Response // of two more, one waits and the other is refused
	select {
	case resp = <-one:
		one = other
	case resp = <-other:
	case <-h.running:
		t.Fatal("two run at once")
	}
	if resp.StatusCode != http.StatusTooManyRequests {
		t.Fatalf("%d while another runs and a second one waits", resp.StatusCode)
	}
	h.release <- struct{}{}
	<-h.running
	h.release <- struct{}{}
	for _, answers := range []<-chan *http.Response{first, one} {
		if resp := <-answers; resp.StatusCode != http.StatusOK {
			t.Errorf("%d", resp.StatusCode)
		}
	}
}

func TestTheServerExecutesSoManyOperationsAtOnce(t *testing.T) {
	t.Parallel()
	h := newHold()
	shared := turns.New(turns.Limit{Name: "operations", Flag: "--max-operations", Of: "operations", Max: 1, Wait: patience})
	l := goLive(t, stream.Config{Turns: shared}, h)
	out := l.listen(t, items)
	p := l.welcome(t)
	whole := l.ask(t, "application/json")
	<-h.running
	l.items <- 1 // it has come, and waits to be resolved
	p.say(subscribe("1", `{ echo(text: "x") }`))
	event := l.ask(t, "text/event-stream", "Test-From", "192.0.2.1:1")
	for range 2 {
		select {
		case <-h.running:
			t.Fatal("two run at once")
		case h.release <- struct{}{}:
		}
		<-h.running
	}
	h.release <- struct{}{}
	p.hear(`{"type":"next","id":"1","payload":{"data":{"echo":"x"}}}`, complete("1"))
	out.hear(`next {"data":{"feed":{"n":1}}}`)
	for _, answers := range []<-chan *http.Response{whole, event} {
		resp := <-answers
		if text, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK || !strings.Contains(string(text), `"echo":"x"`) {
			t.Errorf("%d %s", resp.StatusCode, text)
		}
	}
}

func TestAnOperationWithoutATurnIsNotRun(t *testing.T) {
	t.Parallel()
	h := newHold()
	shared := turns.New(turns.Limit{Name: "operations", Flag: "--max-operations", Of: "operations", Max: 1, Wait: 1})
	l := goLive(t, stream.Config{Turns: shared}, h)
	first := l.ask(t, "application/json")
	<-h.running
	const want = "The server does 1 operations at once (--max-operations), and none came to its end within 1ns; nothing was run."
	resp := l.post(t, `mutation { echo(text: "x") }`, "application/graphql-response+json")
	if message, metadata := refusal(t, resp); resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") != "1" || message != want ||
		metadata != "map[limit:operations retryAfterSeconds:1 value:1]" {
		t.Errorf("%d %v %s %s", resp.StatusCode, resp.Header, message, metadata)
	}
	p := l.welcome(t)
	p.say(subscribe("1", `{ echo }`))
	if e := p.refused("1"); e.Message != want || e.Extensions["code"] != string(fault.ServerUnavailable) {
		t.Errorf("on a socket: %v", e)
	}
	h.release <- struct{}{}
	if resp := <-first; resp.StatusCode != http.StatusOK {
		t.Errorf("%d", resp.StatusCode)
	}
}
