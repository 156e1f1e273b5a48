package cli_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"slipway/ent"
	entdeployment "slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/module"
	"slipway/internal/service/catalog"
)

// inputs are those of a module whose values are put together in all ways.
const inputs = `[
	{"id":"size","type":"number","label":"Size","max":100,"default":30},
	{"id":"name","type":"string","label":"Name","required":true},
	{"id":"tags","type":"keyvalue","label":"Tags"},
	{"id":"of","type":"$ref:shop","label":"Of"},
	{"id":"rules","type":"object_array","label":"Rules","item_inputs":[{"id":"of","type":"$ref:shop","label":"Of"},{"id":"port","type":"number","label":"Port"}]}
]`

// deployable is an instance of such a module, at shop/production/queue, in the world of a stock.
type deployable struct {
	*stock
	instance *ent.ModuleInstance
}

func newModule(t *testing.T) *deployable {
	t.Helper()
	s := newStock(t)
	admin := s.Acme.As(actor.Admin)
	d, err := s.Catalog.DefinitionByType(admin, "acme/queue")
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = s.Catalog.PublishVersion(admin, module.NewVersion{DefinitionID: d.ID, Version: "1.0.0", Kind: module.DeploymentTypeTerraform, Inputs: strictjson.MustParse(inputs)})
	if err != nil {
		t.Fatal(err)
	}
	i, err := s.Catalog.CreateInstance(admin, catalog.NewInstance{EnvironmentID: s.Environment.ID, DefinitionID: d.ID, Name: "queue"})
	if err != nil {
		t.Fatal(err)
	}
	return &deployable{s, i}
}

// given returns what was given to the newest deployment of the instance.
func (m *deployable) given(t *testing.T) string {
	t.Helper()
	viewer := m.Acme.As(actor.Viewer)
	d := m.Store.Client.Deployment.Query().Where(entdeployment.ModuleInstanceID(m.instance.ID)).Order(ent.Desc(entdeployment.FieldCreatedAt, entdeployment.FieldID)).FirstX(viewer)
	all, err := m.Inputs.GivenInputs(viewer, []string{d.ID})
	if err != nil {
		t.Fatal(err)
	}
	return string(all[d.ID])
}

// Files and flags are put together, and what is not named stays as it was given.
func TestValuesArePutTogether(t *testing.T) {
	t.Parallel()
	m := newModule(t)
	startRunner(t, m.World, func(r *runner, d *ent.Deployment, lease string) { r.ends(d, lease, nil) })
	h := m.home(t, m.Acme.Tokens[actor.Developer])
	base := write(t, "base.yaml", "name: q\ntags: {env: prod, team: a}\nof: ./web\nrules:\n  - {of: shop/production/web, port: 1}\n  - {port: 2}\n")
	over := write(t, "over.yaml", "tags:\n  env: over\n")
	web := m.Instance.ID
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--values", base}, `{"name":"q","tags":{"env":"prod","team":"a"},"of":"` + web + `","rules":[{"of":"` + web + `","port":1},{"port":2}]}`},
		{nil, `{"name":"q","tags":{"env":"prod","team":"a"},"of":"` + web + `","rules":[{"of":"` + web + `","port":1},{"port":2}]}`},
		{[]string{"--set", "size=60", "--set", "of=../production/web"}, `{"name":"q","tags":{"env":"prod","team":"a"},"of":"` + web + `","rules":[{"of":"` + web + `","port":1},{"port":2}],"size":60}`},
		{[]string{"--set-json", `/tags/env="stage"`, "--unset", "/rules/0", "--unset", "/size"}, `{"name":"q","tags":{"env":"stage","team":"a"},"of":"` + web + `","rules":[{"port":2}]}`},
		{[]string{"--unset", "/of", "--set-json", `/rules=[]`}, `{"name":"q","tags":{"env":"stage","team":"a"},"rules":[]}`},
		{[]string{"--values", base, "--values", over, "--set", "name=1,2=3"}, `{"name":"1,2=3","tags":{"env":"over"},"rules":[{"of":"` + web + `","port":1},{"port":2}],"of":"` + web + `"}`},
	} {
		o := h.run(t, append([]string{"deploy", "shop/production/queue", "--logs=false"}, c.args...)...)
		if o.code != 0 {
			t.Fatalf("%q: %d, %s", c.args, o.code, o.stderr)
		}
		if got := m.given(t); got != c.want {
			t.Errorf("%q: given %s\nwant %s", c.args, got, c.want)
		}
	}
	o := h.typing("name: typed\n").run(t, "deploy", "shop/production/queue", "--values", "-", "--wait=false")
	if got := m.given(t); o.code != 0 || got != `{"name":"typed"}` {
		t.Errorf("%d: %s, %s", o.code, got, o.stderr)
	}
}

// A violation stands where its value was written.
func TestViolationsOfADeploymentStandWhereTheyWereWritten(t *testing.T) {
	t.Parallel()
	m := newModule(t)
	h := m.home(t, m.Acme.Tokens[actor.Developer])
	file := write(t, "prod.yaml", "name: q\nsize: 101\nof: ./nothing\n")
	before := m.Rows(t)
	h.mustFail(t, 3, []string{file + ":3:5: /of must be the path or the id of an instance, found \"shop/production/nothing\", which there is not (reference)"}, "deploy", "shop/production/queue", "--values", file)
	file = write(t, "prod.yaml", "name: q\nsize: 101\nrules:\n  - port: x\n")
	says := []string{file + ":2:7: /size must be at most 100, found 101 (max)", file + ":4:11: /rules/0/port must be a whole number"}
	h.mustFail(t, 3, says, "deploy", "shop/production/queue", "--values", file)
	h.mustFail(t, 3, says, "preview", "shop/production/queue", "--values", file)
	h.mustFail(t, 3, []string{"--set size: /size must be at most 100, found 200 (max)"}, "deploy", "shop/production/queue", "--values", file, "--set", "size=200", "--unset", "/rules")
	h.with(map[string]string{"GITHUB_ACTIONS": "true"}).mustFail(t, 3, []string{"::error file=" + file + ",line=2,col=7::/size must be at most 100, found 101 (max)"}, "preview", "shop/production/queue", "--values", file, "-o", "json")
	for _, c := range []struct {
		says string
		args []string
	}{
		{"--set: want ID=TEXT, found \"size\"", []string{"--set", "size"}},
		{"--set size: must be a number", []string{"--set", "size=many"}},
		{"--set nothing: ", []string{"--set", "nothing=1"}},
		{"--set-json /size must be followed by JSON", []string{"--set-json", "/size=many"}},
		{"--unset size must be a JSON Pointer", []string{"--unset", "size"}},
		{"--artifact: want JSON, or @ and a file of JSON", []string{"--artifact", "{"}},
	} {
		h.mustFail(t, 2, []string{c.says}, append([]string{"deploy", "shop/production/queue"}, c.args...)...)
	}
	h.mustFail(t, 1, []string{"no such file"}, "deploy", "shop/production/queue", "--values", "/nothing/here.yaml")
	h.mustFail(t, 5, []string{"acme/queue has no version 9.9.9"}, "deploy", "shop/production/queue", "--version", "9.9.9")
	h.mustFail(t, 5, []string{"slipway:ModuleInstance:NOT_FOUND"}, "deploy", "shop/production/nothing")
	if after := m.Rows(t); after["deployments"] != before["deployments"] {
		t.Errorf("%d deployments, before %d", after["deployments"], before["deployments"])
	}
}

// An instance that is not there is made, once, of the module that is named.
func TestInstanceIsMadeWhereItIsNotThere(t *testing.T) {
	t.Parallel()
	m := newModule(t)
	h := m.home(t, m.Acme.Tokens[actor.Developer])
	args := []string{"deploy", "shop/production/review", "--create", "--module", "acme/queue", "--set", "name=q", "--wait=false"}
	if o := h.run(t, args...); o.code != 0 || !strings.Contains(o.stderr, "  shop/production/review  acme/queue 1.0.0  a new instance") {
		t.Fatalf("%d: %s", o.code, o.stderr)
	}
	i, err := m.Catalog.InstanceByPath(m.Acme.As(actor.Viewer), "shop/production/review")
	if err != nil {
		t.Fatal(err)
	}
	h.mustFail(t, 5, []string{"slipway:Deployment:IN_PROGRESS"}, args...)
	m.Cancel(t, m.Acme, m.Store.Client.Deployment.Query().Where(entdeployment.ModuleInstanceID(i.ID)).OnlyX(m.Acme.As(actor.Viewer)).ID)
	if o := h.run(t, args...); o.code != 0 || strings.Contains(o.stderr, "a new instance") {
		t.Errorf("%d: %s", o.code, o.stderr)
	}
}

// A deployment is bound to what was seen: if another is live by then, nothing is done.
func TestDeploymentIsBoundToWhatWasSeen(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	var changed atomic.Bool
	other := answering(t, func(w http.ResponseWriter, r *http.Request) {
		body := readQuery(t, r)
		if strings.Contains(body, "mutation CreateDeployment") && !changed.Swap(true) {
			s.Finish(t, s.Deploy(t, s.Instance.ID, `{"image":"web:other"}`), nil)
		}
		r.Body = io.NopCloser(strings.NewReader(body))
		s.Handler().ServeHTTP(w, r)
	})
	h := s.home(t, s.Acme.Tokens[actor.Developer]).with(map[string]string{"SLIPWAY_SERVER": other.URL})
	h.mustFail(t, 5, []string{"these changed: live. Make a new plan. (slipway:Deployment:PLAN_MOVED)"}, "deploy", "shop/production/web", "--set", "image=web:2")
	if o := h.run(t, "deploy", "shop/production/web", "--set", "image=web:2", "--wait=false"); o.code != 0 || !strings.Contains(o.stderr, `"web:other" -> "web:2"`) {
		t.Errorf("%d: %s", o.code, o.stderr)
	}
}

// The answer to a creation is lost: the same deployment is found when it is asked for again.
func TestDeploymentWhoseAnswerIsLostIsMadeOnce(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	for _, command := range []string{"deploy shop/production/web --set image=web:2 --wait=false", "rollback shop/production/web --wait=false", "redeploy shop/production/web@live --wait=false"} {
		before := s.Rows(t)["deployments"]
		var lost atomic.Int32
		other := cutter(t, s.World, func(body string) bool { return strings.Contains(body, "mutation") && lost.Add(1) == 1 })
		h := s.home(t, s.Acme.Tokens[actor.Developer]).with(map[string]string{"SLIPWAY_SERVER": other.URL})
		o := h.run(t, strings.Fields(command)...)
		if after := s.Rows(t)["deployments"]; o.code != 0 || after != before+1 || lost.Load() != 2 {
			t.Errorf("slipway %s: %d, %d deployments more, %s", command, o.code, after-before, o.stderr)
		}
		h.must(t, "cancel", "shop/production/web@last")
	}
}

// A file takes the place of the values, and of nothing else: the artifact stays, and where the service is.
func TestFileOfValuesLeavesTheArtifactAndTheService(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	h := s.home(t, s.Acme.Tokens[actor.Developer])
	file := write(t, "values.yaml", "image: web:9\n")
	viewer := s.Acme.As(actor.Viewer)
	for _, kept := range []bool{true, false} {
		if !kept {
			if _, err := s.Raw(t, s.Acme).ExecContext(t.Context(), "UPDATE deployments SET given_from = NULL"); err != nil {
				t.Fatal(err)
			}
		}
		o := h.run(t, "deploy", "shop/production/web", "--values", file, "--wait=false")
		if o.code != 0 || strings.Contains(o.stderr, "artifact") || !strings.Contains(o.stderr, "~ /replicas  3 -> 2 ") {
			t.Fatalf("kept %t: %d, %s", kept, o.code, o.stderr)
		}
		d := s.Store.Client.Deployment.Query().Order(ent.Desc(entdeployment.FieldCreatedAt, entdeployment.FieldID)).FirstX(viewer)
		r := s.Store.Client.Release.GetX(viewer, *d.ReleaseID)
		if !strings.Contains(r.Content, `"inputs":{"image":"web:9","replicas":2}`) || !strings.Contains(r.Content, `"artifact":{"arn":"arn:aws:ecs:`) {
			t.Errorf("kept %t: %s", kept, r.Content)
		}
		if got := d.ServiceArn != nil; got != kept {
			t.Errorf("kept %t: the service stays: %t", kept, got)
		}
		s.Cancel(t, s.Acme, d.ID)
	}
}

// What the server says of the instance when the deployment is made is shown, too.
func TestWarningsOfTheInstanceAreShown(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	drifted := "UPDATE module_instances SET drift_kind = 'CHANGED_OUTSIDE', drift_since = created_at, drift_message = 'Somebody else was here.', drift_deployment_id = live_deployment_id"
	if _, err := s.Raw(t, s.Acme).ExecContext(t.Context(), drifted); err != nil {
		t.Fatal(err)
	}
	o := s.home(t, s.Acme.Tokens[actor.Developer]).run(t, "deploy", "shop/production/web", "--set", "image=web:2", "--wait=false")
	if o.code != 0 || strings.Count(o.stderr, "warning: The instance has drifted: Somebody else was here.\n") != 1 {
		t.Errorf("%d: %s", o.code, o.stderr)
	}
}

func TestWhatWasGivenAndIsNotKeptIsAskedFor(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	if _, err := s.Raw(t, s.Acme).ExecContext(t.Context(), "UPDATE deployments SET given_from = NULL"); err != nil {
		t.Fatal(err)
	}
	h := s.home(t, s.Acme.Tokens[actor.Developer])
	h.mustFail(t, 5, []string{"is not kept: give --values; slipway values --instance shop/production/web writes them"}, "deploy", "shop/production/web")
}

func TestPreviewIsAComment(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	h := s.home(t, s.Acme.Tokens[actor.Viewer])
	got := h.must(t, "preview", "shop/production/web", "--set", "image=a|`b`", "--artifact", `{"arn":"arn:x","revision":8,"definition":{}}`, "-o", "markdown")
	golden(t, "preview-markdown", got)
	if dry := h.must(t, "deploy", "shop/production/web", "--dry-run", "--set", "image=a|`b`", "--artifact", `{"arn":"arn:x","revision":8,"definition":{}}`, "-o", "markdown"); dry != got {
		t.Errorf("deploy --dry-run shows %s", dry)
	}
	h.mustFail(t, 2, []string{"-o markdown is for --dry-run"}, "deploy", "shop/production/web", "-o", "markdown")
}
