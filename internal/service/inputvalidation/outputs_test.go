package inputvalidation_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/meter"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/module"
	"slipway/internal/pure/output"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/inputvalidation"
	"slipway/internal/test/worldtest"
)

// network has an instance of a place live with outputs, in JSON; "" is none.
func network(t *testing.T, w *worldtest.World, base *worldtest.Fixture, image, outputs string) *ent.Deployment {
	t.Helper()
	d := base.Deploy(t, base.Instance.ID, fmt.Sprintf(`{"image":%q}`, image))
	c := execution.Completion{}
	if outputs != "" {
		c.Outputs = strictjson.MustParse(outputs)
	}
	if _, err := w.Deploy.Execution.End(w.Acme.As(actor.Runner), d.ID, base.Claim(t, d), c); err != nil {
		t.Fatal(err)
	}
	return d
}

// mapped publishes a version whose mapped inputs are the given ones.
func mapped(t *testing.T, w *worldtest.World, p *worldtest.Fixture, number string, inputs ...string) *ent.ModuleVersion {
	t.Helper()
	return version(t, w, p, number, "["+input("of", "$ref:base", `"mapped_inputs":[`+strings.Join(inputs, ",")+`]`)+"]")
}

func reading(id, kind, output, more string) string {
	if more != "" {
		more = "," + more
	}
	return input(id, kind, `"default":"${{ ref.stack.output.`+output+` }}"`+more)
}

func TestOutputsOfWhatIsLiveBecomeInputs(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		base, p := w.Fixture(t, w.Acme, "base"), w.Fixture(t, w.Acme, "web")
		of := base.Instance.ID
		const more = `"required":true`
		v := mapped(t, w, p, "2.0.0", reading("vpc", "string", "vpc_id", more), reading("all", "object", "all", ""), reading("none", "string", "none", ""),
			input("text", "string", `"default":"net-${{ ref.stack.output.n }}-${{ ref.input.image }}"`),
			input("list", "object_array", `"default":[{"a":"${{ ref.stack.output.vpc_id }}"}],"item_inputs":[`+input("a", "string", "")+`]`))
		network(t, w, base, "web:1", `{"vpc_id":"vpc-1","all":{"z":1.50,"a":[null]},"none":null,"n":7}`)
		first := live(t, w, p, v, `{"of":"`+of+`"}`)
		want := `{"all":{"a":[null],"z":1.5},"list":[{"a":"vpc-1"}],"none":null,"of":"` + of + `","text":"net-7-web:1","vpc":"vpc-1"}`
		same(t, stored(t, w, first), want)
		network(t, w, base, "web:2", `{"vpc_id":"vpc-2","all":{},"none":null,"n":8}`)
		second := live(t, w, p, v, `{"of":"`+of+`"}`)
		same(t, stored(t, w, second), `{"all":{},"list":[{"a":"vpc-2"}],"none":null,"of":"`+of+`","text":"net-8-web:2","vpc":"vpc-2"}`)
		replay, _, err := w.Deploy.Propose.Rollback(w.Acme.As(actor.Developer), propose.Replay{SourceID: first.ID})
		if err != nil {
			t.Fatal(err)
		}
		same(t, stored(t, w, replay), want)
	})
}

func TestWhatAnInstanceHasNotReportedIsMissing(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		base, p := w.Fixture(t, w.Acme, "base"), w.Fixture(t, w.Acme, "web")
		required := mapped(t, w, p, "2.0.0", reading("vpc", "string", "vpc_id", `"required":true`))
		optional := mapped(t, w, p, "2.1.0", reading("vpc", "string", "vpc_id", ""), input("text", "string", `"default":"a ${{ ref.stack.output.vpc_id }}"`))
		judged := mapped(t, w, p, "2.2.0", reading("vpc", "string", "vpc_id", `"patterns":[{"pattern":"^vpc-","message":"A network."}]`))
		values := `{"of":"` + base.Instance.ID + `"}`
		is := func(what string, v *ent.ModuleVersion, values string, want ...string) string {
			t.Helper()
			got, violations := refused(t, w, p, v, values)
			wants(t, what, got, want...)
			return fmt.Sprint(violations)
		}
		is("nothing is live", required, values, "/of reference_not_live")
		is("nothing is live, and it is optional", optional, values, "/of reference_not_live")

		network(t, w, base, "web:1", "")
		if said := is("no outputs", required, values, "/vpc output_missing"); !strings.Contains(said, "deploy it again by a runner that reports them") {
			t.Error(said)
		}
		is("no outputs, and it is optional", optional, values)
		is("entered in its place", optional, values[:len(values)-1]+`,"vpc":"vpc-9"}`, "/vpc mapped_input")

		others := make([]string, 22)
		for i := range others {
			others[i] = fmt.Sprintf(`"n%d":0`, i)
		}
		network(t, w, base, "web:2", "{"+strings.Join(others, ",")+"}")
		if said := is("other outputs", required, values, "/vpc output_missing"); !strings.Contains(said, "it has n0, n1,") || !strings.Contains(said, "n19 and 2 more") || strings.Contains(said, "n20") {
			t.Error(said)
		}
		network(t, w, base, "web:3", `{"vpc_id":7}`)
		is("of another type", required, values, "/vpc type")
		network(t, w, base, "web:4", `{"vpc_id":null}`)
		is("null", required, values, "/vpc required")
		network(t, w, base, "web:5", `{"vpc_id":"net-1"}`)
		is("judged by its own input", judged, values, "/vpc pattern")
		network(t, w, base, "web:6", `{"vpc_id":["vpc-1"]}`)
		is("a list within a text", optional, values, "/text template_type", "/vpc type")
	})
}

func TestAMappedInputThatIsLeftOutIsWarnedOf(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		base, p := w.Fixture(t, w.Acme, "base"), w.Fixture(t, w.Acme, "web")
		v := mapped(t, w, p, "2.0.0", reading("vpc", "string", "vpc_id", ""), reading("zone", "string", "zone", ""))
		network(t, w, base, "web:1", `{"zone":"b"}`)
		values := map[string]any{"of": base.Instance.ID}
		r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], `query($i: InputValuesInput!) {
			validateInputs(input: $i) { valid warnings { pointer rule message } } resolveInputs(input: $i) { values warnings { pointer rule message } } }`,
			map[string]any{"i": map[string]any{"moduleVersionId": v.ID, "moduleInstanceId": p.Instance.ID, "values": values}})
		for _, field := range []string{"validateInputs", "resolveInputs"} {
			at := []any{"data", field, "warnings"}
			if list, _ := r.At(t, at...).([]any); len(list) != 1 || r.Text(t, append(at, 0, "pointer")...) != "/vpc" || r.Text(t, append(at, 0, "rule")...) != "output_missing" ||
				r.Text(t, append(at, 0, "message")...) != "is left out, for it has no value from the chosen instance, whose live deployment has no output vpc_id; it has zone" {
				t.Errorf("%s: %s", field, r.Body)
			}
		}
		const create = `mutation($i: CreateDeploymentInput!) { createDeployment(input: $i) { deployment { release { inputs } } warnings { pointer rule } } }`
		in := map[string]any{"moduleVersionId": v.ID, "moduleInstanceId": p.Instance.ID, "inputs": values, "idempotencyKey": "once", "artifact": json.RawMessage(worldtest.Artifact)}
		for _, c := range []struct {
			what string
			want []any
		}{{"first", []any{map[string]any{"pointer": "/input/inputs/vpc", "rule": "output_missing"}}}, {"again", []any{}}} {
			r := w.GraphQL(t, w.Acme.Tokens[actor.Developer], create, map[string]any{"i": in})
			if diff := cmp.Diff(any(c.want), r.At(t, "data", "createDeployment", "warnings")); diff != "" {
				t.Errorf("%s: %s: %s", c.what, diff, r.Body)
			}
			same(t, r.At(t, "data", "createDeployment", "deployment", "release", "inputs"), `{"of":"`+base.Instance.ID+`","zone":"b"}`)
		}
	})
}

func TestOutputsAreLookedUpInTheSameStatementAndCounted(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		base, p := w.Fixture(t, w.Acme, "base"), w.Fixture(t, w.Acme, "web")
		v := mapped(t, w, p, "2.0.0", reading("vpc", "string", "vpc_id", ""))
		check := func() (statements, cost int) {
			m := meter.New(meter.Limits{}, 0, nil)
			q := inputvalidation.Request{VersionID: &v.ID, InstanceID: &p.Instance.ID, Values: strictjson.MustParse(`{"of":"` + base.Instance.ID + `"}`)}
			statements = len(w.Recorded(func() {
				if found, err := w.Inputs.Validate(meter.With(w.Acme.As(actor.Viewer), m), q); err != nil || len(found.Violations) > 0 {
					t.Errorf("%v, %v", found, err)
				}
			}))
			return statements, m.Cost()
		}
		network(t, w, base, "web:1", `{"vpc_id":"v"}`)
		few, little := check()
		network(t, w, base, "web:2", `{"vpc_id":"v","large":["`+strings.Repeat(strings.Repeat("x", 10_000)+`","`, 6)+`"]}`)
		if many, much := check(); many != few || much-little < 6*58 {
			t.Errorf("%d statements at a cost of %d, then %d at %d", few, little, many, much)
		}
	})
}

func TestPublishingWarnsOfOutputsThatAreNotDeclared(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		base, p := w.Fixture(t, w.Acme, "base"), w.Fixture(t, w.Acme, "web")
		declare := func(number string, names ...string) {
			t.Helper()
			in := module.NewVersion{DefinitionID: base.Definition.ID, Version: number, Kind: module.DeploymentTypeECS}
			for _, name := range names {
				in.Outputs = append(in.Outputs, output.Declared{Name: name})
			}
			if _, _, err := w.Catalog.PublishVersion(w.Acme.As(actor.Admin), in); err != nil {
				t.Fatal(err)
			}
		}
		inputs := "[" + input("of", "$ref:base", `"mapped_inputs":[`+reading("vpc", "string", "vpc_id", "")+","+reading("zone", "string", "zone", "")+`]`) + "]"
		publish := func(number string) []string {
			t.Helper()
			_, warnings, err := w.Catalog.PublishVersion(w.Acme.As(actor.Admin), module.NewVersion{
				DefinitionID: p.Definition.ID, Version: number, Kind: module.DeploymentTypeECS, Inputs: parsed(t, inputs)})
			if err != nil {
				t.Fatal(err)
			}
			var list []string
			for _, warning := range warnings {
				list = append(list, warning.Pointer+" "+warning.Rule)
			}
			return list
		}
		wants(t, "none declared", publish("2.0.0"))
		declare("2.0.0", "zone")
		wants(t, "another declared", publish("2.1.0"), "/inputs/0/mapped_inputs/0/default output_unknown")
		declare("2.1.0", "zone", "vpc_id")
		wants(t, "both declared", publish("2.2.0"))
		declare("2.2.0")
		wants(t, "none declared any more", publish("2.3.0"))
	})
}
