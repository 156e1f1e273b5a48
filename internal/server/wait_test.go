package server_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/data/page"
	"slipway/internal/edge/gqlhttp/stream"
	"slipway/internal/server"
	"slipway/internal/service/account"
	"slipway/internal/test/worldtest"
)

// waiting is a server with room for one operation, whose callers may have one request in flight each.
type waiting struct {
	*worldtest.World
	p   *worldtest.Fixture
	url string
	api *server.Server
	all sync.WaitGroup
}

// brief is how long a request may take that does not wait, long how long one waits in vain, in seconds.
const (
	brief = 2 * time.Second
	long  = 3
)

func wait(t *testing.T, w *worldtest.World) *waiting {
	t.Helper()
	api := server.New(w.Store, server.Config{
		Log: slog.New(slog.DiscardHandler), Timeout: brief, MaxRequests: 1, MaxOperations: 1, Streams: stream.Config{Recheck: 10 * time.Millisecond, PerCaller: 1},
	})
	s := httptest.NewServer(api)
	x := &waiting{World: w, p: w.Fixture(t, w.Acme, "web"), url: s.URL, api: api}
	t.Cleanup(s.Close)
	t.Cleanup(x.all.Wait)
	return x
}

// answer is what a request was answered with.
type answer struct {
	*http.Response
	text string
}

// begin sends a request, and returns its answer when it comes. Before that another caller's requests are answered.
func (x *waiting) begin(t *testing.T, method, path, token, body string, headers ...string) <-chan answer {
	t.Helper()
	answers := make(chan answer, 1)
	headers = append(headers, "Authorization", "Bearer "+token, "Content-Type", "application/json")
	x.all.Go(func() {
		resp, text := send(t, method, x.url+path, body, headers...)
		answers <- answer{resp, text}
	})
	for range 3 {
		if resp, text := send(t, "GET", x.url+"/module-definitions", "", "Authorization", "Bearer "+x.Acme.Tokens[actor.Admin]); resp.StatusCode != http.StatusOK {
			t.Fatalf("%d %s", resp.StatusCode, text)
		}
	}
	return answers
}

// get is begin for a deployment, from a version on.
func (x *waiting) get(t *testing.T, id, tag string, seconds int) <-chan answer {
	t.Helper()
	return x.begin(t, "GET", "/deployments/"+id, x.Acme.Tokens[actor.Viewer], "", "If-None-Match", tag, "Prefer", fmt.Sprintf("wait=%d", seconds))
}

func TestARequestWaitsUntilTheDeploymentHasChanged(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		x := wait(t, w)
		d := x.p.Deploy(t, x.p.Instance.ID, `{"image":"registry.example/web:1"}`)
		answers := x.get(t, d.ID, `"v1"`, 30)
		if got := <-x.begin(t, "GET", "/deployments/"+d.ID, w.Acme.Tokens[actor.Viewer], ""); got.StatusCode != http.StatusOK {
			t.Errorf("beside the one that waits: %d %s", got.StatusCode, got.text)
		}
		w.Cancel(t, w.Acme, d.ID)
		got := <-answers
		if got.StatusCode != http.StatusOK || got.Header.Get("ETag") != `"v2"` || !strings.Contains(got.text, `"completedAt"`) || got.Header.Get("Preference-Applied") != "wait=30" {
			t.Errorf("%d %v %s", got.StatusCode, got.Header, got.text)
		}
	})
}

func TestARequestThatHasWaitedInVainHasTheSameVersion(t *testing.T) {
	t.Parallel()
	x := wait(t, worldtest.New(t, worldtest.SQLite(t)))
	d := x.p.Deploy(t, x.p.Instance.ID, `{"image":"registry.example/web:1"}`)
	begun := time.Now()
	got := <-x.get(t, d.ID, `"v1"`, long)
	if got.StatusCode != http.StatusNotModified || got.Header.Get("Preference-Applied") != "wait=3" || time.Since(begun) < long*time.Second {
		t.Errorf("%d %v after %v", got.StatusCode, got.Header, time.Since(begun))
	}
}

func TestNobodyWaitsForWhatIsThere(t *testing.T) {
	t.Parallel()
	x := wait(t, worldtest.New(t, worldtest.SQLite(t)))
	d := x.p.Deploy(t, x.p.Instance.ID, `{"image":"registry.example/web:1"}`)
	viewer := x.Acme.Tokens[actor.Viewer]
	for _, c := range []struct {
		path    string
		headers []string
		status  int
		applied string
		text    string
	}{
		{d.ID, []string{"Prefer", "wait=30"}, 200, "wait=30", ""},
		{d.ID, []string{"Prefer", "respond-async, WAIT = \"90\"; x=y, wait=1", "If-None-Match", `"v7"`}, 200, "wait=30", ""},
		{d.ID, []string{"Prefer", "return=minimal", "If-None-Match", `"v1"`}, 304, "", ""},
		{"dep_none", []string{"Prefer", "wait=30", "If-None-Match", `"v1"`}, 404, "", ""},
		{d.ID, []string{"Prefer", "wait=0"}, 400, "", `Prefer: wait must be a number of seconds from 1, of which at most 30 are waited; found \"0\".`},
		{d.ID, []string{"Prefer", "wait", "If-None-Match", `"v1"`}, 400, "", `found \"\".`},
		{d.ID, []string{"Prefer", "wait=-1"}, 400, "", `found \"-1\".`},
	} {
		got := <-x.begin(t, "GET", "/deployments/"+c.path, viewer, "", c.headers...)
		if got.StatusCode != c.status || got.Header.Get("Preference-Applied") != c.applied || !strings.Contains(got.text, c.text) {
			t.Errorf("%v: %d %v %s", c.headers, got.StatusCode, got.Header, got.text)
		}
	}
}

func TestAWaitEndsWithTheServerAndWithItsToken(t *testing.T) {
	t.Parallel()
	x := wait(t, worldtest.New(t, worldtest.SQLite(t)))
	d := x.p.Deploy(t, x.p.Instance.ID, `{"image":"registry.example/web:1"}`)
	revoked := x.get(t, d.ID, `"v1"`, 30)
	admin := x.Acme.As(actor.Admin)
	tokens, err := x.api.Services.Accounts.Tokens(admin, account.TokenFilter{}, page.Args{})
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range tokens.Edges {
		if token.Node.Role == actor.Viewer {
			if _, err := x.api.Services.Accounts.RevokeToken(admin, token.Node.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := <-revoked; got.StatusCode != http.StatusUnauthorized {
		t.Errorf("%d %s", got.StatusCode, got.text)
	}
	stopped := x.begin(t, "GET", "/deployments/"+d.ID, x.Acme.Tokens[actor.Developer], "", "If-None-Match", `"v1"`, "Prefer", "wait=30")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := x.api.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	if got := <-stopped; got.StatusCode != http.StatusNotModified {
		t.Errorf("%d %s", got.StatusCode, got.text)
	}
}

func TestAWaitCountsAsAStream(t *testing.T) {
	t.Parallel()
	x := wait(t, worldtest.New(t, worldtest.SQLite(t)))
	d := x.p.Deploy(t, x.p.Instance.ID, `{"image":"registry.example/web:1"}`)
	viewer := x.Acme.Tokens[actor.Viewer]
	listen(t, x.url, viewer, follow(d.ID))
	got := <-x.get(t, d.ID, `"v1"`, 30)
	if got.StatusCode != http.StatusTooManyRequests || !strings.Contains(got.text, "--max-streams-per-caller") {
		t.Errorf("%d %s", got.StatusCode, got.text)
	}
}

func claimWaiting(fields string) string {
	return `{"query":"mutation { ` + strings.ReplaceAll(fields, `"`, `\"`) + ` }"}`
}

func TestAClaimWaitsForADeployment(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		x := wait(t, w)
		runner, another := x.Acme.Tokens[actor.Runner], w.Token(t, w.Acme, account.NewToken{Name: "another", Role: actor.Runner})
		begun := time.Now()
		claims := x.begin(t, "POST", "/graphql", another, claimWaiting(`claimDeployment(input: {deploymentTypes: ["aws:ecs", "terraform"], wait: 30}) { deployment { id status } lease { waitedSeconds } }`))
		got := <-x.begin(t, "POST", "/graphql", runner, claimWaiting(`claimDeployment(input: {deploymentTypes: ["terraform"], wait: 3}) { deployment { id } lease { id } }`))
		if !strings.Contains(got.text, `{"deployment":null,"lease":null}`) || time.Since(begun) < long*time.Second {
			t.Errorf("after %v: %s", time.Since(begun), got.text)
		}
		d := x.p.Deploy(t, x.p.Instance.ID, `{"image":"registry.example/web:1"}`)
		want := regexp.MustCompile(`\{"id":"` + d.ID + `","status":"RUNNING"\},"lease":\{"waitedSeconds":(\d+)\}`)
		got = <-claims
		atMost := int(time.Since(begun).Seconds())
		waited := want.FindStringSubmatch(got.text)
		if waited == nil {
			t.Fatalf("%d %s", got.StatusCode, got.text)
		}
		if seconds, _ := strconv.Atoi(waited[1]); seconds < long-1 || seconds > atMost {
			t.Errorf("the claim waited for %d s, want %d to %d", seconds, long-1, atMost)
		}
		got = <-x.begin(t, "POST", "/graphql", runner, claimWaiting(`a: claimDeployment(input: {deploymentTypes: [], wait: 31}) { lease { id } } b: claimDeployment(input: {deploymentTypes: ["terraform"], wait: 31}) { lease { id } }`))
		if !strings.Contains(got.text, `"/input/deploymentTypes`) || !strings.Contains(got.text, `/input/wait`) || !strings.Contains(got.text, "must be between 0 and 30 seconds, found 31") {
			t.Errorf("%s", got.text)
		}
	})
}
