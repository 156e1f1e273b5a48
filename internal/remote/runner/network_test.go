package runner_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/fault"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// ledger is a file that programs write to, a line each time that one runs.
func ledger(t *testing.T) (path string, lines func() map[string]int) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "ledger")
	return path, func() map[string]int {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		n := map[string]int{}
		for line := range strings.Lines(string(text)) {
			n[strings.TrimSpace(line)]++
		}
		return n
	}
}

func TestTwoRunnersCarryEachDeploymentOutOnce(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		var ids []string
		for i := range 20 {
			ids = append(ids, p.Deploy(t, p.NewInstance(t, fmt.Sprint("n", i)).ID, `{"image":"web:1"}`).ID)
		}
		path, lines := ledger(t)
		var both sync.WaitGroup
		for range 2 {
			c, _ := config(t, w, `echo "$SLIPWAY_DEPLOYMENT_ID" >>"$LEDGER"; echo done`)
			c.Environ, c.Parallel = append(c.Environ, "LEDGER="+path), 4
			both.Go(func() { once(t, c) })
		}
		both.Wait()
		ran := lines()
		for _, id := range ids {
			if got := read(t, w, id); got.Status != "SUCCEEDED" || ran[id] != 1 {
				t.Errorf("%s: %s, ran %d times", id, got.Status, ran[id])
			}
		}
	})
}

func TestLostRequestsAndAnswersDoubleNothing(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		var ids []string
		for i := range 6 {
			ids = append(ids, p.Deploy(t, p.NewInstance(t, fmt.Sprint("n", i)).ID, `{"image":"web:1"}`).ID)
		}
		between := newProxy(t, w.URL, func(_ string, n int) trouble {
			return []trouble{none, lostAnswer, none, lostRequest, none, badGateway}[n%6]
		})
		path, lines := ledger(t)
		c, _ := config(t, w, `echo "$SLIPWAY_DEPLOYMENT_ID" >>"$LEDGER"; for i in 1 2 3; do echo "line $i"; done; echo '{"report": {"resourceName": "n"}}'; echo end`)
		c.Server, c.Environ, c.Parallel = between.url, append(c.Environ, "LEDGER="+path), 2
		once(t, c)
		ran := lines()
		for _, id := range ids {
			got := read(t, w, id)
			if got.Status != "SUCCEEDED" || ran[id] != 1 || got.ResourceName == nil {
				t.Errorf("%s: %s, ran %d times", id, got.Status, ran[id])
			}
			if said := strings.Join(logs(t, w, id), ","); said != "line 1,line 2,line 3,end" {
				t.Errorf("%s says %s", id, said)
			}
		}
	})
}

func TestServerThatIsAwayForAWhileIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	p := w.Fixture(t, w.Acme, "web")
	between := newProxy(t, w.URL, always(badGateway))
	proceed := filepath.Join(t.TempDir(), "proceed")
	c, _ := config(t, w, `echo started; until [ -e "$PROCEED" ]; do sleep 0.02; done; echo finished`)
	c.Server, c.Environ = between.url, append(c.Environ, "PROCEED="+proceed)
	start(t, c)
	until(t, "it is asked", func() bool { return between.count("claimDeployment") > 1 })
	d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
	between.set(w.URL, always(none))
	says(t, w, d.ID, "started")

	between.set(w.URL, always(lostRequest))
	asked := between.count("reportDeployment")
	if err := os.WriteFile(proceed, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, "it reports in vain", func() bool { return between.count("reportDeployment") > asked+2 })
	// The server that comes back is another process.
	between.set(worldtest.Another(t, w.DatabaseURL).URL, always(none))
	until(t, "it has ended", func() bool { return read(t, w, d.ID).Status == "SUCCEEDED" })
	if said := strings.Join(logs(t, w, d.ID), ","); said != "started,finished" {
		t.Errorf("says %s", said)
	}
}

func TestLeaseOfASilentProgramIsRenewed(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	w.Deploy.Execution.LeaseTime = 6 * time.Second
	p := w.Fixture(t, w.Acme, "web")
	d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
	between := newProxy(t, w.URL, always(none))
	proceed := filepath.Join(t.TempDir(), "proceed")
	c, _ := config(t, w, `until [ -e "$PROCEED" ]; do sleep 0.02; done`)
	c.Server, c.Environ = between.url, append(c.Environ, "PROCEED="+proceed)
	start(t, c)
	// Four renewals are more than the time of a lease.
	until(t, "it is renewed again and again", func() bool { return between.count("renewLease") > 3 })
	if err := os.WriteFile(proceed, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, "it succeeds", func() bool { return read(t, w, d.ID).Status == "SUCCEEDED" })
}

func TestProgramIsStoppedWhereTheLeaseRunsOut(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	w.Deploy.Execution.LeaseTime = 6 * time.Second
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go w.RunHousekeeping(ctx, slog.New(slog.DiscardHandler))
	p := w.Fixture(t, w.Acme, "web")
	d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
	between := newProxy(t, w.URL, always(none))
	pipe, gone := testkit.Lifeline(t)
	c, log := config(t, w, `exec 4>"$ALIVE"; echo started; sleep 600`)
	c.Server, c.Environ = between.url, append(c.Environ, "ALIVE="+pipe)
	start(t, c)
	says(t, w, d.ID, "started")
	between.set(w.URL, always(lostRequest))
	testkit.MustEnd(t, gone)
	until(t, "the server gives it up", func() bool { return read(t, w, d.ID).Status == "FAILED" })
	if got := read(t, w, d.ID); got.Error.Code != string(fault.DeploymentLeaseExpired) {
		t.Errorf("%+v", got.Error)
	}
	until(t, "the runner says why", func() bool { return strings.Contains(log.String(), "the lease ended before") })
	if between.count("completeDeployment") > 0 {
		t.Error("the runner has completed what it had lost")
	}
	between.set(w.URL, always(none))
	again := p.Deploy(t, p.NewInstance(t, "other").ID, `{"image":"web:1"}`)
	until(t, "the runner goes on", func() bool { return read(t, w, again.ID).Status == "RUNNING" })
	if _, err := w.Deploy.Execution.Cancel(w.Acme.As("developer"), again.ID, nil); err != nil {
		t.Fatal(err)
	}
}

// asText is who made a deployment, whose name an older server answers with.
var asText = regexp.MustCompile(`"createdBy":\{"name":("[^"]*")\}`)

func TestServerOfBeforeCancellationRequestsIsAskedForLess(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	p := w.Fixture(t, w.Acme, "web")
	d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
	between := newProxy(t, w.URL, always(none))
	old := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		if strings.Contains(string(body), `"logs":`) {
			_, _ = io.WriteString(to, `{"errors":[{"message":"Variable \"$input.logs\" is not a field of ReportDeploymentInput","path":["variable","input","logs"],"extensions":{"code":"slipway:Document:VARIABLES_INVALID"}}]}`)
			return
		}
		if strings.Contains(string(body), `"wait":`) {
			_, _ = io.WriteString(to, `{"errors":[{"message":"Variable \"$input.wait\" is not a field of ClaimDeploymentInput","path":["variable","input","wait"],"extensions":{"code":"slipway:Document:VARIABLES_INVALID"}}]}`)
			return
		}
		if strings.Contains(string(body), "cancelSeconds") || strings.Contains(string(body), "fence") {
			to.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(to, `{"errors":[{"message":"Cannot query field","extensions":{"code":"slipway:Document:VALIDATION_FAILED"}}]}`)
			return
		}
		// Who did something was a text.
		body = bytes.Replace(body, []byte(`createdBy\n`), []byte(`createdBy{name}\n`), 1)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Del("Accept-Encoding")
		answer := httptest.NewRecorder()
		between.ServeHTTP(answer, r)
		to.WriteHeader(answer.Code)
		_, _ = to.Write(asText.ReplaceAll(answer.Body.Bytes(), []byte(`"createdBy":$1`)))
	}))
	t.Cleanup(old.Close)
	c, _ := config(t, w, `for i in $(seq 150); do echo "line $i"; echo "why $i" >&2; done; echo; echo '{"message": "an event"}'`)
	c.Server = old.URL
	once(t, c)
	var want []string
	for i := range 150 {
		want = append(want, fmt.Sprint("line ", i+1))
	}
	// Lines are messages of events there, as they were.
	if diff := cmp.Diff(append(want, "an event"), messages(t, w, d.ID)); diff != "" || read(t, w, d.ID).Status != "SUCCEEDED" {
		t.Error(diff)
	}
}
