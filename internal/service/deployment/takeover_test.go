package deployment_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// takeOver creates a deployment by what was given to another; more sets the other members.
func takeOver(w *worldtest.World, instanceID, versionID, from string, more func(*propose.New)) (*ent.Deployment, []inputprop.Warning, error) {
	in := propose.New{InstanceID: instanceID, VersionID: versionID, InputsFrom: &from}
	if more != nil {
		more(&in)
	}
	return w.Deploy.Propose.Create(w.Acme.As(actor.Developer), in)
}

// mustTakeOver is takeOver, whose deployment is canceled.
func mustTakeOver(t *testing.T, w *worldtest.World, instanceID, versionID, from string, more func(*propose.New)) (*ent.Deployment, []inputprop.Warning) {
	t.Helper()
	d, warnings, err := takeOver(w, instanceID, versionID, from, more)
	if err != nil {
		t.Fatal(err)
	}
	w.Cancel(t, w.Acme, d.ID)
	return d, warnings
}

// giving returns what sets Inputs and WithoutInputs.
func giving(inputs string, without ...string) func(*propose.New) {
	return func(in *propose.New) {
		if in.WithoutInputs = without; inputs != "" {
			in.Inputs = strictjson.MustParse(inputs)
		}
	}
}

// gave returns what was given for the inputs of a deployment.
func gave(t *testing.T, w *worldtest.World, deploymentID string) string {
	t.Helper()
	given, err := w.Inputs.GivenInputs(w.Acme.As(actor.Viewer), []string{deploymentID})
	if err != nil {
		t.Fatal(err)
	}
	return string(given[deploymentID])
}

func TestManyInstancesAreDeployedByWhatWasGivenToThem(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		newer := newVersion(t, w, p, "2.0.0", strings.Replace(worldtest.Inputs, `"default":2`, `"default":3`, 1))
		for i := range 20 {
			instance := p.NewInstance(t, fmt.Sprint("web-", i))
			given := fmt.Sprintf(`{"image":"web:%d"}`, i)
			first := p.Finish(t, p.Deploy(t, instance.ID, given), nil)
			d, warnings := mustTakeOver(t, w, instance.ID, newer.ID, first.ID, nil)
			if len(warnings) > 0 || gave(t, w, d.ID) != given || *d.GivenFrom != d.ID {
				t.Fatalf("%v, %s", warnings, gave(t, w, d.ID))
			}
			// The default of now, and where it goes, what it ships and what was live.
			r := w.Store.Client.Release.GetX(w.Acme.As(actor.Viewer), *d.ReleaseID)
			if want := fmt.Sprintf(`"inputs":{"image":"web:%d","replicas":3}`, i); !strings.Contains(r.Content, want) {
				t.Errorf("%s, want %s", r.Content, want)
			}
			want := object(t, []byte(w.DataOf(w.Acme, instance.ID)))
			got := object(t, d.Data.JSON())
			for _, key := range []string{"clusterArn", "serviceArn", "preDeployEnabled", "postDeployEnabled"} {
				if got[key] != want[key] {
					t.Errorf("%s is %v, want %v", key, got[key], want[key])
				}
			}
			if diff := cmp.Diff(object(t, []byte(worldtest.Artifact)), got["deployedTaskDefinition"]); diff != "" {
				t.Errorf("%s", diff)
			}
		}
	})
}

func TestWhatIsGivenNowGoesBeforeWhatWasGiven(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		field := func(id string, more string) string {
			return `{"id":"` + id + `","type":"object","label":"L"` + more + `}`
		}
		v := newVersion(t, w, p, "2.0.0", "["+field("a", "")+","+field("b", `,"default":{"d":1}`)+","+field("password", "")+"]")
		lacking := newVersion(t, w, p, "3.0.0", "["+field("a", "")+","+field("renamed", "")+"]")
		held := newVersion(t, w, p, "4.0.0", "["+field("a", `,"immutable":true`)+","+field("b", "")+","+field("password", "")+"]")
		const given = `{"password":{"x":"hunter2"},"b":null,"a":{"n":1.50,"m":[1e2,-0]}}`
		failed := p.Finish(t, create(t, w, p.Instance.ID, v.ID, given), broken)
		live := p.Finish(t, create(t, w, p.Instance.ID, v.ID, `{"a":{"n":2}}`), nil)
		for _, c := range []struct {
			what     string
			version  string
			more     func(*propose.New)
			want     string
			warnings []string
		}{
			{"as it was, of one that failed", v.ID, nil, given, nil},
			{"another value", v.ID, giving(`{"b":{"e":3.0}}`), `{"password":{"x":"hunter2"},"b":{"e":3.0},"a":{"n":1.50,"m":[1e2,-0]}}`, nil},
			{"null is a value", v.ID, giving(`{"a":null}`), `{"password":{"x":"hunter2"},"b":null,"a":null}`, nil},
			{"less", v.ID, giving(``, "b", "password", "b"), `{"a":{"n":1.50,"m":[1e2,-0]}}`, nil},
			{"less than there is", v.ID, giving(`{}`, "c"), given, []string{"/withoutInputs/0 input_not_given"}},
			{"a version that lacks some", lacking.ID, giving(`{"renamed":{}}`), `{"a":{"n":1.50,"m":[1e2,-0]},"renamed":{}}`,
				[]string{"/inputsFromDeploymentId input_dropped", "/inputsFromDeploymentId input_dropped"}},
		} {
			d, warnings := mustTakeOver(t, w, p.Instance.ID, c.version, failed.ID, c.more)
			var got []string
			for _, warning := range warnings {
				got = append(got, warning.Pointer+" "+warning.Rule)
			}
			if diff := cmp.Diff(c.warnings, got); diff != "" || gave(t, w, d.ID) != c.want {
				t.Errorf("%s: %s, want %s: %s", c.what, gave(t, w, d.ID), c.want, diff)
			}
		}
		for what, c := range map[string]struct {
			version string
			more    func(*propose.New)
			code    fault.Code
			want    string
		}{
			"an unknown input of its own": {lacking.ID, giving(`{"b":{}}`), fault.DeploymentInputsInvalid, "/inputs/b"},
			"given and left out":          {v.ID, giving(`{"a":{}}`, "b", "a"), fault.RequestInvalid, "/withoutInputs/1"},
			"inputs that are no object":   {v.ID, giving(`[]`), fault.DeploymentInputsInvalid, "/inputs"},
			"held to what is live":        {held.ID, nil, fault.DeploymentInputsInvalid, "/inputs/a"},
			"too many names":              {v.ID, giving(``, slices.Repeat([]string{"b"}, 1001)...), fault.RequestInvalid, "/withoutInputs"},
		} {
			_, _, err := takeOver(w, p.Instance.ID, c.version, failed.ID, c.more)
			if violations := violationsOf(err); !fault.Is(err, c.code) || len(violations) != 1 || violations[0].Pointer != c.want {
				t.Errorf("%s: %v", what, err)
			}
		}
		if _, warnings := mustTakeOver(t, w, p.Instance.ID, held.ID, live.ID, giving(``, slices.Repeat([]string{"c"}, 1000)...)); len(warnings) != 1 {
			t.Errorf("%v", warnings)
		}
	})
}

func TestOnlyWhatIsKnownOfTheModuleIsTakenOver(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, foreign, other := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Globex, "web"), w.Fixture(t, w.Acme, "other")
		theirs, others, kept := foreign.Succeeded(t), other.Succeeded(t), p.Succeeded(t)
		raw(t, w, `UPDATE deployments SET given_from = NULL WHERE id = '`+kept.ID+`'`)
		for what, c := range map[string]struct {
			from string
			code fault.Code
		}{
			"absent":            {id.New(id.Deployment), fault.DeploymentNotFound},
			"foreign":           {theirs.ID, fault.DeploymentNotFound},
			"no deployment":     {p.Instance.ID, fault.DeploymentNotFound},
			"of another module": {others.ID, fault.RequestInvalid},
			"nothing kept":      {kept.ID, fault.DeploymentInputsUnknown},
		} {
			_, _, err := takeOver(w, p.Instance.ID, p.Version.ID, c.from, nil)
			if !fault.Is(err, c.code) || c.code == fault.RequestInvalid && violationsOf(err)[0].Pointer != "/inputsFromDeploymentId" {
				t.Errorf("%s: %v", what, err)
			}
		}
		for what, c := range map[string]struct {
			in   propose.New
			want string
		}{
			"neither":        {propose.New{}, "/inputs"},
			"names of what?": {propose.New{Inputs: strictjson.MustParse(`{"image":"web:1"}`), WithoutInputs: []string{"image"}}, "/withoutInputs"},
		} {
			c.in.InstanceID, c.in.VersionID, c.in.Artifact = p.Instance.ID, p.Version.ID, strictjson.MustParse(worldtest.Artifact)
			_, _, err := w.Deploy.Propose.Create(w.Acme.As(actor.Developer), c.in)
			if violations := violationsOf(err); len(violations) != 1 || violations[0].Pointer != c.want {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

// What goes to another instance is told anew.
func TestAnotherInstanceTakesOverNeitherItsServiceNorItsResource(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		source := full(t, w, p)
		there, _ := mustTakeOver(t, w, p.Instance.ID, p.Version.ID, source.ID, nil)
		elsewhere, _ := mustTakeOver(t, w, p.NewInstance(t, "other").ID, p.Version.ID, source.ID, nil)
		if there.ResourceArn == nil || *there.ResourceArn != *source.ResourceArn || *there.ResourceName != *source.ResourceName || there.ServiceArn == nil {
			t.Errorf("%v", there)
		}
		if elsewhere.ResourceArn != nil || elsewhere.ResourceName != nil || elsewhere.ServiceArn != nil {
			t.Errorf("%v", elsewhere)
		}
		own, _ := mustTakeOver(t, w, p.Instance.ID, p.Version.ID, source.ID, func(in *propose.New) {
			in.ResourceARN, in.Data, in.Artifact = new("arn:own"), strictjson.MustParse(`{}`), strictjson.MustParse(`{"revision":8}`)
		})
		if data := object(t, own.Data.JSON()); *own.ResourceArn != "arn:own" || own.ServiceArn != nil || data["clusterArn"] != nil ||
			fmt.Sprint(data["deployedTaskDefinition"]) != "map[revision:8]" {
			t.Errorf("%v", data)
		}
	})
}

func TestWhatIsTakenOverIsNoLongerThanWhatMayBeGiven(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		v := newVersion(t, w, p, "2.0.0", `[{"id":"a","type":"object","label":"A"},{"id":"b","type":"object","label":"B"}]`)
		large := func(key string) string {
			texts := make([]string, 15)
			for i := range texts {
				texts[i] = fmt.Sprintf(`"%d":%q`, i, strings.Repeat("x", 9_500))
			}
			return `{"` + key + `":{` + strings.Join(texts, ",") + `}}`
		}
		first := create(t, w, p.Instance.ID, v.ID, large("a"))
		w.Cancel(t, w.Acme, first.ID)
		_, _, err := takeOver(w, p.Instance.ID, v.ID, first.ID, giving(large("b")))
		if violations := violationsOf(err); len(violations) != 1 || violations[0].Rule != "max_size" {
			t.Errorf("%v", err)
		}
		mustTakeOver(t, w, p.Instance.ID, v.ID, first.ID, giving(large("b"), "a"))
	})
}

func TestATakeoverUnderAKeyIsMadeOnce(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		first := p.Finish(t, p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`), nil)
		keyed := func(more func(*propose.New)) func(*propose.New) {
			return func(in *propose.New) {
				in.IdempotencyKey = new("key")
				more(in)
			}
		}
		d, warnings, err := takeOver(w, p.Instance.ID, p.Version.ID, first.ID, keyed(giving("", "none")))
		if err != nil || len(warnings) != 1 {
			t.Fatal(warnings, err)
		}
		again, warnings, err := takeOver(w, p.Instance.ID, p.Version.ID, first.ID, keyed(giving("", "none")))
		if err != nil || again.ID != d.ID || len(warnings) != 0 {
			t.Errorf("%v, %v, %v", again, warnings, err)
		}
		if _, _, err := takeOver(w, p.Instance.ID, p.Version.ID, first.ID, keyed(giving("{}", "none"))); !fault.Is(err, fault.RequestIdempotencyReused) {
			t.Errorf("%v", err)
		}
	})
}
