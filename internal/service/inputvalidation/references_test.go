package inputvalidation_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/ent/moduledefinition"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/meter"
	"slipway/internal/base/strictjson"
	"slipway/internal/service/archive"
	"slipway/internal/service/catalog"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/inputvalidation"
	"slipway/internal/test/worldtest"
)

// referring has references on every level that may have one.
var referring = "[" + input("of", "$ref:base", "") + "," +
	input("named", "object_map", `"item_inputs":[`+input("of", "$ref:base", "")+`]`) + "," +
	input("listed", "object_array", `"item_inputs":[`+input("deep", "object_map", `"item_inputs":[`+input("of", "$ref:base", "")+`]`)+`]`) + "]"

// refused checks values for the place's instance, in both ways, and returns what is wrong as "pointer rule".
func refused(t *testing.T, w *worldtest.World, p *worldtest.Fixture, v *ent.ModuleVersion, values string) ([]string, []fault.Violation) {
	t.Helper()
	found, err := w.Inputs.Validate(w.Acme.As(actor.Viewer), inputvalidation.Request{VersionID: &v.ID, InstanceID: &p.Instance.ID, Values: strictjson.MustParse(values)})
	if err != nil {
		t.Fatal(err)
	}
	violations := found.Violations
	d, err := created(w.Acme.As(actor.Developer), w, p.Instance.ID, v.ID, values)
	if err == nil {
		if _, err := w.Deploy.Execution.Cancel(w.Acme.As(actor.Developer), d.ID, nil); err != nil {
			t.Fatal(err)
		}
		if len(violations) > 0 {
			t.Errorf("%s: validateInputs refuses what createDeployment takes: %v", values, violations)
		}
		return nil, nil
	}
	if diff := cmp.Diff(fault.Under("/inputs", violations), wantsCode(t, values, err, fault.DeploymentInputsInvalid)); diff != "" {
		t.Errorf("%s: validateInputs (-) and createDeployment (+) differ: %s", values, diff)
	}
	return broken(violations), violations
}

func TestReferencesNameAnotherInstanceOfTheirType(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		base, p, foreign := w.Fixture(t, w.Acme, "base"), w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Globex, "base")
		v := version(t, w, p, "2.0.0", referring)
		own := version(t, w, base, "2.0.0", referring)
		for what, c := range map[string]struct {
			at      *worldtest.Fixture
			version *ent.ModuleVersion
			of      string
			rule    string
		}{
			"there":              {p, v, base.Instance.ID, ""},
			"another of its own": {base, own, base.NewInstance(t, "other").ID, ""},
			"absent":             {p, v, id.New(id.ModuleInstance), " reference"},
			"foreign":            {p, v, foreign.Instance.ID, " reference"},
			"itself":             {base, own, base.Instance.ID, " reference"},
			"of another type":    {p, v, p.NewInstance(t, "other").ID, " reference"},
			"no id":              {p, v, "prj_1", " format"},
		} {
			for values, pointer := range map[string]string{
				`{"of":%q}`: "/of", `{"named":{"a/b":{"of":%q}}}`: "/named/a~1b/of", `{"listed":[{},{"deep":{"x":{"of":%q}}}]}`: "/listed/1/deep/x/of",
			} {
				var want []string
				if c.rule != "" {
					want = []string{pointer + c.rule}
				}
				got, _ := refused(t, w, c.at, c.version, fmt.Sprintf(values, c.of))
				wants(t, what+" "+values, got, want...)
			}
		}
	})
}

func TestAbsentAndForeignInstancesAreRefusedAlike(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, foreign := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Globex, "base")
		live := foreign.Succeeded(t)
		v := version(t, w, p, "2.0.0", "["+input("of", "$ref:base", `"mapped_inputs":[`+input("image", "string", `"default":"${{ ref.input.image }}"`)+`]`)+"]")
		refusals := map[string]string{}
		ran := map[string][]string{}
		for what, of := range map[string]string{"absent": id.New(id.ModuleInstance), "foreign": live.ModuleInstanceID} {
			q := inputvalidation.Request{VersionID: &v.ID, InstanceID: &p.Instance.ID, Values: strictjson.MustParse(`{"of":"` + of + `"}`)}
			ran[what] = w.Statements(func() {
				_, violations, err := w.Inputs.Resolve(w.Acme.As(actor.Viewer), q)
				refusals[what] = strings.ReplaceAll(fmt.Sprint(violations, err), of, "ID")
			})
		}
		if diff := cmp.Diff(refusals["absent"], refusals["foreign"]); diff != "" || !strings.Contains(refusals["absent"], "/of") {
			t.Errorf("%s: %s", refusals["absent"], diff)
		}
		if diff := cmp.Diff(ran["absent"], ran["foreign"]); diff != "" {
			t.Errorf("statements: %s", diff)
		}
	})
}

func TestOwnModuleGoesBeforeAGlobalOneOfItsType(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		v := version(t, w, p, "2.0.0", referring)
		root := actor.With(context.Background(), &actor.Actor{ID: "tok_root", Name: "root", Role: actor.Superadmin, Globally: true, Channel: actor.CLI})
		global, _, err := w.Catalog.CreateDefinition(root, catalog.NewDefinition{Name: "Global", Type: "base", Status: moduledefinition.StatusACTIVE})
		if err != nil {
			t.Fatal(err)
		}
		w.Fixture(t, w.Globex, "base") // another organization's module of the type is nothing to this one
		instance, err := w.Catalog.CreateInstance(w.Acme.As(actor.Admin), catalog.NewInstance{EnvironmentID: p.Environment.ID, DefinitionID: global.ID, Name: "global"})
		if err != nil {
			t.Fatal(err)
		}
		offered := func() (ids []string) {
			options, err := w.Sources.All(w.Acme.As(actor.Viewer), "module_instances", map[string]string{"type": "base"})
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range options {
				ids = append(ids, fmt.Sprint(o.Value))
			}
			return ids
		}
		got, _ := refused(t, w, p, v, `{"of":"`+instance.ID+`"}`)
		wants(t, "of the global module", got)
		wants(t, "offered", offered(), instance.ID)

		own := w.Fixture(t, w.Acme, "base")
		got, _ = refused(t, w, p, v, `{"of":"`+instance.ID+`"}`)
		wants(t, "of the global module, beside an own one", got, "/of reference")
		got, _ = refused(t, w, p, v, `{"of":"`+own.Instance.ID+`"}`)
		wants(t, "of the own module", got)
		wants(t, "offered", offered(), own.Instance.ID)
	})
}

func TestInstancesWithNothingLiveAreChosenUnlessTheyAreReadFrom(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		base, p := w.Fixture(t, w.Acme, "base"), w.Fixture(t, w.Acme, "web")
		mapped := func(number, inputs string) *ent.ModuleVersion {
			return version(t, w, p, number, "["+input("shown", "boolean", `"default":false`)+","+input("of", "$ref:base", `"mapped_inputs":[`+inputs+`]`)+"]")
		}
		reads := `"default":"${{ ref.input.image }}"`
		chosen := `{"of":"` + base.Instance.ID + `"}`
		for what, c := range map[string]struct {
			inputs, values string
			want           []string
		}{
			"nothing":        {"", chosen, nil},
			"an output":      {input("a", "string", `"default":"${{ ref.stack.output.vpc }}"`), chosen, []string{"/of reference_not_live"}},
			"a hidden input": {input("a", "string", reads+`,"show_when":{"shown":true}`), chosen, nil},
			"an input":       {input("a", "string", reads) + "," + input("b", "string", reads), chosen, []string{"/of reference_not_live"}},
			"an input in items": {input("a", "object_map", `"default":{"x":{"i":"${{ ref.input.image }}"}},"item_inputs":[`+input("i", "string", "")+`]`),
				chosen, []string{"/of reference_not_live"}},
			"an input, shown": {input("a", "string", reads+`,"show_when":{"shown":true}`), `{"shown":true,` + chosen[1:], []string{"/of reference_not_live"}},
		} {
			got, _ := refused(t, w, p, mapped("2.0."+fmt.Sprint(len(what)), c.inputs), c.values)
			wants(t, what, got, c.want...)
		}
		base.Succeeded(t)
		v := mapped("3.0.0", input("a", "string", reads))
		same(t, stored(t, w, live(t, w, p, v, chosen)), `{"a":"web:1.4.2","of":"`+base.Instance.ID+`","shown":false}`)
	})
}

// each is a map of items that each choose an instance.
func each(ids []string) string {
	items := make([]string, len(ids))
	for i, id := range ids {
		items[i] = fmt.Sprintf(`"i%d":{"of":%q}`, i, id)
	}
	return `{"named":{` + strings.Join(items, ",") + `}}`
}

func TestManyReferencesAreLookedUpInOneStatementAndCounted(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		base, p := w.Fixture(t, w.Acme, "base"), w.Fixture(t, w.Acme, "web")
		v := version(t, w, p, "2.0.0", "["+input("named", "object_map", `"item_inputs":[`+
			input("of", "$ref:base", `"mapped_inputs":[`+input("image", "string", `"default":"${{ ref.input.image }}"`)+`]`)+`]`)+"]")
		var ids []string
		for i := range 30 {
			instance := base.NewInstance(t, fmt.Sprint("base-", i))
			base.Finish(t, base.Deploy(t, instance.ID, fmt.Sprintf(`{"image":"web:%d"}`, i)), nil)
			ids = append(ids, instance.ID)
		}
		check := func(values string) (statements, cost int) {
			m := meter.New(meter.Limits{}, 0, nil)
			ctx := meter.With(w.Acme.As(actor.Viewer), m)
			statements = len(w.Recorded(func() {
				found, err := w.Inputs.Validate(ctx, inputvalidation.Request{VersionID: &v.ID, InstanceID: &p.Instance.ID, Values: strictjson.MustParse(values)})
				if err != nil || len(found.Violations) > 0 {
					t.Errorf("%s: %v, %v", values, found, err)
				}
			}))
			return statements, m.Cost()
		}
		none, _ := check(`{}`)
		one, costOfOne := check(each(ids[:1]))
		all, costOfAll := check(each(ids))
		if one != none+1 || all != none+1 {
			t.Errorf("%d statements without references, %d with one, %d with thirty; want one more", none, one, all)
		}
		if least := 29 * 3; costOfAll-costOfOne < least {
			t.Errorf("one costs %d, thirty cost %d; want at least %d more", costOfOne, costOfAll, least)
		}
		d := live(t, w, p, v, each(ids))
		named, _ := stored(t, w, d)["named"].(map[string]any)
		for i := range ids {
			item, _ := named[fmt.Sprint("i", i)].(map[string]any)
			if item["image"] != fmt.Sprint("web:", i) {
				t.Errorf("item %d: %v", i, item)
			}
		}
	})
}

func TestReferencesOfOneRequestAreBound(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	base, p := w.Fixture(t, w.Acme, "base"), w.Fixture(t, w.Acme, "web")
	v := version(t, w, p, "2.0.0", referring)
	ids := make([]string, 1001)
	for i := range ids {
		ids[i] = base.NewInstance(t, fmt.Sprint("base-", i)).ID
	}
	// The thousand count each once.
	if got, _ := refused(t, w, p, v, each(append(ids[:1000:1000], ids[0]))); len(got) > 0 {
		t.Errorf("1,000 instances: %.5q", got)
	}
	_, violations := refused(t, w, p, v, each(ids))
	if len(violations) != 1 || violations[0].Pointer != "/named/i1000/of" || !strings.Contains(violations[0].Message, "the first 1000 instances") {
		t.Errorf("1,001 instances: %d violations, %.200s", len(violations), fmt.Sprint(violations))
	}
}

func TestAReferenceToAnArchivedInstanceIsTakenWhereItIsLive(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		base, p := w.Fixture(t, w.Acme, "base"), w.Fixture(t, w.Acme, "web")
		v := version(t, w, p, "2.0.0", referring)
		values := fmt.Sprintf(`{"of":%q,"named":{"a/b":{"of":%[1]q}}}`, base.Instance.ID)
		d := live(t, w, p, v, values)
		if _, err := w.Archive.ArchiveInstance(w.Acme.As(actor.Admin), archive.Request{ID: base.Instance.ID, AcknowledgeDependents: true}); err != nil {
			t.Fatal(err)
		}
		request := inputvalidation.Request{VersionID: &v.ID, InstanceID: &p.Instance.ID, Values: strictjson.MustParse(values)}
		found, err := w.Inputs.Validate(w.Acme.As(actor.Viewer), request)
		if err != nil || len(found.Violations) > 0 || len(found.Warnings) != 1 || found.Warnings[0].Pointer != "/of" || found.Warnings[0].Rule != "reference_archived" {
			t.Errorf("where it is live: %+v, %v", found, err)
		}
		if broken, _ := refused(t, w, p, v, values); broken != nil {
			t.Errorf("where it is live: %v", broken)
		}
		r := w.GraphQL(t, w.Acme.Tokens[actor.Developer], `mutation($i: CreateDeploymentInput!) { createDeployment(input: $i) { deployment { id } warnings { pointer rule } } }`,
			map[string]any{"i": map[string]any{"moduleInstanceId": p.Instance.ID, "moduleVersionId": v.ID,
				"inputs": json.RawMessage(values), "artifact": json.RawMessage(worldtest.Artifact)}})
		if r.Text(t, "data", "createDeployment", "warnings", 0, "pointer") != "/input/inputs/of" || r.Text(t, "data", "createDeployment", "warnings", 0, "rule") != "reference_archived" {
			t.Errorf("%s", r.Body)
		}
		w.Cancel(t, w.Acme, r.Text(t, "data", "createDeployment", "deployment", "id"))
		if _, _, err := w.Deploy.Propose.Redeploy(w.Acme.As(actor.Developer), propose.Replay{SourceID: d.ID}); err != nil {
			t.Errorf("a replay: %v", err)
		}
		other := *p
		other.Instance = p.NewInstance(t, "other")
		broken, violations := refused(t, w, &other, v, values)
		wants(t, "a new reference", broken, "/of reference", "/named/a~1b/of reference")
		if !strings.Contains(violations[0].Message, "not archived") {
			t.Errorf("%q", violations[0].Message)
		}
	})
}
