package server_test

import (
	"bufio"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/edge/httpx"
	"slipway/internal/pure/runlog"
	"slipway/internal/service/account"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// firstEvent returns what an operation is answered first over server-sent events.
func firstEvent(t *testing.T, w *worldtest.World, token, organization, query string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL+"/graphql", strings.NewReader(`{"query":"`+strings.ReplaceAll(query, `"`, `\"`)+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if organization != "" {
		r.Header.Set(httpx.OrganizationHeader, organization)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return event(t, bufio.NewReader(resp.Body))
}

func TestWhatIsFollowedIsOfTheOrganizationAndForWhoMayRead(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, runner := w.Fixture(t, w.Acme, "web"), w.Acme.As(actor.Runner)
		elsewhere := &actor.Scope{Projects: []string{w.Fixture(t, w.Acme, "other").Project.ID}}
		head := func() string {
			c, err := w.Deploy.View.Feed.Head(w.Acme.As(actor.Viewer))
			if err != nil {
				t.Fatal(err)
			}
			return c.String()
		}
		earlier := p.Succeeded(t)
		settled := func(id string) {
			testkit.Eventually(t, "the changes are settled", func() bool {
				last, err := w.Store.LastChange(w.Acme.As(actor.Viewer))
				return err == nil && last != nil && last.DeploymentID == id && last.Kind == "COMPLETED"
			})
		}
		settled(earlier.ID)
		after := head()
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:2"}`)
		lease := p.Claim(t, d)
		if _, _, err := w.Deploy.Execution.Report(runner, d.ID, lease, execution.Report{Logs: []runlog.Line{{Stream: runlog.Stdout, Text: "printed by acme"}}}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Deploy.Execution.End(runner, d.ID, lease, execution.Completion{}); err != nil {
			t.Fatal(err)
		}
		settled(d.ID)

		const allowed = ""
		operations := []struct{ name, query, shows string }{
			{"deploymentChanged", `subscription { deploymentChanged(id: "` + d.ID + `") { deployment { id } } }`, d.ID},
			{"deploymentChanged after", `subscription { deploymentChanged(id: "` + d.ID + `", after: "` + after + `") { deployment { id } } }`, d.ID},
			{"deploymentsChanged", `subscription { deploymentsChanged(after: "` + after + `") { deployment { id } } }`, d.ID},
			{"deploymentLogs", `subscription { deploymentLogs(id: "` + d.ID + `") { lines { text } } }`, "printed by acme"},
			{"logs", `{ deployment(id: "` + d.ID + `") { logs { nodes { text } } } }`, "printed by acme"},
			{"feedCursor", `{ deployments { feedCursor } }`, head()},
		}
		for _, field := range gqlparser.MustLoadSchema(&ast.Source{Input: string(slipway.Schema)}).Subscription.Fields {
			if !slices.ContainsFunc(operations, func(o struct{ name, query, shows string }) bool { return o.name == field.Name }) {
				t.Errorf("the subscription %s is not tried", field.Name)
			}
		}
		for _, c := range []struct {
			caller, token, organization string
			// one is the code for what is asked by an id, all for what is after a cursor, list for lists.
			one, all, list fault.Code
		}{
			{"viewer", w.Acme.Tokens[actor.Viewer], "", allowed, allowed, allowed},
			{"developer", w.Acme.Tokens[actor.Developer], "", allowed, allowed, allowed},
			{"admin", w.Acme.Tokens[actor.Admin], "", allowed, allowed, allowed},
			{"runner", w.Acme.Tokens[actor.Runner], "", allowed, allowed, allowed},
			{"viewer of another place", w.Token(t, w.Acme, account.NewToken{Name: "v", Role: actor.Viewer, Scope: elsewhere}), "", allowed, allowed, allowed},
			{"runner of another place", w.Token(t, w.Acme, account.NewToken{Name: "r", Role: actor.Runner, Scope: elsewhere}), "", allowed, allowed, allowed},
			{"superadmin", w.Superadmin, w.Acme.Slug, allowed, allowed, allowed},
			{"superadmin elsewhere", w.Superadmin, w.Globex.Slug, fault.DeploymentNotFound, fault.FeedCursorExpired, "nothing"},
			{"superadmin of none", w.Superadmin, "", fault.RequestOrganizationNeeded, fault.RequestOrganizationNeeded, fault.RequestOrganizationNeeded},
			{"another organization's admin", w.Globex.Tokens[actor.Admin], "", fault.DeploymentNotFound, fault.FeedCursorExpired, "nothing"},
			{"another organization's runner", w.Globex.Tokens[actor.Runner], "", fault.DeploymentNotFound, fault.FeedCursorExpired, "nothing"},
			{"nobody", "", "", fault.RequestUnauthenticated, fault.RequestUnauthenticated, fault.RequestUnauthenticated},
		} {
			for _, o := range operations {
				want := map[string]fault.Code{"deploymentsChanged": c.all, "feedCursor": c.list, "logs": c.one}[o.name]
				if strings.HasPrefix(o.name, "deploymentChanged") || o.name == "deploymentLogs" {
					want = c.one
				}
				got := firstEvent(t, w, c.token, c.organization, o.query)
				switch shows := strings.Contains(got, `"`+o.shows+`"`) && strings.Contains(got, `"data"`) && !strings.Contains(got, `"errors"`); {
				case want == allowed && !shows:
					t.Errorf("%s: %s is answered %s", c.caller, o.name, got)
				case want == "nothing" && (shows || strings.Contains(got, `"errors"`)):
					t.Errorf("%s: %s is answered %s, want something else", c.caller, o.name, got)
				case want != allowed && want != "nothing" && (shows || !strings.Contains(got, string(want))):
					t.Errorf("%s: %s is answered %s, want %s", c.caller, o.name, got, want)
				}
			}
		}
	})
}
