package runner_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"slipway/internal/remote/runner/keeper"
	"slipway/internal/test/worldtest"
)

// The first claim is cut off and reaches the server only when the second, which found nothing, has been
// answered: it takes a deployment that the runner has not been told of.
func TestAClaimThatComesLateIsCarriedOutByItsRunner(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	p := w.Fixture(t, w.Acme, "web")
	between := newProxy(t, w.URL, always(none))
	var late, deploymentID string
	claims := 0
	s := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !strings.Contains(string(body), "claimDeployment(") {
			between.ServeHTTP(to, r)
			return
		}
		switch claims++; claims {
		case 1:
			late = string(body)
			panic(http.ErrAbortHandler)
		case 2:
			between.ServeHTTP(to, r)
			deploymentID = p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`).ID
			again := r.Clone(r.Context())
			again.Body = io.NopCloser(strings.NewReader(late))
			between.ServeHTTP(httptest.NewRecorder(), again)
		default:
			between.ServeHTTP(to, r)
		}
	}))
	t.Cleanup(s.Close)
	c, _ := config(t, w, `echo done`)
	c.Server = s.URL
	once(t, c)
	if got := read(t, w, deploymentID); got.Status != "SUCCEEDED" {
		t.Errorf("%s is %s", deploymentID, got.Status)
	}
}

// The claim waits for longer than a lease lasts, by the runner's clock.
func TestLeaseCountsFromWhenAClaimHadWaited(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	w.Deploy.Execution.LeaseTime = 6 * time.Second
	p := w.Fixture(t, w.Acme, "web")
	d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
	between := newProxy(t, w.URL, always(none))
	var later atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		between.ServeHTTP(answer, r)
		body := answer.Body.String()
		if waited := strings.Replace(body, `"waitedSeconds":0,"cancelSeconds":null},"deployment":{`, `"waitedSeconds":20,"cancelSeconds":null},"deployment":{`, 1); waited != body {
			later.Add(int64(20 * time.Second))
			body = waited
		}
		to.WriteHeader(answer.Code)
		_, _ = io.WriteString(to, body)
	}))
	t.Cleanup(s.Close)
	c, _ := config(t, w, `echo done`)
	c.Server, c.StopGrace = s.URL, time.Second
	c.Clock = func() keeper.Instant { return keeper.Now().Add(time.Duration(later.Load())) }
	once(t, c)
	if got := read(t, w, d.ID); got.Status != "SUCCEEDED" || later.Load() != int64(20*time.Second) {
		t.Errorf("%s is %s, %d", d.ID, got.Status, later.Load())
	}
}
