package server_test

import (
	"net/url"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/pure/gate"
	"slipway/internal/service/rule"
	"slipway/internal/test/worldtest"
)

// What waits is created over REST as ever, and a header tells where it stands.
func TestRESTTellsWhatWaitsAndGoesPastRules(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		source := p.Succeeded(t)
		demand := func(d gate.Demand, overridable bool) string {
			r, _, err := w.Rules.Create(w.Acme.As(actor.Admin), rule.New{Name: "R", EnvironmentID: &p.Environment.ID, Demand: d, Operations: []gate.Operation{gate.Rollback}, Overridable: overridable})
			if err != nil {
				t.Fatal(err)
			}
			return r.ID
		}
		end := func(id string) {
			if _, err := w.Rules.End(w.Acme.As(actor.Admin), id, nil); err != nil {
				t.Fatal(err)
			}
		}
		path := "/deployments/" + source.ID + "/rollback"
		waits := demand(gate.Demand{Kind: &gate.Approvals{Count: 1, Role: actor.Developer}}, true)
		r := w.REST(t, "POST", path, w.Acme.Tokens[actor.Developer], "", nil)
		if r.Status != 201 || r.Header.Get("Slipway-Status") != "AWAITING_APPROVAL" || r.At(t, "data", "completedAt") != nil {
			t.Fatalf("%d %s: %s", r.Status, r.Header.Get("Slipway-Status"), r.Body)
		}
		if got := w.REST(t, "GET", r.Header.Get("Location"), w.Acme.Tokens[actor.Viewer], "", nil); got.Header.Get("Slipway-Status") != "AWAITING_APPROVAL" {
			t.Errorf("%v", got.Header)
		}
		end(waits)
		demand(gate.Demand{Kind: &gate.Freeze{From: time.Now().Add(-time.Hour)}}, true)
		reason := map[string]string{"Slipway-Override-Reason": url.PathEscape("Die Kasse steht, drängt")}
		for role, status := range map[actor.Role]int{actor.Developer: 403, actor.Admin: 201} {
			if r := w.REST(t, "POST", path, w.Acme.Tokens[role], "", reason); r.Status != status {
				t.Errorf("%s: %d %s", role, r.Status, r.Body)
			}
		}
		if r := w.REST(t, "POST", path, w.Acme.Tokens[actor.Admin], "", nil); r.Status != 409 || r.Text(t, "code") != "slipway:Environment:CLOSED" {
			t.Errorf("without a reason: %d %s", r.Status, r.Body)
		}
		for _, bad := range []string{"short", "%zz is no encoding", "%ff%fe%fd%fc%fb%fa%f9%f8%f7%f6"} {
			if r := w.REST(t, "POST", path, w.Acme.Tokens[actor.Admin], "", map[string]string{"Slipway-Override-Reason": bad}); r.Status != 400 {
				t.Errorf("%q: %d %s", bad, r.Status, r.Body)
			}
		}
	})
}
