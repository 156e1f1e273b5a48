package deployment_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/module"
	"slipway/internal/pure/output"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// ended ends a deployment with outputs, in JSON; "" is none.
func ended(w *worldtest.World, d *ent.Deployment, lease, outputs string) (*ent.Deployment, error) {
	var c execution.Completion
	if outputs != "" {
		c.Outputs = strictjson.MustParse(outputs)
	}
	return w.Deploy.Execution.End(w.Acme.As(actor.Runner), d.ID, lease, c)
}

// outputsOf returns the outputs of a deployment, and of its instance, as the API shows them.
func outputsOf(t *testing.T, w *worldtest.World, deploymentID string) (own, live string) {
	t.Helper()
	r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], `query($id: ID!) { deployment(id: $id) { outputs moduleInstance { outputs } } }`, map[string]any{"id": deploymentID})
	if r.At(t, "errors") != nil {
		t.Fatalf("%s", r.Body)
	}
	body, _, _ := strings.Cut(string(r.Body), `,"extensions"`)
	own, live, _ = strings.Cut(strings.TrimPrefix(body, `{"data":{"deployment":{"outputs":`), `,"moduleInstance":{"outputs":`)
	return own, strings.TrimSuffix(live, `}}}`)
}

// told are those of a deployment's events.
func told(t *testing.T, w *worldtest.World, deploymentID string) []string {
	t.Helper()
	r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], `query($id: ID!) { deployment(id: $id) { events { message } } }`, map[string]any{"id": deploymentID})
	list, _ := r.At(t, "data", "deployment", "events").([]any)
	var found []string
	for i := range list {
		found = append(found, r.Text(t, "data", "deployment", "events", i, "message"))
	}
	return found
}

func TestOutputsAreKeptAsTheyWereReported(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		shown := func(what, deploymentID, wantOwn, wantLive string) {
			t.Helper()
			if own, live := outputsOf(t, w, deploymentID); own != wantOwn || live != wantLive {
				t.Errorf("%s: %s, and the instance %s; want %s, and %s", what, own, live, wantOwn, wantLive)
			}
		}
		first := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		lease := p.Claim(t, first)
		shown("while it runs", first.ID, "null", "null")
		const reported = `{"zone":"b","vpc":{"id":"vpc-1","mask":1.50},"none":null,"list":[1e2]}`
		if done, err := ended(w, first, lease, reported); err != nil || done.Status != "SUCCEEDED" || len(told(t, w, first.ID)) > 0 {
			t.Fatal(done, err)
		}
		shown("reported", first.ID, reported, reported)
		for _, again := range []string{`{"zone":"c"}`, "", `[]`} {
			if done, err := ended(w, first, lease, again); err != nil || done.Status != "SUCCEEDED" {
				t.Errorf("again with %s: %v %v", again, done, err)
			}
		}
		shown("reported again", first.ID, reported, reported)
		failed := p.Failed(t)
		shown("failed", failed.ID, "null", reported)
		without := p.Succeeded(t)
		shown("a success without", without.ID, "null", "null")
		replay, _, err := w.Deploy.Propose.Rollback(w.Acme.As(actor.Developer), propose.Replay{SourceID: first.ID})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ended(w, replay, p.Claim(t, replay), `{}`); err != nil {
			t.Fatal(err)
		}
		shown("a replay", replay.ID, "{}", "{}")
		shown("what it replays", first.ID, reported, "{}")
	})
}

func TestOutputsThatDoNotFitAreRefusedAndNothingIsWritten(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		lease := p.Claim(t, d)
		before := w.Rows(t)
		for outputs, want := range map[string]string{
			`{"a":"` + strings.Repeat("x", output.MaxBytes) + `","b.c":1,"d":1}`: "/outputs/a max_size, /outputs/b.c format",
			`["a"]`: "/outputs type",
		} {
			_, err := ended(w, d, lease, outputs)
			if got := violated(err); !fault.Is(err, fault.RequestInvalid) || got != want {
				t.Errorf("%.40s: %s, want %s: %v", outputs, got, want, err)
			}
		}
		made := strictjson.MustParse(`{"a":1}`)
		for _, c := range []execution.Completion{{Failure: broken, Outputs: made}, {Canceled: true, Outputs: made}} {
			_, err := w.Deploy.Execution.End(w.Acme.As(actor.Runner), d.ID, lease, c)
			if got := violated(err); got != "/outputs only_success" {
				t.Errorf("%+v: %s", c, got)
			}
		}
		if _, err := ended(w, d, "lse_of_another", `{"a.b":1}`); !fault.Is(err, fault.DeploymentLeaseLost) {
			t.Errorf("under another lease: %v", err)
		}
		if diff := cmp.Diff(before, w.Rows(t)); diff != "" {
			t.Error(diff)
		}
		if _, err := ended(w, d, lease, `{"a":1}`); err != nil {
			t.Errorf("the lease does not hold: %v", err)
		}
	})
}

// violated returns the violations of an error as "pointer rule, …".
func violated(err error) string {
	f, ok := err.(*fault.Error) //nolint:errorlint // it is one
	if !ok {
		return fmt.Sprint(err)
	}
	var list []string
	for _, v := range f.Violations {
		list = append(list, v.Pointer+" "+v.Rule)
	}
	return strings.Join(list, ", ")
}

func TestWhatIsNotKeptAndWhatIsMissingIsAnEvent(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		declared := []output.Declared{{Name: "url"}, {Name: "license", Secret: true}}
		for i := range 22 {
			declared = append(declared, output.Declared{Name: fmt.Sprint("n", i)})
		}
		for _, kind := range module.DeploymentTypes {
			version, _, err := w.Catalog.PublishVersion(w.Acme.As(actor.Admin), module.NewVersion{DefinitionID: p.Definition.ID,
				Version: "2.0.0-" + strings.ReplaceAll(kind, ":", ""), Kind: kind, Inputs: strictjson.MustParse(`[]`), Outputs: declared})
			if err != nil {
				t.Fatal(err)
			}
			in := propose.New{InstanceID: p.NewInstance(t, strings.ReplaceAll(kind, ":", "-")).ID, VersionID: version.ID, Inputs: strictjson.MustParse(`{}`)}
			if kind == module.DeploymentTypeECS {
				in.Artifact = strictjson.MustParse(worldtest.Artifact)
			}
			d, _, err := w.Deploy.Propose.Create(w.Acme.As(actor.Developer), in)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ended(w, d, p.Claim(t, d), `{"url":"u","license":"L","db_password":"hunter2","n0":0}`); err != nil {
				t.Fatal(err)
			}
			if own, _ := outputsOf(t, w, d.ID); own != `{"url":"u","n0":0}` {
				t.Errorf("%s: kept %s", kind, own)
			}
			var names []string
			for i := range 20 {
				names = append(names, fmt.Sprint("n", i+1))
			}
			want := []string{
				"Outputs that the module version declares were not reported: " + strings.Join(names, ", ") + " and 1 more.",
				"Outputs are not kept because they are secrets: license, db_password.",
			}
			if got := told(t, w, d.ID); !slices.Equal(got, want) {
				t.Errorf("%s: %q\nwant %q", kind, got, want)
			}
			if again, _, err := w.Deploy.Propose.Redeploy(w.Acme.As(actor.Developer), propose.Replay{SourceID: d.ID}); err != nil {
				t.Error(err)
			} else if done := p.Finish(t, again, nil); len(told(t, w, done.ID)) != 1 {
				t.Errorf("%s: without outputs: %q", kind, told(t, w, done.ID))
			}
		}
	})
}

// A completion without outputs takes no statement more than before there were any, whatever its version declares.
func TestACompletionTakesFewStatements(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		p.Succeeded(t)
		const reads = "SELECT deployments, SELECT module_instances, SELECT input_baselines, SELECT releases, SELECT module_versions, "
		const writes = "UPDATE input_baselines, UPDATE module_instances, SELECT module_instances, UPDATE deployments, SELECT deployments, INSERT audit_events deployment_changes"
		for outputs, want := range map[string]string{
			"": reads + writes, `{"a":1}`: strings.Replace(reads+writes, "UPDATE deployments", "INSERT deployment_outputs, UPDATE deployments", 1),
		} {
			d := p.Deploy(t, p.Instance.ID, `{"image":"web:2"}`)
			lease := p.Claim(t, d)
			ran := w.Statements(func() {
				if _, err := ended(w, d, lease, outputs); err != nil {
					t.Fatal(err)
				}
			})
			if strings.HasSuffix(t.Name(), "sqlite") {
				want = strings.ReplaceAll(want, "audit_events deployment_changes", "audit_events, INSERT deployment_changes")
			}
			if got := summary(ran); got != want {
				t.Errorf("%q: %s\nwant %s", outputs, got, want)
			}
		}
	})
}

func TestOutputsThatAreReadAreCharged(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		if _, err := ended(w, d, p.Claim(t, d), `{"a":["`+strings.Repeat(strings.Repeat("x", 10_000)+`","`, 6)+`"]}`); err != nil {
			t.Fatal(err)
		}
		for aliases, wants := range map[int]string{1: "", 29: string(fault.DocumentLimitExceeded)} {
			var query strings.Builder
			for i := range aliases {
				fmt.Fprintf(&query, "a%d: moduleInstance(id: %q) { outputs liveDeployment { outputs } } ", i, p.Instance.ID)
			}
			r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], "{ "+query.String()+"}", nil)
			code, _ := r.At(t, "errors", 0, "extensions", "code").(string)
			used, err := strconv.Atoi(fmt.Sprint(r.At(t, "extensions", "cost", "used")))
			if err != nil {
				t.Fatalf("%s", r.Body)
			}
			if code != wants || aliases == 1 && (used < 560 || used > 620) {
				t.Errorf("%d times: %s, at a cost of %v, want %q", aliases, code, used, wants)
			}
		}
	})
}
