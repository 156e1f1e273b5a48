package paritytest_test

import (
	"cmp"
	"maps"
	"net/http"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/test/worldtest"
)

// terms are what a replay takes beyond its source: over REST in headers, over GraphQL in its input.
type terms struct {
	// live is the deployment that the caller takes for the live one, key the idempotency key; nil ones are
	// left out.
	live, key *string
	// header is how REST spells the key; as it is where this is empty.
	header string
}

// with returns the replay with its terms.
func (o operation) with(t terms) operation {
	o.headers = map[string]string{}
	if t.live != nil {
		o.headers["Expected-Live-Deployment"] = *t.live
	}
	if t.header != "" {
		o.headers["Idempotency-Key"] = t.header
	} else if t.key != nil {
		o.headers["Idempotency-Key"] = *t.key
	}
	o.input = func(id, _ string) any {
		return map[string]any{"input": map[string]any{"id": id, "expectedLiveDeploymentId": t.live, "idempotencyKey": t.key}}
	}
	return o
}

// replays are the operations that create a deployment from an earlier one.
var replays = []operation{rollback, redeploy}

func TestExpectingTheLiveDeploymentIsEnoughOnBothSurfaces(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, developer := w.Fixture(t, w.Acme, "web"), w.Acme.Tokens[actor.Developer]
		target := p.Succeeded(t)
		live := p.Finish(t, p.Deploy(t, p.Instance.ID, `{"image":"web:2"}`), nil)
		for _, o := range replays {
			o = o.with(terms{live: &live.ID})
			w.Cancel(t, w.Acme, o.rest(t, w, developer, target.ID, "").Text(t, "data", "id"))
			w.Cancel(t, w.Acme, o.graphQL(t, w, developer, target.ID, "").Text(t, append(o.at, "id")...))
		}
	})
}

func TestHeadersOfAReplayAreGivenOnce(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		source := w.Fixture(t, w.Acme, "web").Succeeded(t)
		writesNothing(t, w, func() {
			for _, o := range replays {
				for header, value := range map[string]string{"Idempotency-Key": "k", "Expected-Live-Deployment": source.ID} {
					r, err := http.NewRequestWithContext(t.Context(), o.method, w.URL+strings.Replace(o.path, "{id}", source.ID, 1), http.NoBody)
					if err != nil {
						t.Fatal(err)
					}
					r.Header = http.Header{header: {value, value}, "Authorization": {"Bearer " + w.Acme.Tokens[actor.Developer]}}
					answer, err := http.DefaultClient.Do(r)
					if err != nil {
						t.Fatal(err)
					}
					found := worldtest.Response{Status: answer.StatusCode, Header: answer.Header, Body: body(t, answer)}
					if found.Status != http.StatusBadRequest || found.Code(t) != string(fault.RequestInvalid) ||
						!strings.Contains(found.Text(t, "message"), header+" may be given once; found 2") {
						t.Errorf("%s, %s twice: status %d: %s", o.name, header, found.Status, found.Body)
					}
				}
			}
		})
	})
}

// TestOfSeveralReasonsTheFirstIsAnswered makes one more thing wrong in each step, and wants that to be answered.
func TestOfSeveralReasonsTheFirstIsAnswered(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, token := w.Fixture(t, w.Acme, "web"), w.Acme.Tokens[actor.Developer]
		used := rollback.with(terms{key: new("used")}).rest(t, w, token, p.Succeeded(t).ID, "").Text(t, "data", "id")
		w.Cancel(t, w.Acme, used)
		source := p.Finish(t, p.Deploy(t, p.Instance.ID, `{"image":"web:2"}`), nil)
		release, asked := *source.ReleaseID, source.ID
		with := terms{live: new(absent(source.ID))}
		for _, step := range []struct {
			wrong func()
			// code is what a rollback is refused with, redeploy what a redeploy is, where that differs.
			code, redeploy fault.Code
		}{
			{func() {}, fault.DeploymentLiveChanged, ""},
			{func() { running(t, p) }, fault.DeploymentInProgress, ""},
			{func() { quarantine(t, w, release, "") }, fault.ReleaseQuarantined, ""},
			{func() { tamper(t, w, w.Acme, `UPDATE releases SET content = '{}' WHERE id = $1`, release) }, fault.ReleaseDigestMismatch, ""},
			{func() { tamper(t, w, w.Acme, `UPDATE deployments SET release_id = NULL WHERE id = $1`, source.ID) }, fault.ReleaseUnavailable, ""},
			{func() { tamper(t, w, w.Acme, `UPDATE deployments SET status = 'FAILED' WHERE id = $1`, source.ID) },
				fault.DeploymentTargetNotSucceeded, fault.ReleaseUnavailable},
			{func() { with.key = new("used") }, fault.RequestIdempotencyReused, ""},
			{func() { with.key, token = nil, w.Acme.Tokens[actor.Viewer] }, fault.DeploymentForbidden, ""},
			{func() { asked = absent(source.ID) }, fault.DeploymentNotFound, ""},
			{func() { with.key, with.header = new(" "), `" "` }, fault.RequestInvalid, ""},
			{func() { token = "" }, fault.RequestUnauthenticated, ""},
		} {
			step.wrong()
			writesNothing(t, w, func() {
				rollback.with(with).refused(t, w, token, asked, "", step.code)
				redeploy.with(with).refused(t, w, token, asked, "", cmp.Or(step.redeploy, step.code))
			})
		}
	})
}

// wants compares a refusal with what it is to say beside its message, which is for people.
func wants(t *testing.T, name string, want, found map[string]any) {
	t.Helper()
	found = maps.Clone(found)
	if message, _ := found["message"].(string); message == "" {
		t.Errorf("%s has no message", name)
	}
	delete(found, "message")
	if diff := gocmp.Diff(want, found); diff != "" {
		t.Errorf("%s: wanted (-), found (+):\n%s", name, diff)
	}
}
