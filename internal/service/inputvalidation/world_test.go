package inputvalidation_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/module"
	"slipway/internal/service/defaults"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/inputvalidation"
	"slipway/internal/test/worldtest"
)

func parsed(t testing.TB, text string) *strictjson.Node {
	t.Helper()
	n, err := strictjson.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// version publishes a version of the place's module with other inputs.
func version(t testing.TB, w *worldtest.World, p *worldtest.Fixture, number, list string) *ent.ModuleVersion {
	t.Helper()
	v, _, err := w.Catalog.PublishVersion(w.Acme.As(actor.Admin), module.NewVersion{
		DefinitionID: p.Definition.ID, Version: number, Kind: module.DeploymentTypeECS, Inputs: parsed(t, list),
	})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// definition makes an organization a default value definition.
func definition(t testing.TB, w *worldtest.World, o *worldtest.Org, givenID, schema string) *ent.DefaultValueDefinition {
	t.Helper()
	d, _, err := w.Defaults.Create(o.As(actor.Admin), defaults.New{
		GivenID: givenID, Name: givenID, Schema: inputprop.NewRawProperty(parsed(t, schema)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// validated returns the violations of values, each as "pointer rule".
func validated(t testing.TB, w *worldtest.World, q inputvalidation.Request) []string {
	t.Helper()
	found, err := w.Inputs.Validate(w.Acme.As(actor.Viewer), q)
	if err != nil {
		t.Errorf("%s: %v", q.Values.JSON(), err)
		return nil
	}
	return broken(found.Violations)
}

func broken(violations []fault.Violation) []string {
	list := make([]string, len(violations))
	for i, v := range violations {
		list[i] = v.Pointer + " " + v.Rule
	}
	return list
}

// wants compares lists; nothing is the same as an empty list.
func wants(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// wantsCode wants an error of a code, and returns its violations.
func wantsCode(t testing.TB, what string, err error, code fault.Code) []fault.Violation {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != code {
		t.Errorf("%s: got %v, want %s", what, err, code)
		return nil
	}
	return f.Violations
}

// created makes a deployment of a version.
func created(ctx context.Context, w *worldtest.World, instanceID, versionID, values string) (*ent.Deployment, error) {
	return worldtest.Unwarned(w.Deploy.Propose.Create(ctx, propose.New{
		InstanceID: instanceID, VersionID: versionID, Inputs: strictjson.MustParse(values),
		Artifact: strictjson.MustParse(worldtest.Artifact), Data: strictjson.MustParse(w.DataOf(w.Acme, instanceID)),
	}))
}

// live makes a deployment of the place's instance that succeeds.
func live(t testing.TB, w *worldtest.World, p *worldtest.Fixture, v *ent.ModuleVersion, values string) *ent.Deployment {
	t.Helper()
	d, err := created(w.Acme.As(actor.Developer), w, p.Instance.ID, v.ID, values)
	if err != nil {
		t.Fatal(err)
	}
	return p.Finish(t, d, nil)
}

// stored are the values that a deployment's release has.
func stored(t testing.TB, w *worldtest.World, d *ent.Deployment) map[string]any {
	t.Helper()
	r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], `query($id: ID!) { deployment(id: $id) { release { inputs } } }`, map[string]any{"id": d.ID})
	values, ok := r.At(t, "data", "deployment", "release", "inputs").(map[string]any)
	if !ok {
		t.Errorf("no values: %s", r.Body)
	}
	return values
}

func text(t testing.TB, v any) string {
	t.Helper()
	encoded, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

func same(t testing.TB, got any, want string) {
	t.Helper()
	if text := text(t, got); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

func input(id, kind, more string) string {
	if more != "" {
		more = "," + more
	}
	return fmt.Sprintf(`{"id":%q,"label":"A label","type":%q%s}`, id, kind, more)
}
