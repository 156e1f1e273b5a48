package server_test

import (
	"bufio"
	"strconv"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/store"
	"slipway/internal/edge/quota"
	"slipway/internal/pure/runlog"
	"slipway/internal/server"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// dear is everyChange with releases, for which each item costs 123, as does its start.
func dear(after string) string {
	var releases strings.Builder
	for i := range 20 {
		releases.WriteString(" r" + strconv.Itoa(i) + ": release { inputs }")
	}
	return strings.NewReplacer("id status version", releases.String(), "AFTER", after).Replace(everyChange)
}

func TestWhoCannotPayForAnItemGoesOnWithTheLastCursor(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		list := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], `{ deployments(first: 1) { feedCursor } }`, nil)
		after := `"` + list.Text(t, "data", "deployments", "feedCursor") + `"`
		p.Succeeded(t)
		poor := w.Serving(t, func(c *server.Config) { c.Bucket = quota.Bucket{Capacity: 350, PerSecond: 1} })
		in := open(t, poor, dear(after), "")
		cursor, kind := change(t, in)
		if kind != "CREATED" {
			t.Errorf("the first is %s", kind)
		}
		last := event(t, in)
		if !strings.Contains(last, string(fault.RequestRateLimited)) || strings.Contains(last, "\nid:") || strings.Contains(last, `"data"`) {
			t.Errorf("the last is %s", last)
		}
		if end := event(t, in); end != "event: complete\ndata:\n" {
			t.Errorf("then comes %q", end)
		}
		in = open(t, w, dear(after), cursor)
		for kind = ""; kind != "COMPLETED"; {
			if _, kind = change(t, in); kind == "CREATED" {
				t.Error("what was paid for comes again")
			}
		}
	})
}

// left returns what the viewer has left in its bucket, after a question that costs 1.
func left(t *testing.T, w *worldtest.World) int {
	t.Helper()
	r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], `{ __typename }`, nil)
	n, err := strconv.Atoi(r.Header.Get("RateLimit-Remaining"))
	if err != nil {
		t.Fatal(err, r.Header)
	}
	return n
}

func TestAnItemCostsWhatItTook(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		served := w.Serving(t, func(c *server.Config) {
			c.Bucket = quota.Bucket{Capacity: 1_000_000, PerSecond: 1}
			c.Now = testkit.NewClock(store.Now()).Now // nothing comes back
		})
		spent := map[int]int{}
		for _, lines := range []int{1, 100} {
			d := p.Deploy(t, p.NewInstance(t, "of-"+strconv.Itoa(lines)).ID, `{"image":"web:1"}`)
			lease := p.Claim(t, d)
			var log []runlog.Line
			for range lines {
				log = append(log, runlog.Line{Stream: "STDOUT", Text: "a line"})
			}
			if _, _, err := w.Deploy.Execution.Report(w.Acme.As(actor.Runner), d.ID, lease, execution.Report{Sequence: new(int32(1)), Logs: log}); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Deploy.Execution.End(w.Acme.As(actor.Runner), d.ID, lease, execution.Completion{}); err != nil {
				t.Fatal(err)
			}
			before := left(t, served)
			in := open(t, served, `{"query":"subscription { deploymentLogs(id: \"`+d.ID+`\") { lines { text } } }"}`, "")
			if got := ended(t, in); strings.Count(got, "a line") != lines {
				t.Errorf("%s came", got)
			}
			spent[lines] = before - left(t, served) - 1
		}
		// A line costs 1.1, and sums are rounded up. Five are assumed, at the start and for the item.
		if spent[100]-spent[1] != 108 || spent[1] >= 2*7 {
			t.Errorf("%v was spent", spent)
		}
	})
}

// ended returns the events of a stream until its end.
func ended(t *testing.T, in *bufio.Reader) (text string) {
	t.Helper()
	for !strings.HasSuffix(text, "event: complete\ndata:\n") {
		text += event(t, in)
	}
	return text
}
