package inputvalidation_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/strictjson"
	"slipway/internal/service/inputvalidation"
	"slipway/internal/test/worldtest"
)

// shop has what a deployment completes: defaults, templates, conditions and computed keys.
var shop = "[" + input("name", "string", `"default":"${{ organization.slug }}/${{ project.slug }}/${{ environment.slug }}/${{ module.version }}"`) + "," +
	input("public", "boolean", `"default":false`) + "," +
	input("host", "string", `"required":true,"show_when":{"public":true}`) + "," +
	input("zones", "string_array", `"default":["a"]`) + "," +
	input("services", "object_map", `"item_inputs":[`+input("name", "string", "")+","+input("port", "number", `"default":80`)+`],"key":{"from_fields":["name"]}`) + "]"

func TestADeploymentStoresTheCompletedValues(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		v := version(t, w, p, "2.0.0", shop)
		for values, want := range map[string]string{
			`{}`:                                    `{"name":"acme/web/production/2.0.0","public":false,"zones":["a"]}`,
			`{"host":"hidden","zones":[]}`:          `{"name":"acme/web/production/2.0.0","public":false,"zones":[]}`,
			`{"public":true,"host":"h","name":"n"}`: `{"host":"h","name":"n","public":true,"zones":["a"]}`,
			`{"services":{"x":{"name":"api"}}}`:     `{"name":"acme/web/production/2.0.0","public":false,"services":{"api":{"name":"api","port":80}},"zones":["a"]}`,
			`{"name":"${{ project.slug }}"}`:        `{"name":"${{ project.slug }}","public":false,"zones":["a"]}`,
		} {
			same(t, stored(t, w, live(t, w, p, v, values)), want)
		}
	})
}

func TestTemplatesAreFilledForAScope(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		v := version(t, w, p, "2.0.0", "["+input("name", "string", `"default":"${{ organization.slug }}/${{ project.name }}/${{ environment.name }}/${{ module.type }}@${{ module.version }}"`)+"]")
		nowhere := inputvalidation.Request{VersionID: &v.ID, Values: strictjson.MustParse(`{}`)}
		environment, instance := nowhere, nowhere
		environment.EnvironmentID, instance.InstanceID = &p.Environment.ID, &p.Instance.ID
		for where, q := range map[string]inputvalidation.Request{"environment": environment, "instance": instance} {
			resolved, violations, err := w.Inputs.Resolve(w.Acme.As(actor.Viewer), q)
			if err != nil || len(violations) > 0 {
				t.Fatalf("%s: %v, %v", where, violations, err)
			}
			if got, want := string(resolved.Values.JSON()), `{"name":"acme/web/Production/web@2.0.0"}`; got != want {
				t.Errorf("%s: got %s, want %s", where, got, want)
			}
		}
	})
}

func TestADeploymentIsRefusedWhatValidationRefuses(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		v := version(t, w, p, "2.0.0", "["+input("image", "string", `"required":true,"patterns":[{"pattern":"^web:","message":"of web"}]`)+","+
			input("name", "string", `"immutable":true`)+","+
			input("disk", "number", `"min":1,"max":100,"min_current_value":true`)+","+
			input("labels", "keyvalue", "")+","+
			input("vpc", "$ref:web", "")+"]")
		live(t, w, p, v, `{"image":"web:1","name":"a","disk":10}`)
		before := w.Rows(t)
		for _, values := range []string{
			`{}`, `{"image":""}`, `{"image":"db:1","name":"a"}`, `{"image":"web:1","name":"b","disk":9}`, `{"image":"web:1","name":"a","disk":101}`,
			`{"image":"web:1","name":"a","labels":{"":"x"}}`, `{"image":"web:1","name":"a","vpc":"prj_1"}`,
			`{"image":"web:1","name":"a","other":1,"disk":1.5}`, `{"image":null,"name":null,"labels":{"a":1}}`,
		} {
			validated, err := w.Inputs.Validate(w.Acme.As(actor.Viewer), inputvalidation.Request{VersionID: &v.ID, InstanceID: &p.Instance.ID, Values: strictjson.MustParse(values)})
			if err != nil || len(validated.Violations) == 0 {
				t.Errorf("%s is not refused: %v", values, err)
			}
			_, err = created(w.Acme.As(actor.Developer), w, p.Instance.ID, v.ID, values)
			refused := wantsCode(t, values, err, fault.DeploymentInputsInvalid)
			if diff := cmp.Diff(fault.Under("/inputs", validated.Violations), refused); diff != "" {
				t.Errorf("%s: validateInputs (-) and createDeployment (+) differ: %s", values, diff)
			}
		}
		if diff := cmp.Diff(before, w.Rows(t)); diff != "" {
			t.Errorf("a refusal left something: %s", diff)
		}
	})
}

const create = `mutation($input: CreateDeploymentInput!) { createDeployment(input: $input) { deployment { id } } }`

func TestTheAPIRefusesValuesWithPointersIntoTheInput(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	p := w.Fixture(t, w.Acme, "web")
	r := w.GraphQL(t, w.Acme.Tokens[actor.Developer], create, map[string]any{"input": map[string]any{
		"moduleInstanceId": p.Instance.ID, "moduleVersionId": p.Version.ID, "inputs": map[string]any{"image": "web:1", "replicas": 51},
	}})
	metadata, _ := r.Refusal(t)["metadata"].(map[string]any)
	violations, _ := metadata["violations"].([]any)
	if len(violations) == 0 || r.Code(t) != string(fault.DeploymentInputsInvalid) {
		t.Fatalf("%s", r.Body)
	}
	first, _ := violations[0].(map[string]any)
	if got := fmt.Sprint(first["pointer"], " ", first["rule"]); got != "/input/inputs/replicas max" {
		t.Errorf("%s: %s", got, r.Body)
	}
}

func TestATamperedReleaseBindsNothingButWhatIsRemembered(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		v := version(t, w, p, "2.0.0", "["+input("name", "string", `"immutable":true`)+","+input("disk", "number", `"min_current_value":true`)+"]")
		forged := live(t, w, p, v, `{"name":"a","disk":2}`)
		q := inputvalidation.Request{VersionID: &v.ID, InstanceID: &p.Instance.ID, Values: strictjson.MustParse(`{"name":"b","disk":1}`)}
		wants(t, "before", validated(t, w, q), "/name immutable", "/disk min_current_value")
		if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), `UPDATE releases SET content = '{}' WHERE id = $1`, *forged.ReleaseID); err != nil {
			t.Fatal(err)
		}
		wants(t, "after", validated(t, w, q), "/name immutable", "/disk min_current_value")
		same(t, stored(t, w, live(t, w, p, v, `{"disk":3}`)), `{"disk":3,"name":"a"}`)
		wants(t, "mended", validated(t, w, q), "/name immutable", "/disk min_current_value")
	})
}

func TestMappedInputsTakeWhatTheChosenInstanceHas(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, foreign := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Globex, "web")
		live(t, w, p, p.Version, `{"image":"web:1","replicas":7}`)
		if d, err := created(w.Globex.As(actor.Developer), w, foreign.Instance.ID, foreign.Version.ID, `{"image":"secret"}`); err != nil {
			t.Fatal(err)
		} else {
			foreign.Finish(t, d, nil)
		}
		v := version(t, w, p, "2.0.0", "["+input("of", "$ref:web", `"mapped_inputs":[`+
			input("copies", "number", `"default":"${{ ref.input.replicas }}"`)+","+input("name", "string", `"default":"x-${{ ref.input.image }}"`)+`]`)+"]")
		instance := p.NewInstance(t, "other")
		chosen := func(id string) string { return `{"of":"` + id + `"}` }
		d, err := created(w.Acme.As(actor.Developer), w, instance.ID, v.ID, chosen(p.Instance.ID))
		if err != nil {
			t.Fatal(err)
		}
		same(t, stored(t, w, d), `{"copies":7,"name":"x-web:1","of":"`+p.Instance.ID+`"}`)
		for what, c := range map[string]struct{ of, rule string }{
			"foreign": {foreign.Instance.ID, "reference"}, "absent": {id.New(id.ModuleInstance), "reference"},
			"not live": {p.NewInstance(t, "idle").ID, "reference_not_live"},
		} {
			_, err := created(w.Acme.As(actor.Developer), w, instance.ID, v.ID, chosen(c.of))
			wants(t, what, broken(wantsCode(t, what, err, fault.DeploymentInputsInvalid)), "/inputs/of "+c.rule)
		}
	})
}

func TestAVersionOfAnotherModuleIsRefusedForTheInstance(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		one, two := w.Fixture(t, w.Acme, "one"), w.Fixture(t, w.Acme, "two")
		_, err := created(w.Acme.As(actor.Developer), w, one.Instance.ID, two.Version.ID, `{"image":"web:1"}`)
		wants(t, "another module's", broken(wantsCode(t, "another module's", err, fault.RequestInvalid)), "/moduleVersionId other_module")
	})
}
