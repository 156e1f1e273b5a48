package cli_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/test/worldtest"
)

// cutter stands before a server and cuts off the answers to what a function picks, once each has been carried out.
func cutter(t *testing.T, w *worldtest.World, cut func(body string) bool) *httptest.Server {
	t.Helper()
	return answering(t, func(out http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		answer := httptest.NewRecorder()
		w.Handler().ServeHTTP(answer, r)
		if cut(string(body)) {
			panic(http.ErrAbortHandler)
		}
		for name, values := range answer.Header() {
			out.Header()[name] = values
		}
		out.WriteHeader(answer.Code)
		_, _ = out.Write(answer.Body.Bytes())
	})
}

func TestWriteWhoseAnswerIsLostIsMadeOnce(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	f := w.Fixture(t, w.Acme, "stock")
	succeeded := f.Succeeded(t)
	var lost atomic.Int32
	s := cutter(t, w, func(body string) bool { return strings.Contains(body, "mutation") && lost.Add(1)%2 == 1 })
	h := newHome(t).at(s.URL, w.Acme.Tokens[actor.Admin])
	h.config.Patience = patience
	path := "stock/production/web"
	for _, command := range []string{
		"projects create shop --name Shop", "environments create shop/prod", "instances create shop/prod/orders --module stock",
		"instances rename shop/prod/orders --name purchases", "instances archive shop/prod/purchases", "instances unarchive shop/prod/purchases",
		"instances delete shop/prod/purchases", "environments rename shop/prod --name Prod --slug live", "environments delete shop/live", "projects delete shop",
		"modules deprecate stock@1.4.0 --reason Old", "modules undeprecate stock@latest",
		"quarantine " + path + "@live --reason Bad", "unquarantine " + path + "@live",
		"rules create --name Eyes --approvals 1", "rules update Eyes --approvals 2", "rules end Eyes",
		"destroy " + path + " --reason Done --wait=false", "cancel " + path + "@last",
	} {
		before := lost.Load()
		if o := h.run(t, append(strings.Fields(command), "--yes")...); o.code != 0 {
			t.Errorf("slipway %s: exit code %d, %s", command, o.code, o.stderr)
		}
		if lost.Load() == before {
			t.Errorf("slipway %s: no answer was lost", command)
		}
		if lost.Load()%2 == 1 { // what was looked for was there
			lost.Add(1)
		}
	}
	if got := h.must(t, "deployments", "list", "-o", "name"); strings.Count(got, "\n") != 2 || !strings.Contains(got, succeeded.ID) {
		t.Errorf("there are the deployments %q", got)
	}
	if got := h.must(t, "rules", "list", "--ended", "-o", "name"); strings.Count(got, "\n") != 1 {
		t.Errorf("there are the rules %q", got)
	}
	quarantines := h.must(t, "api", `{ deployment(id: "`+succeeded.ID+`") { release { quarantines { nodes { id } } } } }`)
	if strings.Count(quarantines, "qua_") != 1 {
		t.Errorf("there were the quarantines %s", quarantines)
	}
}

func TestWriteOfTheAPICommandIsNotRepeated(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	var sent atomic.Int32
	s := cutter(t, w, func(string) bool { sent.Add(1); return true })
	h := newHome(t).at(s.URL, w.Acme.Tokens[actor.Admin])
	h.mustFail(t, 1, []string{"cannot be reached"}, "api", `mutation { createProject(input: {name: "Shop", slug: "shop"}) { project { id } } }`)
	if sent.Load() != 1 {
		t.Errorf("sent %d times", sent.Load())
	}
}
