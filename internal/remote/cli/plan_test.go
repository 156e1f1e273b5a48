package cli_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/pure/gate"
)

// A dry run of whatever makes a deployment says what would come of it, and does nothing.
func TestDryRunSaysWhatWouldComeOfIt(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	h := s.home(t, s.Acme.Tokens[actor.Admin])
	before := s.Rows(t)
	says := map[string]string{
		"deploy shop/production/web --set image=web:2": `~ /image  "web:1.4.2" -> "web:2"`,
		"rollback shop/production/web":                 `~ /image     "web:1.4.2" -> "web:1.4.1"`,
		"redeploy shop/production/web@live":            "no change to the live deployment",
		"destroy shop/production/web --yes":            "destroys what is live",
	}
	for command, differs := range says {
		if got := h.must(t, append(strings.Fields(command), "--dry-run")...); !strings.Contains(got, differs) || strings.Contains(got, "it would") {
			t.Errorf("slipway %s: %s", command, got)
		}
	}
	s.demand(t, approvals(1))
	for command, differs := range says {
		args := append(strings.Fields(command), "--dry-run")
		inOrder(t, h.must(t, args...), differs, `Rule "two eyes": 0 of 1 approvals by a developer or admin who is not the author is given.`, "it would wait for approvals")
		if got := h.must(t, append(args, "--override-reason", "The site is down.", "--yes", "-o", "json")...); !strings.Contains(got, `"status": "PENDING"`) {
			t.Errorf("slipway %s with a reason: %s", command, got)
		}
	}
	if after := s.Rows(t); after["deployments"] != before["deployments"] {
		t.Errorf("%d deployments, before %d", after["deployments"], before["deployments"])
	}
}

func TestDryRunSaysWhyItWouldBeRefused(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.demand(t, gate.Demand{Kind: &gate.Freeze{From: s.clock.Now().Add(-time.Hour)}})
	h := s.home(t, s.Acme.Tokens[actor.Admin])
	for _, command := range []string{"deploy shop/production/web --set image=web:2", "rollback shop/production/web", "redeploy shop/production/web@live", "destroy shop/production/web --yes"} {
		args := strings.Fields(command)
		inOrder(t, h.must(t, append(args, "--dry-run")...), "shop 1.4.0", `Rule "two eyes": frozen without an end.`, "it would be refused: ", "(slipway:Environment:CLOSED)")
		h.mustFail(t, 5, []string{", acme, as admin (ADMIN)\n", "slipway:Environment:CLOSED"}, args...)
	}
}

// Whatever makes a deployment is bound to what was seen: if a rule is there by then, nothing is done.
func TestDeploymentIsBoundToTheRulesThatWereSeen(t *testing.T) {
	t.Parallel()
	m := promotable(t)
	var changed atomic.Bool
	other := answering(t, func(w http.ResponseWriter, r *http.Request) {
		body := readQuery(t, r)
		if strings.Contains(body, "mutation ") && !changed.Swap(true) {
			m.demandIn(t, nil, approvals(1))
		}
		r.Body = io.NopCloser(strings.NewReader(body))
		m.Handler().ServeHTTP(w, r)
	})
	h := m.home(t, m.Acme.Tokens[actor.Admin]).with(map[string]string{"SLIPWAY_SERVER": other.URL})
	before := m.Rows(t)["deployments"]
	for _, command := range []string{
		"deploy shop/production/queue --set size=3", "promote shop/production/queue@live shop/live/queue", "rollback shop/production/web", "redeploy shop/production/web@live", "destroy shop/production/web --acknowledge-dependents --yes",
	} {
		changed.Store(false)
		h.mustFail(t, 5, []string{"these changed: rules. Make a new plan. (slipway:Deployment:PLAN_MOVED)"}, strings.Fields(command)...)
	}
	if after := m.Rows(t)["deployments"]; after != before {
		t.Errorf("%d deployments, before %d", after, before)
	}
}

// Who may only read is told what would change, and what is demanded.
func TestViewerSeesWhatWouldChange(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.demand(t, approvals(1))
	h := s.home(t, s.Acme.Tokens[actor.Viewer])
	got := h.must(t, "preview", "shop/production/web", "--set", "replicas=4")
	inOrder(t, got, "shop/production/web  shop 1.4.0  live: 2026-03-01T11:30:00Z by developer", "~ /replicas  3 -> 4", "0 of 1 approvals")
	inOrder(t, h.must(t, "preview", "shop/production/new", "--create", "--module", "shop", "--set", "image=web:1"), "a new instance", "0 of 1 approvals")
	if got := h.must(t, "preview", "shop/production/web"); !strings.Contains(got, "no change to the live deployment") || strings.Contains(got, "refused") {
		t.Errorf("nothing is to change: %s", got)
	}
	h.mustFail(t, 4, []string{"as viewer (VIEWER)\n", "slipway:Deployment:FORBIDDEN"}, "deploy", "shop/production/web", "--set", "replicas=4")
}

func TestAdminGoesPastRules(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.demand(t, approvals(1))
	for _, command := range []string{"deploy shop/production/web --set image=web:2", "rollback shop/production/web", "redeploy shop/production/web@live", "destroy shop/production/web --yes"} {
		args := append(strings.Fields(command), "--wait=false", "--override-reason", "The site is down.", "--yes")
		s.home(t, s.Acme.Tokens[actor.Developer]).mustFail(t, 4, []string{"FORBIDDEN"}, args...)
		if got := s.home(t, s.Acme.Tokens[actor.Admin]).must(t, args...); !strings.HasSuffix(got, "  PENDING\n") {
			t.Errorf("slipway %s: %s", command, got)
		}
		if d := s.newest(t); d.Override == nil || d.Override.Reason != "The site is down." {
			t.Errorf("slipway %s: %+v", command, d.Override)
		}
		s.Cancel(t, s.Acme, s.newest(t).ID)
	}
}
