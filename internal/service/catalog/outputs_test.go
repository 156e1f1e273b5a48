package catalog_test

import (
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/test/worldtest"
)

const publishing = `mutation($input: PublishModuleVersionInput!) { publishModuleVersion(input: $input) {
	moduleVersion { outputs { name description secret } } warnings { pointer rule message } } }`

func TestAVersionDeclaresItsOutputs(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		d := define(t, w, "network")
		publish := func(version string, outputs any) worldtest.Response {
			t.Helper()
			input := map[string]any{"moduleDefinitionId": d.ID, "version": version, "deploymentType": "terraform", "inputs": []any{}, "outputs": outputs}
			return w.GraphQL(t, w.Acme.Tokens[actor.Admin], publishing, map[string]any{"input": input})
		}
		r := publish("1.0.0", []any{map[string]any{"name": "vpc_id", "description": "The network."}, map[string]any{"name": "key", "secret": true}})
		for i, want := range []map[string]any{
			{"name": "vpc_id", "description": "The network.", "secret": false}, {"name": "key", "description": nil, "secret": true},
		} {
			for member, value := range want {
				if got := r.At(t, "data", "publishModuleVersion", "moduleVersion", "outputs", i, member); got != value {
					t.Errorf("output %d: %s is %v, want %v: %s", i, member, got, value, r.Body)
				}
			}
		}
		for version, none := range map[string]any{"1.1.0": []any{}, "1.2.0": nil} {
			if list, ok := publish(version, none).At(t, "data", "publishModuleVersion", "moduleVersion", "outputs").([]any); !ok || len(list) > 0 {
				t.Errorf("none: %v", list)
			}
		}
		before := w.Rows(t)
		r = publish("2.0.0", []any{map[string]any{"name": "a.b"}, map[string]any{"name": "a"}, map[string]any{"name": "a"}})
		for i, pointer := range []string{"/input/outputs/0/name", "/input/outputs/2/name"} {
			if got := r.At(t, "errors", 0, "extensions", "metadata", "violations", i, "pointer"); got != pointer {
				t.Errorf("%v, want %s: %s", got, pointer, r.Body)
			}
		}
		if after := w.Rows(t); r.Code(t) != string(fault.RequestInvalid) || after["module_versions"] != before["module_versions"] {
			t.Errorf("%s: %v", r.Body, after)
		}
	})
}
