package cli_test

import (
	"slices"
	"strings"
	"testing"

	"slipway/ent"
	"slipway/internal/base/actor"
)

// promotable returns a world where what was deployed to shop/production/queue can be promoted to shop/live/queue, whose own
// input is size.
func promotable(t *testing.T) *deployable {
	t.Helper()
	m := newModule(t)
	startRunner(t, m.World, func(r *runner, d *ent.Deployment, lease string) { r.ends(d, lease, nil) })
	h := m.home(t, m.Acme.Tokens[actor.Admin])
	h.must(t, "deploy", "shop/production/queue", "--set", "name=q", "--set", "size=10", "--set", `of=shop/production/web`, "--logs=false")
	h.must(t, "environments", "create", "shop/live")
	h.must(t, "instances", "create", "shop/live/queue", "--module", "acme/queue")
	h.must(t, "instances", "create", "shop/live/web", "--module", "shop")
	to := h.must(t, "instances", "show", "shop/live/queue", "--fields", "id", "-o", "tsv")
	h.must(t, "api", `mutation { updateModuleInstance(input: {id: "`+strings.TrimSpace(to)+`", ownInputs: ["size"]}) { moduleInstance { id } } }`)
	return m
}

func TestPromotionBringsWhatWorksElsewhere(t *testing.T) {
	t.Parallel()
	m := promotable(t)
	h := m.home(t, m.Acme.Tokens[actor.Developer])
	args := []string{"promote", "shop/production/queue@live", "shop/live/queue", "--set", "size=20", "--reason", "Tested."}
	before := m.Rows(t)["deployments"]
	dry := h.must(t, append(slices.Clone(args), "--dry-run")...)
	inOrder(t, dry, "shop/live/queue  acme/queue 1.0.0  of dep_", "nothing is live", `+ /name  "q"`, "+ /size  20", "differences from the promoted release:", "~ /of ", "~ /size  10 -> 20")
	if m.Rows(t)["deployments"] != before {
		t.Error("a dry run has made a deployment")
	}
	o := h.run(t, append(args, "--logs=false")...)
	if o.code != 0 || !strings.HasSuffix(o.stdout, "\n") || !strings.Contains(o.stdout, "SUCCEEDED") {
		t.Fatalf("%d: %s; %s", o.code, o.stdout, o.stderr)
	}
	inOrder(t, o.stderr, "as developer (DEVELOPER)", "differences from the promoted release:")
	got := h.must(t, "deployments", "show", "shop/live/queue@live", "--fields", "triggerSource,reason,promotedFrom.moduleInstance.environment.slug,release.inputs", "-o", "tsv")
	web := strings.TrimSpace(h.must(t, "instances", "show", "shop/live/web", "--fields", "id", "-o", "tsv"))
	if !strings.HasPrefix(got, "promotion\tTested.\tproduction\t") || !strings.Contains(got, `"of":"`+web+`"`) {
		t.Errorf("it shows %s", got)
	}
	again := h.must(t, "promote", "shop/production/queue@live", "shop/live/queue", "--dry-run")
	if !strings.Contains(again, "no change to the live deployment") {
		t.Errorf("what is the instance's own has not stayed: %s", again)
	}
}

func TestPromotionThatIsRefused(t *testing.T) {
	t.Parallel()
	m := promotable(t)
	h := m.home(t, m.Acme.Tokens[actor.Developer])
	file := write(t, "own.yaml", "size: 5\nname: other\n")
	h.mustFail(t, 3, []string{file + ":2:7: /name ", "(not_own)"}, "promote", "shop/production/queue@live", "shop/live/queue", "--values", file)
	h.mustFail(t, 5, []string{"must be another instance"}, "promote", "shop/production/queue@live", "shop/production/queue")
	h.mustFail(t, 5, []string{"must be an instance of the module"}, "promote", "shop/production/queue@live", "shop/live/web")
	h.mustFail(t, 5, []string{"slipway:Deployment:TARGET_NOT_SUCCEEDED"}, "promote", "shop/production/web@last", "shop/live/web")
	h.mustFail(t, 2, []string{"want DEPLOYMENT INSTANCE, found \"shop/production/queue@live\""}, "promote", "shop/production/queue@live")
	m.home(t, m.Acme.Tokens[actor.Viewer]).mustFail(t, 4, []string{"FORBIDDEN"}, "promote", "shop/production/queue@live", "shop/live/queue")
	m.demandIn(t, nil, approvals(1))
	if o := h.run(t, "promote", "shop/production/queue@live", "shop/live/queue"); o.code != 8 {
		t.Errorf("%d: %s; %s", o.code, o.stdout, o.stderr)
	}
	o := m.home(t, m.Acme.Tokens[actor.Admin]).run(t, "promote", "shop/production/queue@live", "shop/live/queue", "--override-reason", "It cannot wait.", "--yes", "--wait=false", "-o", "tsv", "--fields", "status")
	if o.code != 0 || o.stdout != "PENDING\n" {
		t.Errorf("%d: %s; %s", o.code, o.stdout, o.stderr)
	}
}
