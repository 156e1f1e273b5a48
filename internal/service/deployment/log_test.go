package deployment_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/page"
	"slipway/internal/pure/event"
	"slipway/internal/pure/runlog"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/view"
	"slipway/internal/test/worldtest"
)

// running is a RUNNING deployment, to whose log a test adds lines.
type running struct {
	w         *worldtest.World
	runner    context.Context
	id, lease string
	sequence  int32
}

func newRunning(t *testing.T, w *worldtest.World) *running {
	t.Helper()
	p := w.Fixture(t, w.Acme, "web")
	d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
	return &running{w: w, runner: w.Acme.As(actor.Runner), id: d.ID, lease: p.Claim(t, d)}
}

// print reports lines under the next number.
func (r *running) print(t *testing.T, texts ...string) {
	t.Helper()
	r.sequence++
	in := execution.Report{Sequence: new(r.sequence)}
	for _, text := range texts {
		in.Logs = append(in.Logs, runlog.Line{Stream: runlog.Stdout, Text: text})
	}
	if _, _, err := r.w.Deploy.Execution.Report(r.runner, r.id, r.lease, in); err != nil {
		t.Fatal(err)
	}
}

// page returns the lines of a page as number, stream and text, and the page.
func (r *running) page(t *testing.T, args page.Args) (lines []string, c *page.LogLineConnection) {
	t.Helper()
	pages, err := r.w.Deploy.View.LogsOf(r.w.Acme.As(actor.Viewer), []string{r.id}, args)
	if err != nil {
		t.Fatal(err)
	}
	c = pages[r.id]
	for _, l := range c.Nodes() {
		lines = append(lines, fmt.Sprintf("%d %s %s", l.Sequence, l.Stream, l.Text))
	}
	return lines, c
}

func TestLinesAreReadInPagesFromTheFirst(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		r, clock := newRunning(t, w), clockOf(w)
		at := time.Date(2026, 3, 1, 9, 30, 0, 123456789, time.FixedZone("", 3600))
		before := w.Store.Client.Deployment.GetX(w.Acme.As(actor.Viewer), r.id)
		clock.Advance(time.Minute)
		d, lease, err := w.Deploy.Execution.Report(w.Acme.As(actor.Runner), r.id, r.lease, execution.Report{Sequence: new(int32(1)), Logs: []runlog.Line{
			{At: &at, Stream: runlog.Stderr, Text: "one"}, {Stream: runlog.Stdout}, {Stream: runlog.Stdout, Text: "three \x00 \U0001F600"},
		}})
		if err != nil || d.Version != before.Version || !lease.ExpiresAt.Equal(clock.Now().Add(execution.DefaultLease)) {
			t.Fatalf("%v under %v, %v", d, lease, err)
		}
		after := w.Store.Client.Deployment.GetX(w.Acme.As(actor.Viewer), r.id)
		if after.Version != before.Version || !after.UpdatedAt.Equal(before.UpdatedAt) || !after.LeaseExpiresAt.Equal(lease.ExpiresAt) {
			t.Errorf("lines are a change: %v", after)
		}
		r.sequence = 1
		r.print(t, "four", "five")

		first, c := r.page(t, page.Args{First: new(int32(2))})
		if diff := cmp.Diff([]string{"1 STDERR one", "2 STDOUT "}, first); diff != "" || !c.PageInfo.HasNextPage || c.PageInfo.HasPreviousPage {
			t.Errorf("%s %+v", diff, c.PageInfo)
		}
		if l := c.Nodes(); !l[0].At.Equal(at.Truncate(time.Microsecond)) || !l[1].At.Equal(clock.Now()) {
			t.Errorf("at %s and %s", l[0].At, l[1].At)
		}
		if n, err := c.TotalCount(w.Acme.As(actor.Viewer)); n != 5 || err != nil {
			t.Errorf("%d lines, %v", n, err)
		}
		next, c := r.page(t, page.Args{First: new(int32(3)), After: c.PageInfo.EndCursor})
		if diff := cmp.Diff([]string{"3 STDOUT three \uFFFD \U0001F600", "4 STDOUT four", "5 STDOUT five"}, next); diff != "" || c.PageInfo.HasNextPage {
			t.Errorf("%s %+v", diff, c.PageInfo)
		}
		last, c := r.page(t, page.Args{Last: new(int32(2)), Before: &c.Edges[2].Cursor})
		if diff := cmp.Diff([]string{"3 STDOUT three \uFFFD \U0001F600", "4 STDOUT four"}, last); diff != "" || !c.PageInfo.HasPreviousPage || !c.PageInfo.HasNextPage {
			t.Errorf("%s %+v", diff, c.PageInfo)
		}
	})
}

func TestLogsOfSeveralDeploymentsAreReadTogether(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		var all []*running
		var ids []string
		for n := range 3 {
			d := p.Deploy(t, p.NewInstance(t, fmt.Sprint("n", n)).ID, `{"image":"web:1"}`)
			r := &running{w: w, runner: w.Acme.As(actor.Runner), id: d.ID, lease: p.Claim(t, d)}
			for i := range 12 * n {
				r.print(t, fmt.Sprint(i+1))
			}
			all, ids = append(all, r), append(ids, d.ID)
		}
		var pages map[string]*page.LogLineConnection
		ran := w.Statements(func() {
			var err error
			if pages, err = w.Deploy.View.LogsOf(w.Acme.As(actor.Viewer), ids, page.Args{First: new(int32(11))}); err != nil {
				t.Fatal(err)
			}
		})
		if len(ran) != 1 {
			t.Errorf("%d statements: %q", len(ran), ran)
		}
		for n, r := range all {
			var texts []string
			for _, l := range pages[r.id].Nodes() {
				texts = append(texts, l.Text)
			}
			if want := "1 2 3 4 5 6 7 8 9 10 11"; n > 0 && strings.Join(texts, " ") != want || n == 0 && texts != nil {
				t.Errorf("%q", texts)
			}
		}
	})
}

func TestReportOfLinesIsTakenOnce(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		r := newRunning(t, w)
		// The same report several times at once, beside others that change the deployment.
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for i := range 5 {
					in := execution.Report{Sequence: new(int32(i + 1)), Logs: []runlog.Line{{Stream: runlog.Stdout, Text: fmt.Sprint(i + 1)}, {Stream: runlog.Stderr}}}
					if i == 3 {
						in.Events = []event.Event{{Message: new("an event")}}
					}
					if _, _, err := w.Deploy.Execution.Report(w.Acme.As(actor.Runner), r.id, r.lease, in); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Go(func() {
			for range 5 {
				if _, _, err := w.Deploy.Execution.Report(w.Acme.As(actor.Runner), r.id, r.lease, execution.Report{ResourceName: new("r")}); err != nil {
					t.Error(err)
				}
			}
		})
		all.Wait()
		want := []string{"1 STDOUT 1", "2 STDERR ", "3 STDOUT 2", "4 STDERR ", "5 STDOUT 3", "6 STDERR ", "7 STDOUT 4", "8 STDERR ", "9 STDOUT 5", "10 STDERR "}
		if got, _ := r.page(t, page.Args{}); cmp.Diff(want, got) != "" {
			t.Error(cmp.Diff(want, got))
		}
		if got := messages(t, w.Store.Client.Deployment.GetX(w.Acme.As(actor.Viewer), r.id)); len(got) != 1 {
			t.Errorf("%q", got)
		}
	})
}

func TestOldestLinesAreFoldedByTheirBytes(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		r := newRunning(t, w)
		kilobyte16, most := strings.Repeat("x", runlog.MaxText), runlog.MaxBytes/runlog.MaxText
		for printed := 0; printed < most; printed += 160 {
			lines := make([]string, 160)
			for i := range lines {
				lines[i] = kilobyte16
			}
			r.print(t, lines...)
		}
		stored := func() (lines int32, bytes int64, kept int) {
			d := w.Store.Client.Deployment.GetX(w.Acme.As(actor.Viewer), r.id)
			return d.FoldedLogLines, d.FoldedLogBytes, w.Store.Client.DeploymentLog.Query().CountX(w.Acme.As(actor.Viewer))
		}
		if lines, bytes, kept := stored(); lines != 0 || bytes != 0 || kept != most {
			t.Fatalf("%d lines with %d bytes were folded of exactly what may be kept, %d kept", lines, bytes, kept)
		}
		r.print(t, "one byte too many")
		if lines, bytes, kept := stored(); lines != 1 || bytes != runlog.MaxText || kept != most {
			t.Errorf("%d lines with %d bytes were folded, %d kept", lines, bytes, kept)
		}
		if got, c := r.page(t, page.Args{First: new(int32(1))}); !strings.HasPrefix(got[0], "2 ") || !c.PageInfo.HasNextPage {
			t.Errorf("it begins with %.10q", got[0])
		}
		got, _ := r.page(t, page.Args{Last: new(int32(1))})
		if want := fmt.Sprintf("%d STDOUT one byte too many", most+1); got[0] != want {
			t.Errorf("it ends with %.40q, want %q", got[0], want)
		}
	})
}

func TestOldestLinesAreFoldedByTheirNumber(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		r := newRunning(t, w)
		r.print(t, "a", "b", "c")
		// As if many more had been printed, which are not kept for the test's sake.
		db := w.Raw(t, w.Acme)
		const shift = runlog.MaxLines - 3
		for _, change := range []string{
			fmt.Sprintf(`UPDATE deployments SET log_lines = log_lines + %d WHERE id = '%s'`, shift, r.id),
			fmt.Sprintf(`UPDATE deployment_logs SET sequence = sequence + %d WHERE deployment_id = '%s' AND sequence > 1`, shift, r.id),
		} {
			if _, err := db.ExecContext(t.Context(), change); err != nil {
				t.Fatal(err)
			}
		}
		r.print(t, "d")
		want := []string{"199999 STDOUT b", "200000 STDOUT c", "200001 STDOUT d"}
		if got, _ := r.page(t, page.Args{}); cmp.Diff(want, got) != "" {
			t.Error(cmp.Diff(want, got))
		}
	})
}

func TestReportsOfLinesAreChecked(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		r := newRunning(t, w)
		report := func(ctx context.Context, id, lease string, lines ...runlog.Line) error {
			_, _, err := w.Deploy.Execution.Report(ctx, id, lease, execution.Report{Sequence: new(int32(1)), Logs: lines})
			return err
		}
		runner := w.Acme.As(actor.Runner)
		for pointer, lines := range map[string][]runlog.Line{
			"/logs":        make([]runlog.Line, runlog.MaxReported+1),
			"/logs/1/text": {{}, {Text: strings.Repeat("ä", runlog.MaxText/2) + "x"}},
			"/logs/0/text": {{Text: "two\nlines"}},
		} {
			err := report(runner, r.id, r.lease, lines...)
			if refused, ok := errors.AsType[*fault.Error](err); !ok || refused.Code != fault.RequestInvalid || refused.Violations[0].Pointer != pointer {
				t.Errorf("%s: %v", pointer, err)
			}
		}
		one := runlog.Line{Stream: runlog.Stdout, Text: "x"}
		for want, err := range map[fault.Code]error{
			fault.DeploymentForbidden: report(w.Acme.As(actor.Developer), r.id, r.lease, one),
			fault.DeploymentNotFound:  report(w.Globex.As(actor.Runner), r.id, r.lease, one),
			fault.DeploymentLeaseLost: report(runner, r.id, "lease_another", one),
		} {
			if !fault.Is(err, want) {
				t.Errorf("got %v, want %s", err, want)
			}
		}
		if got, _ := r.page(t, page.Args{}); got != nil {
			t.Errorf("%q", got)
		}
		if pages, err := w.Deploy.View.LogsOf(w.Globex.As(actor.Viewer), []string{r.id}, page.Args{}); err != nil || len(pages[r.id].Edges) > 0 {
			t.Errorf("another organization reads %v, %v", pages[r.id], err)
		}
	})
}

// batch returns the next batch, nil if there will be none.
func batch(t *testing.T, batches <-chan *view.LogBatch) *view.LogBatch {
	t.Helper()
	select {
	case b := <-batches:
		return b
	case <-time.After(20 * time.Second):
		t.Fatal("nothing comes")
		return nil
	}
}

func TestALogIsFollowedToItsEnd(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		r, viewer := newRunning(t, w), w.Acme.As(actor.Viewer)
		want := 0
		for range 2 {
			lines := make([]string, 120)
			for i := range lines {
				lines[i] = fmt.Sprint(want + i + 1)
			}
			r.print(t, lines...)
			want += len(lines)
		}
		_, c := r.page(t, page.Args{First: new(int32(7))})
		batches, err := w.Deploy.View.FollowLogs(viewer, r.id, c.PageInfo.EndCursor)
		if err != nil {
			t.Fatal(err)
		}
		seen, cursor := 7, ""
		follow := func(until int) {
			t.Helper()
			for seen < until {
				b := batch(t, batches)
				if b == nil || b.Err != nil || len(b.Lines) > page.MaxSize {
					t.Fatalf("%+v after %d lines", b, seen)
				}
				for _, l := range b.Lines {
					if seen++; l.Text != fmt.Sprint(seen) {
						t.Fatalf("%s is line %d", l.Text, seen)
					}
				}
				cursor = b.Cursor
			}
		}
		follow(want)
		// Lines of this server's, and those of another.
		r.print(t, "241")
		follow(241)
		other := *r
		other.w = worldtest.Another(t, w.DatabaseURL)
		other.print(t, "242")
		follow(242)
		if _, err := w.Deploy.Execution.End(w.Acme.As(actor.Runner), r.id, r.lease, execution.Completion{}); err != nil {
			t.Fatal(err)
		}
		if b := batch(t, batches); b != nil {
			t.Errorf("%+v after the end", b)
		}
		if batches, err = w.Deploy.View.FollowLogs(viewer, r.id, &cursor); err != nil || batch(t, batches) != nil {
			t.Errorf("after the last line: %v", err)
		}
		for want, follow := range map[fault.Code]func() error{
			fault.RequestCursorInvalid: func() error {
				_, err := w.Deploy.View.FollowLogs(viewer, r.id, new("unknown"))
				return err
			},
			fault.DeploymentNotFound: func() error {
				_, err := w.Deploy.View.FollowLogs(w.Globex.As(actor.Viewer), r.id, nil)
				return err
			},
		} {
			if err := follow(); !fault.Is(err, want) {
				t.Errorf("got %v, want %s", err, want)
			}
		}
	})
}
