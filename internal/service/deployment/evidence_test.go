package deployment_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/test/worldtest"
)

// refusedAt are the violations of a refused input, each as "pointer rule".
func refusedAt(t *testing.T, r worldtest.Response) string {
	t.Helper()
	metadata, _ := r.Refusal(t)["metadata"].(map[string]any)
	violations, _ := metadata["violations"].([]any)
	var list []string
	for _, v := range violations {
		v, _ := v.(map[string]any)
		list = append(list, fmt.Sprint(v["pointer"], " ", v["rule"]))
	}
	return strings.Join(list, ", ")
}

func TestCreationRefusesKeysThatNothingDeclares(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		create := func(data, artifact map[string]any) worldtest.Response {
			return w.GraphQL(t, w.Acme.Tokens[actor.Developer], `mutation($input: CreateDeploymentInput!) { createDeployment(input: $input) { deployment { dataJson } } }`,
				map[string]any{"input": map[string]any{"moduleInstanceId": p.Instance.ID, "moduleVersionId": p.Version.ID,
					"inputs": map[string]any{"image": "web:1"}, "data": data, "artifact": artifact}})
		}
		before := w.Rows(t)
		for _, c := range []struct {
			data, artifact map[string]any
			want           string
		}{
			{map[string]any{"clusterArm": "c"}, map[string]any{"family": "web"}, "/input/data/clusterArm unknown_field, /input/artifact/family unknown_field"},
			{map[string]any{"serviceDeploymentState": map[string]any{"newOfTheCloud": 1}}, map[string]any{"arn": "a"},
				"/input/data/serviceDeploymentState/newOfTheCloud unknown_field"},
			{map[string]any{"triggeredBy": "eve"}, map[string]any{"arn": "a"}, "/input/data/triggeredBy read_only"},
			{map[string]any{"deployedTaskDefinition": map[string]any{}}, map[string]any{"arn": "a"}, "/input/data/deployedTaskDefinition read_only"},
		} {
			if r := create(c.data, c.artifact); refusedAt(t, r) != c.want || r.Code(t) != string(fault.RequestInvalid) {
				t.Errorf("%v, %v: %s, want %s", c.data, c.artifact, r.Body, c.want)
			}
		}
		if diff := cmp.Diff(before, w.Rows(t)); diff != "" {
			t.Errorf("a refusal left something: %s", diff)
		}
		made := create(map[string]any{"serviceDeploymentState": map[string]any{"status": "PENDING"}}, map[string]any{"definition": map[string]any{"any": 1}})
		data := made.At(t, "data", "createDeployment", "deployment", "dataJson")
		want := `map[deployedTaskDefinition:map[definition:map[any:1]] serviceDeploymentState:map[status:PENDING] triggerChannel:graphql triggeredBy:developer type:aws:ecs]`
		if fmt.Sprint(data) != want {
			t.Errorf("%s\nwant %s", made.Body, want)
		}
	})
}

func TestReportsCannotTouchWhatSlipwayFilled(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, runner := w.Fixture(t, w.Acme, "web"), w.Acme.As(actor.Runner)
		p.Succeeded(t)
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:2"}`)
		lease := p.Claim(t, d)
		report := func(data string) error {
			_, _, err := w.Deploy.Execution.Report(runner, d.ID, lease, execution.Report{Data: strictjson.MustParse(data)})
			return err
		}
		for _, name := range []string{"triggeredBy", "triggerChannel", "deployedTaskDefinition", "previousTaskDefinition"} {
			value := map[bool]string{true: `{"revision":99}`, false: `"eve"`}[strings.HasSuffix(name, "Definition")]
			err := report(`{"detectedVia":"poll","` + name + `":` + value + `}`)
			var list []string
			for _, v := range violationsOf(err) {
				list = append(list, v.Pointer+" "+v.Rule)
			}
			if fmt.Sprint(list) != "[/data/"+name+" read_only]" {
				t.Errorf("%s: %v", name, err)
			}
		}
		if after := w.Store.Client.Deployment.GetX(runner, d.ID); string(after.Data.JSON()) != string(d.Data.JSON()) {
			t.Errorf("a refused report changed the data to %s", after.Data.JSON())
		}
		// A program may hand back what it was given, and the cloud may say more than Slipway knows.
		if err := report(strings.Replace(string(d.Data.JSON()), "{", `{"newOfTheCloud":1,"detectedVia":"poll",`, 1)); err != nil {
			t.Fatal(err)
		}
		got, want := object(t, w.Store.Client.Deployment.GetX(runner, d.ID).Data.JSON()), object(t, d.Data.JSON())
		want["detectedVia"] = "poll"
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func violationsOf(err error) []fault.Violation {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Violations
	}
	return nil
}
