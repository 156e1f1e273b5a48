package inputvalidation_test

import (
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/inputvalidation"
	"slipway/internal/test/worldtest"
)

// rules are where warnings are, and of which rules.
func rules(warnings []inputprop.Warning) string {
	var list []string
	for _, warning := range warnings {
		list = append(list, warning.Pointer+" "+warning.Rule)
	}
	return strings.Join(list, ", ")
}

// What is judged and shown beforehand by what was given to a deployment is what createDeployment judges and stores.
func TestValuesThatAreTakenOverAreJudgedAndShownBeforehand(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, viewer := w.Fixture(t, w.Acme, "web"), w.Acme.As(actor.Viewer)
		older := version(t, w, p, "2.0.0", "["+input("a", "text", "")+","+input("b", "text", `"default":"b of old"`)+","+input("gone", "text", "")+"]")
		newer := version(t, w, p, "3.0.0", "["+input("a", "text", "")+","+input("b", "text", `"default":"b of new"`)+","+input("c", "number", `"max":9,"default":1`)+"]")
		from := live(t, w, p, older, `{"a":"x","gone":"y"}`)
		type kept struct{ values, violations, warnings string }
		for what, c := range map[string]struct {
			values  string
			without []string
			want    kept
		}{
			"all of it":       {"", nil, kept{`{"a":"x","b":"b of new","c":1}`, "", "/inputsFromDeploymentId input_dropped"}},
			"some in between": {`{"c":5}`, nil, kept{`{"a":"x","b":"b of new","c":5}`, "", "/inputsFromDeploymentId input_dropped"}},
			"in its place":    {`{"a":"z"}`, []string{"gone"}, kept{`{"a":"z","b":"b of new","c":1}`, "", ""}},
			"less":            {"", []string{"a", "gone", "d"}, kept{`{"b":"b of new","c":1}`, "", "/withoutInputs/2 input_not_given"}},
			"refused":         {`{"c":10,"d":1}`, []string{"gone"}, kept{"", "/d unknown_input, /c max", ""}},
		} {
			q := inputvalidation.Request{VersionID: &newer.ID, InstanceID: &p.Instance.ID,
				Takeover: inputvalidation.Takeover{InputsFrom: &from.ID, WithoutInputs: c.without}}
			if c.values != "" {
				q.Values = strictjson.MustParse(c.values)
			}
			judged, err := w.Inputs.Validate(viewer, q)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			got := kept{violations: strings.Join(broken(judged.Violations), ", "), warnings: rules(judged.Warnings)}
			if len(judged.Violations) == 0 {
				shown, _, err := w.Inputs.Resolve(viewer, q)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if got.values = string(shown.Values.JSON()); rules(shown.Warnings) != got.warnings {
					t.Errorf("%s: shown with %s, judged with %s", what, rules(shown.Warnings), got.warnings)
				}
			}
			if got != c.want {
				t.Errorf("%s: %+v, want %+v", what, got, c.want)
			}
			d, warnings, err := w.Deploy.Propose.Create(w.Acme.As(actor.Developer), propose.New{InstanceID: p.Instance.ID, VersionID: newer.ID,
				Inputs: q.Values, InputsFrom: q.InputsFrom, WithoutInputs: q.WithoutInputs, Artifact: strictjson.MustParse(worldtest.Artifact)})
			if (err == nil) != (len(judged.Violations) == 0) || rules(warnings) != got.warnings && err == nil {
				t.Errorf("%s: created: %v with %s", what, err, rules(warnings))
			}
			if err == nil {
				w.Cancel(t, w.Acme, d.ID)
				r := w.Store.Client.Release.GetX(viewer, *d.ReleaseID)
				if !strings.Contains(r.Content, `"inputs":`+sealed(t, strictjson.MustParse(got.values))) {
					t.Errorf("%s: stored %s, shown %s", what, r.Content, got.values)
				}
			}
		}
	})
}

func TestOnlyTheInputsOfAVersionAreTakenOver(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, other, theirs := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Acme, "other"), w.Fixture(t, w.Globex, "web")
		from, others, foreign := p.Succeeded(t), other.Succeeded(t), theirs.Succeeded(t)
		q := func(fromID string) inputvalidation.Request {
			return inputvalidation.Request{VersionID: &p.Version.ID, Takeover: inputvalidation.Takeover{InputsFrom: &fromID}}
		}
		given, many, nothing, unknown := q(from.ID), q(from.ID), q(from.ID), q(from.ID)
		given.VersionID, given.Inputs = nil, strictjson.MustParse(`[]`)
		many.WithoutInputs = make([]string, 1001)
		nothing.InputsFrom, nothing.WithoutInputs = nil, []string{"image"}
		unknown.Values = strictjson.MustParse(`[]`)
		both := q(from.ID)
		both.Values, both.WithoutInputs = strictjson.MustParse(`{"image":"web:2"}`), []string{"image"}
		for what, c := range map[string]struct {
			q       inputvalidation.Request
			code    fault.Code
			pointer string
		}{
			"another's":           {q(foreign.ID), fault.DeploymentNotFound, ""},
			"no deployment":       {q("dep_x"), fault.DeploymentNotFound, ""},
			"of another module":   {q(others.ID), fault.RequestInvalid, "/inputsFromDeploymentId"},
			"inputs of the call":  {given, fault.RequestInvalid, "/inputsFromDeploymentId"},
			"too many are left":   {many, fault.RequestInvalid, "/withoutInputs"},
			"nothing is taken":    {nothing, fault.RequestInvalid, "/withoutInputs"},
			"no object":           {unknown, fault.RequestInvalid, "/values"},
			"left out, and given": {both, fault.RequestInvalid, "/withoutInputs/0"},
		} {
			_, err := w.Inputs.Validate(w.Acme.As(actor.Viewer), c.q)
			_, _, resolved := w.Inputs.Resolve(w.Acme.As(actor.Viewer), c.q)
			for _, err := range []error{err, resolved} {
				f, ok := err.(*fault.Error) //nolint:errorlint // it is one
				if !ok || f.Code != c.code || c.pointer != "" && f.Violations[0].Pointer != c.pointer {
					t.Errorf("%s: %v", what, err)
				}
			}
		}
	})
}
