package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"slipway/ent"
	entdeployment "slipway/ent/deployment"
	"slipway/ent/moduleinstance"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/pure/event"
	"slipway/internal/pure/module"
	"slipway/internal/pure/runlog"
	"slipway/internal/service/catalog"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// work is what a runner does with a deployment.
type work func(r *runner, d *ent.Deployment, lease string)

// runner carries deployments out, one after the other.
type runner struct {
	t *testing.T
	w *worldtest.World
}

// startRunner starts a runner, which ends with the test.
func startRunner(t *testing.T, w *worldtest.World, do work) {
	t.Helper()
	r := &runner{t, w}
	ctx, end := context.WithCancel(w.Acme.As(actor.Runner))
	var all sync.WaitGroup
	all.Go(func() {
		for ctx.Err() == nil {
			d, lease, err := w.Deploy.Execution.Claim(ctx, execution.Claim{Kinds: module.DeploymentTypes})
			if err == nil && d != nil {
				do(r, d, lease.ID)
				continue
			}
			select {
			case <-time.After(5 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	})
	t.Cleanup(func() { end(); all.Wait() })
}

func (r *runner) prints(d *ent.Deployment, lease string, lines ...string) {
	var printed []runlog.Line
	for _, text := range lines {
		printed = append(printed, runlog.Line{Stream: runlog.Stdout, Text: text})
	}
	if _, _, err := r.w.Deploy.Execution.Report(r.w.Acme.As(actor.Runner), d.ID, lease, execution.Report{Logs: printed}); err != nil {
		r.t.Error(err)
	}
}

func (r *runner) steps(d *ent.Deployment, lease string, step, steps int32, message string) {
	_, _, err := r.w.Deploy.Execution.Report(r.w.Acme.As(actor.Runner), d.ID, lease, execution.Report{
		Events: []event.Event{{CurrentStep: &step, TotalSteps: &steps, Message: &message}},
	})
	if err != nil {
		r.t.Error(err)
	}
}

func (r *runner) ends(d *ent.Deployment, lease string, failure *fault.Data) {
	if _, err := r.w.Deploy.Execution.End(r.w.Acme.As(actor.Runner), d.ID, lease, execution.Completion{Failure: failure}); err != nil {
		r.t.Error(err)
	}
}

// succeeds carries a deployment out in two steps.
func succeeds(r *runner, d *ent.Deployment, lease string) {
	r.steps(d, lease, 1, 2, "Fetching.")
	r.prints(d, lease, "fetched")
	r.steps(d, lease, 2, 2, "Applying.")
	r.prints(d, lease, "applied")
	r.ends(d, lease, nil)
}

func fails(r *runner, d *ent.Deployment, lease string) {
	r.prints(d, lease, "it breaks")
	r.ends(d, lease, &fault.Data{Code: string(fault.DeploymentFailed), Message: "The task did not start.", Description: "no such image"})
}

// inOrder wants texts in a text, one after the other.
func inOrder(t *testing.T, text string, wanted ...string) {
	t.Helper()
	rest := text
	for _, want := range wanted {
		_, after, ok := strings.Cut(rest, want)
		if !ok {
			t.Errorf("%q is not, or not in its place, in\n%s", want, text)
			return
		}
		rest = after
	}
}

func TestDeployTellsHowItGoesOnAndHowItHasEnded(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	startRunner(t, s.World, func(r *runner, d *ent.Deployment, lease string) {
		if d.Description != nil && *d.Description == "broken" {
			fails(r, d, lease)
		} else {
			succeeds(r, d, lease)
		}
	})
	h := s.home(t, s.Acme.Tokens[actor.Developer])
	o := h.run(t, "deploy", "shop/production/web", "--set", "image=web:2")
	inOrder(t, o.stderr, `~ /image  "web:1.4.2" -> "web:2"`, "  1 of 2: Fetching.", "  2 of 2: Applying.")
	inOrder(t, o.stderr, "fetched\n", "applied\n")
	if o.code != 0 || !strings.HasPrefix(o.stdout, "dep_") || !strings.Contains(o.stdout, "  SUCCEEDED  ") || strings.Count(o.stdout, "\n") != 1 {
		t.Errorf("%d: %q", o.code, o.stdout)
	}
	if o = h.run(t, "deploy", "shop/production/web", "--set", "image=web:3", "--description", "broken"); o.code != 6 || !strings.Contains(o.stdout, "  FAILED  ") {
		t.Errorf("%d: %q", o.code, o.stdout)
	}
	inOrder(t, o.stderr, "it breaks\n")
	inOrder(t, o.stderr, "  The task did not start. (slipway:Deployment:FAILED)\n", "  no such image\n")
	if o = h.run(t, "rollback", "shop/production/web", "--logs=false"); o.code != 0 || strings.Contains(o.stderr, "fetched") {
		t.Errorf("%d: %q", o.code, o.stderr)
	}
	inOrder(t, o.stderr, `~ /image  "web:2" -> "web:1.4.2"`)
	// Of an ended one its end comes at once, and the exit code.
	if o = h.run(t, "watch", "shop/production/web", "--fields", "status", "-o", "tsv"); o.code != 0 || o.stdout != "SUCCEEDED\n" {
		t.Errorf("%d: %q", o.code, o.stdout)
	}
	if o = h.run(t, "logs", "shop/production/web"); o.code != 0 || o.stdout != "fetched\napplied\n" {
		t.Errorf("%d: %q", o.code, o.stdout)
	}
	s.home(t, s.Acme.Tokens[actor.Viewer]).mustFail(t, 4, []string{"slipway:Deployment:FORBIDDEN"}, "rollback", "shop/production/web")
}

func TestAFailureThatRollsBackByItselfIsTold(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	startRunner(t, s.World, func(r *runner, d *ent.Deployment, lease string) {
		if d.AfterFailureOf == nil {
			fails(r, d, lease)
		} else {
			succeeds(r, d, lease)
		}
	})
	admin := s.home(t, s.Acme.Tokens[actor.Admin])
	id := strings.TrimSpace(admin.must(t, "instances", "show", "shop/production/web", "--fields", "id", "-o", "tsv"))
	if _, err := s.Catalog.UpdateInstance(s.Acme.As(actor.Admin), id, catalog.InstancePatch{OnFailure: new(moduleinstance.OnFailureROLL_BACK)}); err != nil {
		t.Fatal(err)
	}
	h := s.home(t, s.Acme.Tokens[actor.Developer])
	o := h.run(t, "deploy", "shop/production/web", "--set", "image=web:3", "--logs=false")
	if o.code != 6 {
		t.Fatalf("%d: %s", o.code, o.stderr)
	}
	_, told, found := strings.Cut(o.stderr, "rolls back to the earlier live release; wait for it with: slipway watch ")
	if !found {
		t.Fatalf("it tells %s", o.stderr)
	}
	back := strings.TrimSpace(told)
	if o = h.run(t, "watch", back, "--logs=false", "-o", "tsv", "--fields", "status"); o.code != 0 || !strings.HasSuffix(o.stdout, "SUCCEEDED\n") {
		t.Errorf("%d: %s%s", o.code, o.stdout, o.stderr)
	}
	failed := strings.TrimSpace(h.must(t, "deployments", "show", back, "-o", "tsv", "--fields", "afterFailureOf.id"))
	if got := strings.TrimSpace(h.must(t, "deployments", "show", failed, "-o", "tsv", "--fields", "automaticRollback.id")); got != back {
		t.Errorf("%s has made %s, want %s", failed, got, back)
	}
}

func TestWaitThatTakesTooLongSaysThatItGoesOn(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	h := s.home(t, s.Acme.Tokens[actor.Developer])
	o := h.run(t, "deploy", "shop/production/web", "--set", "image=web:2", "--timeout", "1s")
	if o.code != 7 || !strings.Contains(o.stdout, "  PENDING") {
		t.Errorf("%d: %q, %s", o.code, o.stdout, o.stderr)
	}
	inOrder(t, o.stderr, "is still PENDING after 1s, and goes on; wait for it with: slipway watch dep_")
}

// A server that is away when the time is over is not waited for without an end.
func TestTimeIsOverWhileTheServerIsAway(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	proxy, url := testkit.NewProxy(t, s.URL, testkit.AcceptAll)
	h := s.home(t, s.Acme.Tokens[actor.Developer]).with(map[string]string{"SLIPWAY_SERVER": url})
	h.config.Patience = 100 * time.Millisecond
	stderr := &watched{on: "PENDING", do: proxy.Close}
	code := h.execute(t.Context(), io.Discard, stderr, "deploy", "shop/production/web", "--set", "image=web:2", "--timeout", "1s")
	if code != 7 || !strings.Contains(stderr.String(), "stands after 1s is not known, and it may go on") {
		t.Errorf("%d: %s", code, stderr.String())
	}
}

// Off a terminal a line says from time to time that it goes on, and what it waits for.
func TestLongWaitIsToldOfFromTimeToTime(t *testing.T) {
	t.Parallel()
	for action, says := range map[string]string{
		"deploy shop/production/web --set image=web:2": "still PENDING until a runner takes it, 0 s\n",
		"destroy shop/production/web --yes":            "still PENDING until a runner takes it that has --destroy, 0 s\n",
	} {
		s := newStock(t)
		h := s.home(t, s.Acme.Tokens[actor.Admin])
		h.config.Reminder = 10 * time.Millisecond
		now := time.Now()
		h.config.Now = func() time.Time { return s.clock.Now().Add(time.Since(now)) }
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		stderr := &watched{on: says, do: interrupt}
		if code := h.execute(ctx, io.Discard, stderr, strings.Fields(action)...); code != 130 || !strings.Contains(stderr.String(), says) {
			t.Errorf("slipway %s: %d, %s", action, code, stderr.String())
		}
	}
}

// An interrupted command says how what it has begun is canceled, or cancels it, and what has not begun is not done.
func TestInterruptedCommandSaysWhatGoesOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		says string
		want entdeployment.Status
	}{
		"leaves it":  {nil, "goes on; cancel it with: slipway cancel dep_", entdeployment.StatusPENDING},
		"cancels it": {[]string{"--on-interrupt", "cancel"}, "will be canceled", entdeployment.StatusCANCELED},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStock(t)
			h := s.home(t, s.Acme.Tokens[actor.Developer])
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			stderr := &watched{on: "PENDING", do: interrupt}
			var stdout bytes.Buffer
			code := h.execute(ctx, &stdout, stderr, append([]string{"deploy", "shop/production/web", "--set", "image=web:2"}, c.args...)...)
			newest := s.Store.Client.Deployment.Query().Order(ent.Desc(entdeployment.FieldCreatedAt)).FirstX(s.Acme.As(actor.Viewer))
			if code != 130 || stdout.Len() > 0 || newest.Status != c.want || newest.Description != nil {
				t.Errorf("%d: %q, %s", code, &stdout, newest.Status)
			}
			inOrder(t, stderr.String(), c.says, "slipway: interrupted")
		})
	}
	t.Run("before it is done", func(t *testing.T) {
		t.Parallel()
		s := newStock(t)
		before := s.Rows(t)
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		stderr := &watched{on: "~ /image", do: interrupt}
		code := s.home(t, s.Acme.Tokens[actor.Developer]).execute(ctx, io.Discard, stderr, "deploy", "shop/production/web", "--set", "image=web:2")
		if after := s.Rows(t); code != 130 || after["deployments"] != before["deployments"] {
			t.Errorf("%d: %d deployments, %s", code, after["deployments"], stderr.String())
		}
	})
}

// watched is standard error that does something once when a text has come.
type watched struct {
	mu   sync.Mutex
	seen bytes.Buffer
	on   string
	do   func()
}

func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.seen.Write(b)
	if w.do != nil && strings.Contains(w.seen.String(), w.on) {
		w.do()
		w.do = nil
	}
	return n, err
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen.String()
}

// The network breaks again and again while a program prints: each line comes once, in order, and the end is known.
func TestNoLineIsLostOrDoubledWhenTheConnectionBreaks(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	proxy, url := testkit.NewProxy(t, s.URL, testkit.AcceptAll)
	const lines = 300
	startRunner(t, s.World, func(r *runner, d *ent.Deployment, lease string) {
		for i := range lines {
			r.prints(d, lease, fmt.Sprint("line ", i))
			if i%25 == 0 {
				proxy.Cut()
			}
		}
		r.ends(d, lease, nil)
	})
	h := s.home(t, s.Acme.Tokens[actor.Developer]).with(map[string]string{"SLIPWAY_SERVER": url})
	o := h.run(t, "deploy", "shop/production/web", "--set", "image=web:2")
	if o.code != 0 || !strings.Contains(o.stdout, "SUCCEEDED") {
		t.Fatalf("%d: %q, %s", o.code, o.stdout, o.stderr)
	}
	var got []string
	for line := range strings.Lines(o.stderr) {
		if strings.HasPrefix(line, "line ") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	for i := range lines {
		if i >= len(got) || got[i] != fmt.Sprint("line ", i) {
			t.Fatalf("%d lines, of which number %d is wrong: %q", len(got), i, got[max(0, i-2):min(len(got), i+3)])
		}
	}
	if len(got) != lines {
		t.Errorf("%d lines, want %d", len(got), lines)
	}
}

// A stream on which nothing comes, not even a sign of life, is begun again.
func TestSilentStreamIsBegunAgain(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	d := s.Deploy(t, s.Instance.ID, `{"image":"web:2"}`)
	var streams atomic.Int32
	silent := make(chan struct{})
	t.Cleanup(func() { close(silent) })
	server := answering(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept") == "text/event-stream" && streams.Add(1) <= 2 {
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			select {
			case <-silent:
			case <-r.Context().Done():
			}
			return
		}
		s.Handler().ServeHTTP(w, r)
	})
	h := s.home(t, s.Acme.Tokens[actor.Viewer]).with(map[string]string{"SLIPWAY_SERVER": server.URL})
	h.config.Silence = 50 * time.Millisecond
	stderr := &watched{on: "PENDING", do: func() {}}
	done := make(chan int, 1)
	go func() { done <- h.execute(t.Context(), io.Discard, stderr, "watch", d.ID) }()
	testkit.Eventually(t, "streams are begun again", func() bool { return streams.Load() > 2 })
	s.Finish(t, d, nil)
	if code := <-done; code != 0 {
		t.Errorf("%d: %s", code, stderr.String())
	}
}

// Whoever may not read any more, or what is not there, is told so, and not tried again.
func TestStreamThatIsRefusedEndsTheWait(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.home(t, s.Acme.Tokens[actor.Viewer]).mustFail(t, 5, []string{"slipway:Deployment:NOT_FOUND"}, "watch", "dep_01kb0000000000000000000000")
	s.home(t, s.Globex.Tokens[actor.Viewer]).mustFail(t, 5, []string{"slipway:Deployment:NOT_FOUND"}, "logs", s.last, "--follow")
	s.home(t, s.Acme.Tokens[actor.Viewer]).mustFail(t, 2, []string{"want PROJECT/ENVIRONMENT, or env_…, or PROJECT/ENVIRONMENT/INSTANCE, or inst_…, or dep_…"}, "watch", "shop")
}

func TestLogIsFollowedFromItsLastLines(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	h := s.home(t, s.Acme.Tokens[actor.Viewer])
	d := s.Deploy(t, s.Instance.ID, `{"image":"web:2"}`)
	lease := s.Claim(t, d)
	r := &runner{t, s.World}
	for i := range 250 {
		r.prints(d, lease, fmt.Sprint("line ", i))
	}
	if o := h.run(t, "logs", d.ID, "--tail", "120"); o.code != 0 || !strings.HasPrefix(o.stdout, "line 130\n") || !strings.HasSuffix(o.stdout, "line 249\n") || strings.Count(o.stdout, "\n") != 120 {
		t.Errorf("%d: %q", o.code, o.stdout)
	}
	if o := h.run(t, "logs", d.ID); o.code != 0 || strings.Count(o.stdout, "\n") != 250 {
		t.Errorf("%d: %q", o.code, o.stdout)
	}
	stdout := &watched{on: "line 249\n", do: func() {
		go func() {
			r.prints(d, lease, "line 250")
			r.ends(d, lease, nil)
		}()
	}}
	if code := h.execute(t.Context(), stdout, io.Discard, "logs", "shop/production/web", "-f", "--tail", "2"); code != 0 || stdout.String() != "line 248\nline 249\nline 250\n" {
		t.Errorf("%d: %q", code, stdout.String())
	}
}

// For programs each change of what is watched comes as it is, and the end is the last.
func TestChangesOfADeploymentAreObjectsForPrograms(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	d := s.Deploy(t, s.Instance.ID, `{"image":"web:2"}`)
	h := s.home(t, s.Acme.Tokens[actor.Viewer])
	stdout := &watched{on: `"status":"PENDING"`, do: func() {
		go func() { succeeds(&runner{t, s.World}, d, s.Claim(t, d)) }()
	}}
	code := h.execute(t.Context(), stdout, io.Discard, "watch", d.ID, "-o", "json", "--fields", "status,completedAt")
	lines := strings.Split(strings.TrimSuffix(stdout.String(), "\n"), "\n")
	if code != 0 || lines[0] != `{"status":"PENDING","completedAt":null}` || !strings.HasPrefix(lines[len(lines)-1], `{"status":"SUCCEEDED","completedAt":"`) {
		t.Errorf("%d: %q", code, lines)
	}
	if ends := strings.Count(stdout.String(), "SUCCEEDED"); ends != 1 {
		t.Errorf("%d ends: %q", ends, lines)
	}
}

// Of an environment each change comes as it is, a line each, until the command is interrupted.
func TestEnvironmentIsWatched(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	h := s.home(t, s.Acme.Tokens[actor.Viewer])
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	begun := make(chan struct{})
	server := answering(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept") == "text/event-stream" {
			defer func() { recover() }() //nolint:errcheck // the stream ends
			select {
			case <-begun:
			default:
				close(begun)
			}
		}
		s.Handler().ServeHTTP(w, r)
	})
	h = h.with(map[string]string{"SLIPWAY_SERVER": server.URL})
	stdout := &watched{on: `"status":"SUCCEEDED"`, do: interrupt}
	var deploys sync.WaitGroup
	defer deploys.Wait()
	deploys.Go(func() {
		<-begun
		for ctx.Err() == nil { // until the subscription is there
			s.Finish(t, s.Deploy(t, s.Instance.ID, `{"image":"web:2"}`), nil)
		}
	})
	code := h.execute(ctx, stdout, io.Discard, "watch", "shop/production", "-o", "json")
	if code != 130 {
		t.Errorf("%d: %s", code, stdout.String())
	}
	for line := range strings.Lines(stdout.String()) {
		if !strings.HasPrefix(line, `{"id":"dep_`) || !strings.HasSuffix(line, "}\n") {
			t.Errorf("%q", line)
		}
	}
}
