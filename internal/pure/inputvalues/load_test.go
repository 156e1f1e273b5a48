package inputvalues_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/inputvalues"
)

// mostCPU is how much of a processor the worst input may take: far above what it does, and far below what it
// would with work that grows with the square of the input.
const mostCPU = 2 * time.Second

// cpuOf returns what a call takes of a processor, on a thread that nothing else runs on.
func cpuOf(t *testing.T, call func()) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &before); err != nil {
		t.Fatal(err)
	}
	call()
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &after); err != nil {
		t.Fatal(err)
	}
	return time.Duration(after.Nano() - before.Nano())
}

func TestTheWorstInputsAreAnsweredForLittle(t *testing.T) {
	t.Parallel()
	repeated := func(count int, text string) string { return strings.TrimSuffix(strings.Repeat(text+",", count), ",") }
	numbered := func(count int, format string) string {
		var b strings.Builder
		for i := range count {
			fmt.Fprintf(&b, format+",", i)
		}
		return strings.TrimSuffix(b.String(), ",")
	}
	names := numbered(490, `{"id":"name_of_input_%d","label":"L","type":"text"}`)
	for _, c := range []struct{ name, list, values string }{
		{"many unknown values", names, `{` + numbered(10_000, `"nome_of_input_%d_x":1`) + `}`},
		{"conditions on a long list", in("a", "array") + "," + numbered(490, `{"id":"b%d","label":"B","type":"text","show_when":{"a":{"contains":-1,"contains_any":[-1],"not":[-2],"any_of":[-3]}}}`), `{"a":[` + repeated(50_000, "1") + `]}`},
		{"long conditions in many items", arrayOf("l", in("a", "number", `"default":1`)+","+in("b", "text", shown(`"a":{"any_of":[`+repeated(50_000, "2")+`]}`))), `{"l":[` + repeated(50_000, "{}") + `]}`},
		{"a circle of everything", numbered(200, `{"id":"i%d","label":"I","type":"text","show_when":{`+numbered(199, `"i%d":1`)+`}}`), `{}`},
		{"many items with a long default", arrayOf("l", in("a", "text", `"default":"`+strings.Repeat("x", 10_000)+`"`)), `{"l":[` + repeated(60_000, "{}") + `]}`},
	} {
		n, err := strictjson.ParseWithin([]byte("["+strings.ReplaceAll(c.list, "%!", "")+"]"), strictjson.Limits{Bytes: 4 << 20})
		if err != nil {
			t.Fatal(c.name, err)
		}
		list, violations := inputprop.DecodeList(n, "")
		if len(violations) > 0 {
			t.Fatal(c.name, violations)
		}
		values := parse(t, c.values)
		took := cpuOf(t, func() {
			if _, _, err := rules.CheckList(t.Context(), list, ""); err != nil {
				t.Error(c.name, err)
			}
			if _, err := plain.Validate(t.Context(), list, values, "", inputvalues.Env{}); err != nil {
				t.Error(c.name, err)
			}
		})
		if took > mostCPU {
			t.Errorf("%s took %v of CPU", c.name, took)
		}
	}
}

func TestListsAndInstancesAreAskedOnceForTheSame(t *testing.T) {
	t.Parallel()
	fetches, looks := 0, 0
	counted := inputvalues.Env{
		Options: func(_ context.Context, source string, _ map[string]string) ([]inputprop.Option, error) {
			fetches++
			return []inputprop.Option{{Value: source}}, nil
		},
		Ref: func(context.Context, string, string) (*strictjson.Node, bool, error) {
			looks++
			return parse(t, `"v"`), true, nil
		},
	}
	dynamic := arrayOf("l", in("p", "text")+","+in("s", "string", `"values":{"source":"x","params":{"p":{"input":"p"}}}`, `"default":"$values:first"`))
	mapped := reference("r", in("a", "text", `"default":"${{ ref.input.x }} ${{ ref.input.x }}"`)+","+in("b", "text", `"default":"${{ ref.input.x }}"`))
	resolved(t, dynamic+","+mapped, `{"r":"`+instance+`","l":[{"p":"1"},{"p":"1"},{"p":"2"}]}`, counted)
	if fetches != 2 || looks != 1 {
		t.Errorf("%d lists and %d values were asked for", fetches, looks)
	}
	var items []string
	for i := range 150 {
		items = append(items, fmt.Sprintf(`{"p":"%d"}`, i))
	}
	fetches = 0
	_, violations := resolved(t, dynamic, `{"l":[`+strings.Join(items, ",")+`]}`, counted)
	if fetches != 100 || len(violations) != 50 || violations[0] != "/l/100/s max_fetches" {
		t.Errorf("%d lists, %d violations: %v", fetches, len(violations), violations[:1])
	}
}

func TestCompletingValuesAsksOnceForAList(t *testing.T) {
	t.Parallel()
	fetches := 0
	counted := inputvalues.Env{Options: func(_ context.Context, source string, _ map[string]string) ([]inputprop.Option, error) {
		fetches++
		return []inputprop.Option{{Value: source}}, nil
	}}
	list, violations := inputprop.DecodeList(parse(t, "["+in("s", "string", `"values":{"source":"x"}`, `"default":"$values:first"`)+"]"), "")
	if len(violations) > 0 {
		t.Fatal(violations)
	}
	resolved, violations, err := plain.Complete(t.Context(), list, parse(t, `{}`), "", counted)
	if err != nil || len(violations) > 0 || string(resolved.Values.JSON()) != `{"s":"x"}` || fetches != 1 {
		t.Errorf("%v, %v, %v after %d fetches", resolved, violations, err, fetches)
	}
	if _, violations, err = plain.Complete(t.Context(), list, parse(t, `{"s":"y"}`), "", counted); err != nil || len(violations) != 1 {
		t.Errorf("another value: %v, %v", violations, err)
	}
}
