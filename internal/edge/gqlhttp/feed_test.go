package gqlhttp_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/base/fault"
	"slipway/internal/edge/gqlhttp"
	"slipway/internal/edge/gqlhttp/stream"
	"slipway/internal/edge/httpx"
	"slipway/internal/edge/quota"
	"slipway/internal/test/testkit"
)

// feed is a schema with a subscription, resolved the way that gqlgen's generated code does. What it does
// is set by the argument: see source and value.
type feed struct {
	// items are the events of the subscription "items"; a test sends them.
	items chan int
	// ended gets a value when the source of a subscription has stopped.
	ended chan string
}

var feedSchema = gqlparser.MustLoadSchema(&ast.Source{Input: `
	type Item {
		n: Int!, text: String, slow: String, panics: String, padded(by: String): String
		old: Int @deprecated(reason: "Use n. Goes in 2.0.")
	}
	type Query { echo(text: String): String, slow: String, said: String @deprecated(reason: "Use echo. Goes in 2.0.") }
	type Mutation { echo(text: String): String, slow: String }
	type Subscription { feed(of: String!): Item }
`})

func (feed) Schema() *ast.Schema { return feedSchema }

func (feed) Complexity(context.Context, string, string, int, map[string]any) (int, bool) {
	return 0, false
}

func (f feed) Exec(ctx context.Context) graphql.ResponseHandler {
	op := graphql.GetOperationContext(ctx)
	fields := graphql.CollectFields(op, op.Operation.SelectionSet, []string{"Query", "Mutation", "Subscription"})
	if op.Operation.Operation != ast.Subscription {
		done := false
		return func(ctx context.Context) *graphql.Response {
			if done {
				return nil
			}
			done = true
			return &graphql.Response{Data: written(f.object(ctx, op, fields, 0))}
		}
	}
	next := graphql.ResolveFieldStream(ctx, op, fields[0], contextOf,
		func(ctx context.Context) (any, error) {
			return f.source(ctx, fields[0].ArgumentMap(op.Variables)["of"].(string))
		},
		nil, func(ctx context.Context, selected ast.SelectionSet, n int) graphql.Marshaler {
			gqlhttp.Observe(ctx) // as executors do
			return f.object(ctx, op, graphql.CollectFields(op, selected, []string{"Item"}), n)
		}, true, false)
	return func(ctx context.Context) *graphql.Response {
		if next == nil {
			return nil
		}
		if event := next(ctx); event != nil {
			return &graphql.Response{Data: written(event)}
		}
		return nil
	}
}

func written(m graphql.Marshaler) []byte {
	var b bytes.Buffer
	m.MarshalGQL(&b)
	return b.Bytes()
}

func contextOf(_ context.Context, field graphql.CollectedField) (*graphql.FieldContext, error) {
	return &graphql.FieldContext{Object: field.ObjectDefinition.Name, Field: field}, nil
}

func (f feed) object(ctx context.Context, op *graphql.OperationContext, fields []graphql.CollectedField, n int) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) {
		for i, field := range fields {
			_, _ = fmt.Fprintf(w, "%c%q:", "{,"[min(i, 1)], field.Alias)
			graphql.ResolveField(ctx, op, field, contextOf,
				func(ctx context.Context) (any, error) { return f.value(ctx, field, op.Variables, n) }, nil,
				func(_ context.Context, _ ast.SelectionSet, v any) graphql.Marshaler { return graphql.MarshalAny(v) }, true, false,
			).MarshalGQL(w)
		}
		_, _ = io.WriteString(w, "}\n")
	})
}

func (f feed) value(ctx context.Context, field graphql.CollectedField, variables map[string]any, n int) (any, error) {
	switch field.Name {
	case "n":
		return n, nil
	case "text":
		return strings.Repeat("x", n), nil
	case "slow":
		<-ctx.Done()
		return nil, context.Cause(ctx)
	case "panics":
		panic("secret of a field")
	default:
		return field.ArgumentMap(variables)["text"], nil
	}
}

// source returns the events of a subscription.
func (f feed) source(ctx context.Context, of string) (<-chan int, error) {
	switch of {
	case "error":
		return nil, fault.New(fault.DeploymentNotFound, "There is no such deployment.")
	case "secret":
		return nil, errors.New("pq: secret")
	case "panic":
		panic("secret of a source")
	case "never":
		<-ctx.Done()
		return nil, ctx.Err()
	}
	events := make(chan int)
	go func() {
		defer func() { f.ended <- of }()
		defer close(events)
		for i := 1; ctx.Err() == nil; i++ {
			item := i
			switch {
			case of == "three" && i > 3:
				return
			case of == "large":
				item = 1 << 20
			case of == "items":
				select {
				case item = <-f.items:
				case <-ctx.Done():
					return
				}
			}
			select {
			case events <- item:
			case <-ctx.Done():
			}
		}
	}()
	return events, nil
}

// live is a server of a feed on a real port.
type live struct {
	feed
	*httptest.Server
	streams *stream.Streams
	log     *testkit.Log
}

// goLive serves a feed. When the test ends, nothing that it started may be left.
func goLive(t *testing.T, c stream.Config, extensions ...graphql.HandlerExtension) *live {
	t.Helper()
	l := prepare(t, c, extensions...)
	l.Start()
	return l
}

// prepare makes a server of a feed that is not started yet.
func prepare(t *testing.T, c stream.Config, extensions ...graphql.HandlerExtension) *live {
	t.Helper()
	return prepareCharging(t, c, nil, extensions...)
}

// prepareCharging is prepare for a server that charges its callers.
func prepareCharging(t *testing.T, c stream.Config, costs *quota.Costs, extensions ...graphql.HandlerExtension) *live {
	t.Helper()
	l := &live{feed: feed{items: make(chan int), ended: make(chan string, 1000)}, streams: stream.New(c), log: &testkit.Log{}}
	config := gqlhttp.Config{Turns: c.Turns, Costs: costs, Presenter: gqlhttp.Presenter{Log: slog.New(slog.NewJSONHandler(l.log, nil))}}
	s := gqlhttp.NewServer(l.feed, config, stream.WebSocket{Streams: l.streams, MaxQuery: 4096}, gqlhttp.HTTP{Streams: l.streams, Requests: c.Requests})
	for _, e := range extensions {
		s.Use(e)
	}
	l.Server = httptest.NewUnstartedServer(addressed(httpx.Client(nil)(s)))
	l.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := l.streams.Shutdown(ctx); err != nil {
			t.Errorf("streams were left open: %v\n%s", err, stacks())
		}
		l.Close()
	})
	return l
}

// addressed lets a test say which address a request comes from.
func addressed(next http.Handler) http.Handler {
	next = httpx.Client(nil)(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.RemoteAddr = cmp.Or(r.Header.Get("Test-From"), r.RemoteAddr)
		next.ServeHTTP(w, r)
	})
}

// patience is how long a test waits for what is to happen at once.
const patience = 20 * time.Second

// over waits for the source of a subscription to have stopped.
func (l *live) over(t *testing.T, of string) {
	t.Helper()
	select {
	case got := <-l.ended:
		if got != of {
			t.Errorf("%q has stopped, not %q", got, of)
		}
	case <-time.After(patience):
		t.Fatalf("%q has not stopped", of)
	}
}

func stacks() string {
	b := make([]byte, 1<<20)
	return string(b[:runtime.Stack(b, true)])
}
