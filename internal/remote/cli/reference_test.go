package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// history is an instance and what was deployed to it.
type history struct {
	*worldtest.Fixture
	w *worldtest.World
	*home
}

func newHistory(t *testing.T) *history {
	t.Helper()
	w := worldtest.New(t, worldtest.SQLite(t))
	return &history{w.Fixture(t, w.Acme, "shop"), w, newHome(t).at(w.URL, w.Acme.Tokens[actor.Admin])}
}

func (h *history) deploy(t *testing.T, image string, failure *fault.Data) string {
	t.Helper()
	return h.Finish(t, h.Deploy(t, h.Instance.ID, fmt.Sprintf(`{"image":%q}`, image)), failure).ID
}

// rollback rolls back to a deployment, and has that succeed.
func (h *history) rollback(t *testing.T, to string) string {
	t.Helper()
	d, _, err := h.w.Deploy.Propose.Rollback(h.w.Acme.As(actor.Developer), propose.Replay{SourceID: to})
	if err != nil {
		t.Fatal(err)
	}
	return h.Finish(t, d, nil).ID
}

func (h *history) id(t *testing.T, ref string) string {
	t.Helper()
	return strings.TrimSpace(h.must(t, "deployments", "show", ref, "-o", "name"))
}

func TestPreviousGoesBackStepByStep(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	const live, last, previous = "shop/production/web@live", "shop/production/web@last", "shop/production/web@previous"
	h.mustFail(t, 5, []string{"never had a deployment"}, "deployments", "show", last)
	h.mustFail(t, 5, []string{"nothing is live at shop/production/web"}, "deployments", "show", live)
	h.mustFail(t, 5, []string{"nothing is live at shop/production/web"}, "deployments", "show", previous)

	one := h.deploy(t, "web:1", nil)
	h.mustFail(t, 5, []string{"shop/production/web has no earlier release"}, "deployments", "show", previous)
	two := h.deploy(t, "web:2", nil)
	h.deploy(t, "web:broken", &fault.Data{Code: string(fault.DeploymentFailed), Message: "No."})
	h.deploy(t, "web:3", nil)
	again := h.deploy(t, "web:3", nil) // the same release once more
	for ref, want := range map[string]string{live: again, last: again, previous: two} {
		if got := h.id(t, ref); got != want {
			t.Errorf("%s is %s, want %s", ref, got, want)
		}
	}
	// Two rollbacks go two steps back.
	forth := h.rollback(t, two)
	if got := h.id(t, previous); got != one {
		t.Errorf("after a rollback %s is %s, want %s", previous, got, one)
	}
	back := h.rollback(t, one)
	h.mustFail(t, 5, []string{"has no earlier release"}, "deployments", "show", previous)
	// What is quarantined is no place to go back to.
	h.deploy(t, "web:4", nil)
	if got := h.id(t, previous); got != back {
		t.Errorf("%s is %s, want %s", previous, got, back)
	}
	h.must(t, "quarantine", back, "--reason", "Bad", "--yes")
	if got := h.id(t, previous); got != forth {
		t.Errorf("%s is %s, want %s", previous, got, forth)
	}
}

func TestModulesAndVersionsByName(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	show := func(ref, fields string) string {
		return strings.TrimSpace(h.must(t, "modules", "show", ref, "--fields", fields, "-o", "tsv"))
	}
	for _, ref := range []string{"shop@1.4.0", "shop@latest", h.Version.ID, h.Definition.ID + "@latest"} {
		if got := show(ref, "id"); got != h.Version.ID {
			t.Errorf("%s is %s", ref, got)
		}
	}
	for _, ref := range []string{"shop", h.Definition.ID} {
		if got := show(ref, "id,latestVersion"); got != h.Definition.ID+"\t1.4.0" {
			t.Errorf("%s is %s", ref, got)
		}
	}
	// The organization's module goes before a global one of the same type.
	root := newHome(t).at(h.w.URL, h.w.Superadmin)
	for _, moduleType := range []string{"shop", "global"} {
		root.must(t, "api", `mutation($type: String!) { createModuleDefinition(input: {name: "G", type: $type, status: ACTIVE}) { moduleDefinition { id } } }`, "--var", "type="+moduleType, "--organization", "global")
	}
	if got := show("shop", "id"); got != h.Definition.ID {
		t.Errorf("shop is %s", got)
	}
	if got := show("global", "type,organizationId"); got != "global" {
		t.Errorf("global is %q", got)
	}
	h.mustFail(t, 5, []string{"global has no published version"}, "modules", "show", "global@latest")
}

func TestWhatIsArchivedIsFoundByItsName(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.must(t, "instances", "archive", "shop/production/web")
	h.mustFail(t, 5, []string{"ModuleInstance:NOT_FOUND"}, "instances", "show", "shop/production/web")
	h.must(t, "instances", "unarchive", "shop/production/web")
	h.must(t, "instances", "show", "shop/production/web")

	h.must(t, "environments", "archive", "shop/production")
	h.must(t, "environments", "create", "shop/production")
	h.must(t, "environments", "archive", "shop/production")
	h.mustFail(t, 5, []string{"several environments are archived as shop/production: name one by its id, env_", h.Environment.ID}, "environments", "unarchive", "shop/production")
	h.must(t, "environments", "unarchive", h.Environment.ID)
	h.must(t, "projects", "archive", "shop")
	h.must(t, "projects", "unarchive", "shop")
	h.mustFail(t, 5, []string{"Project:NOT_FOUND"}, "projects", "unarchive", "sho")
}
