package cli_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	entdeployment "slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/service/deployment/state"
)

// What a deployment waits for is told beside the result, and again when that changes.
func TestACommandTellsWhatItsDeploymentWaitsFor(t *testing.T) {
	t.Parallel()
	for action, says := range map[string]string{
		"deploy shop/production/web --set image=web:2": "`slipway runner --deployment-types aws:ecs`.",
		"destroy shop/production/web --yes":            "`slipway runner --deployment-types aws:ecs --destroy`.",
		"rollback shop/production/web":                 "`slipway runner --deployment-types aws:ecs`.",
		"redeploy shop/production/web@live":            "`slipway runner --deployment-types aws:ecs`.",
	} {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			s := newStock(t)
			h := s.home(t, s.Acme.Tokens[actor.Admin])
			h.config.Waiting = 5 * time.Millisecond
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			// Somebody asks for work when the command has asked several times.
			var told atomic.Int32
			server := between(t, s.URL, "WaitingFor", func(int32) (refuses bool) {
				if told.Load() > 0 && told.Add(1) == 4 {
					s.asks(t, state.Apply, state.DestroyAction)
				}
				return false
			})
			h.variables["SLIPWAY_SERVER"] = server
			claimed := &watched{on: "A runner is available and claims it within a minute, one of: runner.\n", do: interrupt}
			stderr := io.MultiWriter(claimed, &watched{on: says + "\n", do: func() { told.Store(1) }})

			var stdout bytes.Buffer
			if code := h.execute(ctx, &stdout, stderr, append(strings.Fields(action), "-o", "json", "--timeout", "1m")...); code != 130 || stdout.Len() > 0 {
				t.Errorf("%d: %s", code, &stdout)
			}
			inOrder(t, claimed.String(), "PENDING", "No runner has asked for work", says, "A runner is available")
			if n := strings.Count(claimed.String(), "No runner has asked"); n != 1 {
				t.Errorf("told %d times:\n%s", n, claimed.String())
			}
		})
	}
}

// between stands before a server and calls heard with the number of each request of an operation, which it refuses if heard
// says so: as an older server does that does not know its fields.
func between(t *testing.T, server, operation string, heard func(n int32) (refuses bool)) (url string) {
	t.Helper()
	var requests atomic.Int32
	pass := httputil.NewSingleHostReverseProxy(parsed(t, server))
	pass.FlushInterval = -1
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if strings.Contains(string(body), `"operationName":"`+operation+`"`) && heard(requests.Add(1)) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"errors":[{"message":"Cannot query the field.","extensions":{"code":"slipway:Document:VALIDATION_FAILED"}}]}`)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// older stands before a server and refuses an operation. It counts the refusals.
func older(t *testing.T, server, operation string) (url string, refused *atomic.Int32) {
	t.Helper()
	refused = &atomic.Int32{}
	return between(t, server, operation, func(n int32) bool { refused.Store(n); return true }), refused
}

func parsed(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// writing is what each write calls.
type writing func(text string)

func (w writing) Write(b []byte) (int, error) {
	w(string(b))
	return len(b), nil
}

func TestACommandGoesOnAtAServerThatDoesNotKnowWhatADeploymentWaitsFor(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	server, refused := older(t, s.URL, "WaitingFor")
	h := s.home(t, s.Acme.Tokens[actor.Developer]).with(map[string]string{"SLIPWAY_SERVER": server})
	h.config.Waiting, h.config.Reminder = time.Millisecond, time.Millisecond
	now := time.Now()
	h.config.Now = func() time.Time { return s.clock.Now().Add(time.Since(now)) }

	var reminders atomic.Int32
	stderr := &watched{}
	// The deployment ends a while after the refusal, in which the command could ask again.
	reminded := writing(func(text string) {
		if refused.Load() > 0 && strings.Contains(text, "still PENDING") && reminders.Add(1) == 20 {
			s.Finish(t, s.Store.Client.Deployment.Query().Where(entdeployment.StatusEQ(entdeployment.StatusPENDING)).OnlyX(s.Acme.As(actor.Viewer)), nil)
		}
	})
	code := h.execute(t.Context(), io.Discard, io.MultiWriter(stderr, reminded), "deploy", "shop/production/web", "--set", "image=web:2", "--timeout", "1m")
	if text := stderr.String(); code != 0 || refused.Load() != 1 || strings.Contains(text, "versions") || strings.Contains(text, "Cannot query") {
		t.Errorf("%d, asked %d times:\n%s", code, refused.Load(), text)
	}
}

func TestWhoamiGoesOnAtAServerThatDoesNotKnowWhatAwaitsApproval(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	server, refused := older(t, s.URL, "AwaitingMe")
	h := s.home(t, s.Acme.Tokens[actor.Developer]).with(map[string]string{"SLIPWAY_SERVER": server})
	if out := h.must(t, "whoami", "-o", "json"); refused.Load() != 1 || !strings.Contains(out, `"awaitingMyApproval": null`) {
		t.Errorf("%s", out)
	}
}

func TestRunnersListSaysWhatIsTooOld(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	server, _ := older(t, s.URL, "Runners")
	h := s.home(t, s.Acme.Tokens[actor.Viewer]).with(map[string]string{"SLIPWAY_SERVER": server})
	h.mustFail(t, 5, []string{"The server is older than this program: upgrade the server."}, "runners", "list")
}

func TestWhoamiCountsWhatAwaitsTheApprovalOfTheToken(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	admin := s.home(t, s.Acme.Tokens[actor.Admin])
	admin.must(t, "rules", "create", "--name", "Eyes", "--environment", "shop/production", "--approvals", "1", "--yes")
	s.Fixture.Deploy(t, s.Instance.ID, `{"image":"web:2"}`)
	for role, want := range map[actor.Role]string{actor.Admin: "1\n", actor.Developer: "0\n", actor.Viewer: "0\n"} { // the developer is its author
		if got := s.home(t, s.Acme.Tokens[role]).must(t, "whoami", "--fields", "awaitingMyApproval", "-o", "tsv"); got != want {
			t.Errorf("as %s: %q, want %q", role, got, want)
		}
	}
	if got := s.home(t, s.Superadmin).must(t, "whoami", "--fields", "awaitingMyApproval", "-o", "tsv"); got != "\n" {
		t.Errorf("outside of an organization: %q", got)
	}
}
