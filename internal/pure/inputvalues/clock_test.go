package inputvalues_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"slipway/internal/base/jsregexp"
	"slipway/internal/pure/inputvalues"
)

// leaving is the context of a caller who leaves after it was asked so many times, and how often it is asked
// after that.
type leaving struct {
	context.Context
	stays, asked atomic.Int64
}

func leavesAfter(ctx context.Context, n int64) *leaving {
	l := &leaving{Context: ctx}
	l.stays.Store(n)
	return l
}

func (l *leaving) Err() error {
	if l.stays.Add(-1) >= 0 {
		return nil
	}
	l.asked.Add(1)
	return context.Canceled
}

// TestWorkEndsWhenItsCallerLeaves counts questions, not time: one question too many for each level that the
// work is inside of is the end of it.
func TestWorkEndsWhenItsCallerLeaves(t *testing.T) {
	t.Parallel()
	const after, most = 50, 10
	engine, err := jsregexp.New(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(engine.Close)
	items := func(n int, item string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
	}
	numbered := func(n int, format string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = strings.ReplaceAll(format, "%d", strconv.Itoa(i))
		}
		return strings.Join(parts, ",")
	}
	for name, c := range map[string]struct{ inputs, values string }{
		"items":         {arrayOf("l", in("a", "text")), `{"l":` + items(5000, `{"a":"x"}`) + `}`},
		"defaults":      {arrayOf("l", in("a", "text", `"default":"d"`)), `{"l":` + items(5000, `{}`) + `}`},
		"inputs":        {numbered(400, in("a%d", "text")), `{}`},
		"patterns":      {in("l", "string_array", `"patterns":[{"pattern":"^a$","message":"m"}]`), `{"l":` + items(5000, `"a"`) + `}`},
		"titles":        {arrayOf("l", in("a", "text")), `{"l":` + items(5000, `{"a":"x"}`) + `}`},
		"keys of a map": {`{"id":"m","label":"M","type":"object_map","item_inputs":[` + in("a", "string") + `],"key":{"from_fields":["a"]}}`, `{"m":{` + numbered(2000, `"k%d":{"a":"v%d"}`) + `}}`},
	} {
		list := mustDecodeList(t, "["+c.inputs+"]")
		values := parse(t, c.values)
		e := inputvalues.NewEngine(engine)
		for call, do := range map[string]func(context.Context) error{
			"validate": func(ctx context.Context) error {
				_, err := e.Validate(ctx, list, values, "", inputvalues.Env{})
				return err
			},
			"resolve": func(ctx context.Context) error {
				_, _, err := e.Resolve(ctx, list, values, "", inputvalues.Env{})
				return err
			},
		} {
			whole := leavesAfter(t.Context(), 1<<40)
			if err := do(whole); err != nil {
				t.Fatalf("%s, %s: %v", name, call, err)
			}
			questions := 1<<40 - whole.stays.Load()
			if questions < after {
				continue // it is soon at its end
			}
			ctx := leavesAfter(t.Context(), after)
			if err := do(ctx); !errors.Is(err, context.Canceled) || ctx.asked.Load() > most {
				t.Errorf("%s, %s: %v, asked %d times after its end, %d times in all", name, call, err, ctx.asked.Load(), questions)
			}
		}
	}
}
