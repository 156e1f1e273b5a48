package plan_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/graph/plan"
)

var ticking = gqlparser.MustLoadSchema(&ast.Source{Input: `
	type Query { now: Int }
	type Subscription { ticks(from: Int!): Int  strikes: Int }
`})

type (
	decoder  = func(context.Context, map[string]any) (map[string]any, error)
	resolver = func(context.Context, plan.Arguments) (<-chan int, error)
	next     = func(context.Context) graphql.Marshaler
)

func stream(decode decoder, resolve resolver) func(context.Context, *plan.Execution, *plan.Node) next {
	return func(ctx context.Context, e *plan.Execution, n *plan.Node) next {
		return plan.Stream(ctx, e, n, decode, resolve, func(w *plan.Writer, _ *plan.Node, v int) bool {
			if v == 2 {
				return w.Fail(errors.New("it is two"))
			}
			return w.Appended(plan.AppendInt(w.Bytes(), v), true)
		})
	}
}

// newTicker returns an executor of ticks from a number up to 3, of which 2 is an error.
func newTicker() *executor.Executor {
	decode := func(_ context.Context, raw map[string]any) (map[string]any, error) {
		from, err := graphql.UnmarshalInt(raw["from"])
		switch from {
		case 8:
			err = errors.New("not eight")
		case 9:
			panic("nine")
		}
		return map[string]any{"from": from}, err
	}
	ticks := func(_ context.Context, arguments plan.Arguments) (<-chan int, error) {
		from := arguments.Args["from"].(int)
		if from > 3 {
			return nil, errors.New("too late")
		}
		events := make(chan int, 3)
		for i := from; i <= 3; i++ {
			events <- i
		}
		close(events)
		return events, nil
	}
	strikes := func(context.Context, plan.Arguments) (<-chan int, error) {
		events := make(chan int, 1)
		events <- 12
		close(events)
		return events, nil
	}
	subscription := &plan.Object{Name: "Subscription", Satisfies: []string{"Subscription"}, Fields: map[string]*plan.Field{
		"ticks":   {Object: "Subscription", Subscribe: stream(decode, ticks)},
		"strikes": {Object: "Subscription", Subscribe: stream(nil, strikes)},
	}}
	query := &plan.Object{Name: "Query", Fields: map[string]*plan.Field{}}
	e := executor.New(plan.NewSchema(ticking, plan.Options{}, plan.Generated{Query: query, Subscription: subscription}))
	e.SetRecoverFunc(func(_ context.Context, value any) error { return fmt.Errorf("panic: %v", value) })
	return e
}

func TestEachEventOfAStreamIsAnAnswer(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]string{
		`subscription { t: ticks(from: 1) }`: `{"t":1}; {"t":null} input: it is two; {"t":3}; `,
		`subscription { strikes }`:           `{"strikes":12}; `,
		`subscription { ticks(from: 7) }`:    ` input:1:16: ticks too late; `,
		`subscription { ticks(from: 8) }`:    ` input: ticks not eight; `,
		`subscription { ticks(from: 9) }`:    ` input: ticks panic: nine; `,
	} {
		ctx, e := graphql.StartOperationTrace(t.Context()), newTicker()
		operation, errs := e.CreateOperationContext(ctx, &graphql.RawParams{Query: document})
		if errs != nil {
			t.Fatal(errs)
		}
		next, ctx := e.DispatchOperation(ctx, operation)
		got := ""
		for response := next(ctx); response != nil; response = next(ctx) {
			got += string(response.Data)
			for _, err := range response.Errors {
				got += " " + err.Error()
			}
			got += "; "
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", document, got, want)
		}
	}
}
