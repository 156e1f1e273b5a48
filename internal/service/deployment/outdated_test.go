package deployment_test

import (
	"fmt"
	"strings"
	"testing"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/strictjson"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// outdated returns what an instance's live deployment has read and is no longer live.
func outdated(t *testing.T, w *worldtest.World, instanceID string) string {
	t.Helper()
	text := shown(t, w, `{ moduleInstance(id: %q) { outdatedReferences { nodes { pointer moduleInstanceId moduleInstance { name } readDeployment { id } liveDeployment { id status } } } } }`, instanceID)
	return strings.TrimSuffix(strings.TrimPrefix(text, `{"moduleInstance":{"outdatedReferences":{"nodes":[`), `]}}}`)
}

func TestAReferenceIsOutdatedWhereOtherValuesAreLive(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		base, p := w.Fixture(t, w.Acme, "base"), w.Fixture(t, w.Acme, "web")
		v := newVersion(t, w, p, "2.0.0", referring)
		deploy := func(image string, replicas int) *ent.Deployment {
			t.Helper()
			return base.Finish(t, base.Deploy(t, base.Instance.ID, fmt.Sprintf(`{"image":%q,"replicas":%d}`, image, replicas)), nil)
		}
		read := deploy("base:1", 2)
		given := fmt.Sprintf(`{"of":%q,"named":{"a":{"of":%[1]q}}}`, base.Instance.ID)
		user := p.Finish(t, create(t, w, p.Instance.ID, v.ID, given), nil)
		at := func(pointer, live string) string {
			if live != "null" {
				live = fmt.Sprintf(`{"id":%q,"status":"SUCCEEDED"}`, live)
			}
			return fmt.Sprintf(`{"pointer":%q,"moduleInstanceId":%q,"moduleInstance":{"name":"web"},"readDeployment":{"id":%q},"liveDeployment":%s}`, pointer, base.Instance.ID, read.ID, live)
		}
		is := func(what string, want ...string) {
			t.Helper()
			if got, want := outdated(t, w, p.Instance.ID), strings.Join(want, ","); got != want {
				t.Errorf("%s: %s, want %s", what, got, want)
			}
		}
		ran := w.Statements(func() { is("just read") })
		if text := strings.Join(ran, "\n"); strings.Contains(text, `"releases"`) {
			t.Errorf("a release is opened where what was read is live: %s", text)
		}
		base.Finish(t, base.Deploy(t, base.Instance.ID, `{"image":"base:2"}`), broken)
		is("another has failed")
		same := deploy("base:1", 2)
		is("the same values")
		other := deploy("base:1", 3)
		is("another of the values", at("/of", other.ID))
		back, _, err := w.Deploy.Propose.Rollback(w.Acme.As(actor.Developer), propose.Replay{SourceID: same.ID})
		if err != nil {
			t.Fatal(err)
		}
		base.Finish(t, back, nil)
		is("rolled back to the values")
		other = deploy("base:2", 2)
		is("another value", at("/of", other.ID))
		again, _, err := w.Deploy.Propose.Redeploy(w.Acme.As(actor.Developer), propose.Replay{SourceID: user.ID})
		if err != nil {
			t.Fatal(err)
		}
		p.Finish(t, again, nil)
		is("a replay ships what was read before", at("/of", other.ID))
		raw(t, w, `UPDATE module_instances SET live_deployment_id = NULL WHERE id = '`+base.Instance.ID+`'`)
		is("nothing is live there", at("/of", "null"), at("/named/a/of", "null"))
		raw(t, w, `UPDATE module_instances SET live_deployment_id = '`+other.ID+`' WHERE id = '`+base.Instance.ID+`'`)
		p.Finish(t, create(t, w, p.Instance.ID, v.ID, given), nil)
		is("deployed anew")
		raw(t, w, `UPDATE deployments SET given_from = NULL WHERE id = '`+again.ID+`'`)
		raw(t, w, `UPDATE module_instances SET live_deployment_id = '`+again.ID+`' WHERE id = '`+p.Instance.ID+`'`)
		is("nothing is kept")
	})
}

func TestAReferenceIsOutdatedWhereOtherOutputsAreLive(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		base, p := w.Fixture(t, w.Acme, "base"), w.Fixture(t, w.Acme, "web")
		v := newVersion(t, w, p, "2.0.0", `[{"id":"of","type":"$ref:base","label":"Of","mapped_inputs":[
			{"id":"vpc","type":"string","label":"VPC","default":"${{ ref.stack.output.vpc }}"}]}]`)
		deploy := func(outputs string) {
			t.Helper()
			d := base.Deploy(t, base.Instance.ID, `{"image":"base:1"}`)
			if _, err := w.Deploy.Execution.End(w.Acme.As(actor.Runner), d.ID, base.Claim(t, d), execution.Completion{Outputs: strictjson.MustParse(outputs)}); err != nil {
				t.Fatal(err)
			}
		}
		is := func(what string, want int) {
			t.Helper()
			if got := strings.Count(outdated(t, w, p.Instance.ID), `"pointer":"/of"`); got != want {
				t.Errorf("%s: %s", what, outdated(t, w, p.Instance.ID))
			}
		}
		deploy(`{"vpc":"vpc-1","other":1}`)
		given := fmt.Sprintf(`{"of":%q}`, base.Instance.ID)
		p.Finish(t, create(t, w, p.Instance.ID, v.ID, given), nil)
		deploy(`{"other":2,"vpc":"vpc-1"}`)
		is("the same output", 0)
		deploy(`{"vpc":"vpc-2"}`)
		is("another output", 1)
		deploy(`{}`)
		is("no output", 1)
		p.Finish(t, create(t, w, p.Instance.ID, v.ID, given), nil)
		is("deployed without it", 0)
		deploy(`{"vpc":"vpc-3"}`)
		is("reported by now", 1)
	})
}

func TestOutdatedReferencesAreReadTogether(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		base, p := w.Fixture(t, w.Acme, "base"), w.Fixture(t, w.Acme, "web")
		v := newVersion(t, w, p, "2.0.0", referring)
		base.Succeeded(t)
		for i := range 5 {
			p.Finish(t, create(t, w, p.NewInstance(t, fmt.Sprint("user-", i)).ID, v.ID, fmt.Sprintf(`{"of":%q}`, base.Instance.ID)), nil)
		}
		base.Finish(t, base.Deploy(t, base.Instance.ID, `{"image":"base:2"}`), nil)
		ran := w.Statements(func() {
			text := shown(t, w, `{ moduleInstances(first: 10) { nodes { outdatedReferences { nodes { pointer moduleInstance { name } readDeployment { status } liveDeployment { status } } } } } }`)
			if n := strings.Count(text, `"pointer":"/of"`); n != 5 {
				t.Errorf("%d: %s", n, text)
			}
		})
		if len(ran) > 8 { // the token, the page, two for the references, one for what is live, three for what they lead to
			t.Errorf("%d statements: %s", len(ran), summary(ran))
		}
	})
}
