package deployment_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/page"
	"slipway/internal/pure/module"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// referring has references on two levels, of which the one reads from what it chooses.
const referring = `[
	{"id":"of","type":"$ref:base","label":"Of","mapped_inputs":[
		{"id":"copied","type":"string","label":"Copied","default":"${{ ref.input.image }}"},
		{"id":"told","type":"string","label":"Told","default":"${{ ref.input.image }} x${{ ref.input.replicas }}"}]},
	{"id":"named","type":"object_map","label":"Named","item_inputs":[{"id":"of","type":"$ref:base","label":"Of"}]},
	{"id":"free","type":"object","label":"Free"},
	{"id":"hidden","type":"$ref:base","label":"Hidden","show_when":{"of":"nobody"}}]`

// newVersion makes one more version of the place's module.
func newVersion(t *testing.T, w *worldtest.World, p *worldtest.Fixture, version, inputs string) *ent.ModuleVersion {
	t.Helper()
	v, _, err := w.Catalog.PublishVersion(w.Acme.As(actor.Admin), module.NewVersion{
		DefinitionID: p.Definition.ID, Version: version, Kind: module.DeploymentTypeECS, Inputs: strictjson.MustParse(inputs),
	})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// create makes a PENDING deployment of a version.
func create(t *testing.T, w *worldtest.World, instanceID, versionID, inputs string) *ent.Deployment {
	t.Helper()
	d, _, err := w.Deploy.Propose.Create(w.Acme.As(actor.Developer), propose.New{InstanceID: instanceID, VersionID: versionID,
		Inputs: strictjson.MustParse(inputs), Artifact: strictjson.MustParse(worldtest.Artifact)})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// shown returns what the answer to a document has as its data.
func shown(t *testing.T, w *worldtest.World, document string, args ...any) string {
	t.Helper()
	r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], fmt.Sprintf(document, args...), nil)
	data, found := strings.CutPrefix(strings.TrimSpace(string(r.Body)), `{"data":`)
	if !found || r.At(t, "errors") != nil {
		t.Fatalf("%s", r.Body)
	}
	data, _, _ = strings.Cut(data, `,"extensions"`)
	return data
}

func TestWhatWasGivenIsKeptAsItWas(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		v := newVersion(t, w, p, "2.0.0", `[{"id":"free","type":"object","label":"Free"},{"id":"image","type":"string","label":"Image"},
			{"id":"size","type":"number","label":"Size","default":4}]`)
		const given = `{"image":null,"free":{"z":1.50,"a":[1e2,-0],"password":"hunter2"}}`
		source := p.Finish(t, create(t, w, p.Instance.ID, v.ID, given), nil)
		replay, _, err := w.Deploy.Propose.Redeploy(w.Acme.As(actor.Developer), propose.Replay{SourceID: source.ID})
		if err != nil {
			t.Fatal(err)
		}
		again := p.Finish(t, replay, nil)
		replay, _, err = w.Deploy.Propose.Rollback(w.Acme.As(actor.Developer), propose.Replay{SourceID: again.ID})
		if err != nil {
			t.Fatal(err)
		}
		w.Cancel(t, w.Acme, replay.ID)
		for _, id := range []string{source.ID, again.ID, replay.ID} {
			if got, want := shown(t, w, `{ deployment(id: %q) { givenInputs } }`, id), `{"deployment":{"givenInputs":`+given+`}}`; got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		raw(t, w, `UPDATE deployments SET given_from = NULL WHERE id = '`+replay.ID+`'`)
		ran := w.Statements(func() {
			want := fmt.Sprintf(`{"nodes":[{"givenInputs":%s},{"givenInputs":null},{"givenInputs":%[1]s}]}`, given)
			if got := shown(t, w, `{ nodes(ids: [%q, %q, %q]) { ... on Deployment { givenInputs } } }`, source.ID, replay.ID, again.ID); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
		if got := summary(ran); strings.Count(got, "given_inputs") != 1 {
			t.Errorf("%s", got)
		}
	})
}

func TestReferencesAreKeptWithWhatTheyRead(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		base, p := w.Fixture(t, w.Acme, "base"), w.Fixture(t, w.Acme, "web")
		live := base.Succeeded(t)
		idle := base.NewInstance(t, "idle")
		v := newVersion(t, w, p, "2.0.0", referring)
		d := p.Finish(t, create(t, w, p.Instance.ID, v.ID, fmt.Sprintf(`{"of":%q,"named":{"a/b":{"of":%q},"c":{"of":%[1]q}},"hidden":%[2]q}`, base.Instance.ID, idle.ID)), nil)
		replay, _, err := w.Deploy.Propose.Redeploy(w.Acme.As(actor.Developer), propose.Replay{SourceID: d.ID})
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf(`{"references":{"nodes":[`+
			`{"pointer":"/of","moduleInstanceId":%q,"moduleInstance":{"name":"web"},"readDeploymentId":%q,"readDeployment":{"status":"SUCCEEDED"}},`+
			`{"pointer":"/named/a~1b/of","moduleInstanceId":%q,"moduleInstance":{"name":"idle"},"readDeploymentId":null,"readDeployment":null},`+
			`{"pointer":"/named/c/of","moduleInstanceId":%[1]q,"moduleInstance":{"name":"web"},"readDeploymentId":%[2]q,"readDeployment":{"status":"SUCCEEDED"}}]}}`,
			base.Instance.ID, live.ID, idle.ID)
		const fields = `references { nodes { pointer moduleInstanceId moduleInstance { name } readDeploymentId readDeployment { status } } }`
		ran := w.Statements(func() {
			if got := shown(t, w, `{ nodes(ids: [%q, %q, %q]) { ... on Deployment { `+fields+` } } }`, d.ID, replay.ID, live.ID); got != `{"nodes":[`+want+`,`+want+`,{"references":{"nodes":[]}}]}` {
				t.Errorf("%s, want %s", got, want)
			}
		})
		if n := strings.Count(summary(ran), "SELECT"); n > 5 {
			t.Errorf("%d statements: %s", n, summary(ran))
		}
		rows, err := w.Store.Client.DeploymentReference.Query().All(w.Acme.As(actor.Viewer))
		if err != nil || len(rows) != 3 {
			t.Fatal(rows, err)
		}
		if diff := cmp.Diff([]string{"input.image", "input.replicas"}, rows[0].Paths); diff != "" || rows[0].Digest == nil || len(*rows[0].Digest) != 64 {
			t.Errorf("%v: %s", rows[0].Digest, diff)
		}
		if rows[2].Paths != nil || rows[2].Digest != nil || rows[2].ReferrerID != p.Instance.ID {
			t.Errorf("%v", rows[2])
		}
	})
}

// Neither database takes so many parameters as the references of one deployment may have columns.
func TestManyReferencesAreOneINSERT(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		base, p := w.Fixture(t, w.Acme, "base"), w.Fixture(t, w.Acme, "web")
		v := newVersion(t, w, p, "2.0.0", referring)
		var inputs strings.Builder
		const many = 5000
		for i := range many {
			fmt.Fprintf(&inputs, `,"%d":{"of":%q}`, i, base.Instance.ID)
		}
		var d *ent.Deployment
		ran := w.Statements(func() { d = create(t, w, p.Instance.ID, v.ID, `{"named":{`+inputs.String()[1:]+`}}`) })
		if n := strings.Count(strings.Join(ran, "\n"), `INSERT INTO "deployment_references"`); n != 1 {
			t.Errorf("%d INSERTs", n)
		}
		if n := w.Store.Client.DeploymentReference.Query().CountX(w.Acme.As(actor.Viewer)); n != many {
			t.Errorf("%d references", n)
		}
		pages, err := w.Deploy.View.ReferencesOf(w.Acme.As(actor.Viewer), []string{d.ID}, page.Args{Last: new(int32(2))})
		if err != nil {
			t.Fatal(err)
		}
		last := pages[d.ID].Nodes()
		all, err := pages[d.ID].TotalCount(w.Acme.As(actor.Viewer))
		if err != nil || all != many || len(last) != 2 || last[1].Pointer != fmt.Sprintf("/named/%d/of", many-1) {
			t.Errorf("%d, %+v, %v", all, last, err)
		}
		w.Cancel(t, w.Acme, d.ID)
		ran = w.Statements(func() { create(t, w, p.Instance.ID, v.ID, `{}`) })
		if strings.Contains(strings.Join(ran, "\n"), "deployment_references") {
			t.Errorf("%s", summary(ran))
		}
	})
}

// dependents returns the names of an instance's dependents.
func dependents(t *testing.T, w *worldtest.World, instanceID string) string {
	t.Helper()
	return shown(t, w, `{ moduleInstance(id: %q) { dependents { totalCount nodes { name } } } }`, instanceID)
}

func namesOf(names ...string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = `{"name":"` + name + `"}`
	}
	return fmt.Sprintf(`{"moduleInstance":{"dependents":{"totalCount":%d,"nodes":[%s]}}}`, len(names), strings.Join(list, ","))
}

func TestDependentsAreThoseWhoseLiveOrActiveDeploymentRefers(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		base, p := w.Fixture(t, w.Acme, "base"), w.Fixture(t, w.Acme, "user")
		v := newVersion(t, w, p, "2.0.0", referring)
		on, other := base.Instance, base.NewInstance(t, "other")
		is := func(what string, names ...string) {
			t.Helper()
			if got, want := dependents(t, w, on.ID), namesOf(names...); got != want {
				t.Errorf("%s: %s, want %s", what, got, want)
			}
		}
		refer := func(to string) *ent.Deployment {
			t.Helper()
			return create(t, w, p.Instance.ID, v.ID, fmt.Sprintf(`{"named":{"a":{"of":%q},"b":{"of":%[1]q}}}`, to))
		}
		is("before")
		failed := refer(on.ID)
		is("active", "web")
		p.Finish(t, failed, broken)
		is("failed")
		first := p.Finish(t, refer(on.ID), nil)
		is("live", "web")
		away := refer(other.ID)
		is("live, another is active", "web")
		p.Finish(t, away, nil)
		is("another is live")
		back, _, err := w.Deploy.Propose.Rollback(w.Acme.As(actor.Developer), propose.Replay{SourceID: first.ID})
		if err != nil {
			t.Fatal(err)
		}
		is("rolled back to, active", "web")
		p.Finish(t, back, nil)
		is("rolled back to, live", "web")
		for _, id := range []string{first.ID, back.ID} {
			raw(t, w, `UPDATE deployments SET given_from = NULL WHERE id = '`+id+`'`)
		}
		is("live, nothing is kept", "web")
		raw(t, w, `UPDATE module_instances SET live_deployment_id = NULL WHERE id = '`+p.Instance.ID+`'`)
		is("nothing is live")
		foreign := w.GraphQL(t, w.Globex.Tokens[actor.Viewer], fmt.Sprintf(`{ moduleInstance(id: %q) { dependents { totalCount } } }`, on.ID), nil)
		if foreign.Code(t) != string(fault.ModuleInstanceNotFound) {
			t.Errorf("%s", foreign.Body)
		}
	})
}

func TestDependentsAreAPage(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		base, p := w.Fixture(t, w.Acme, "base"), w.Fixture(t, w.Acme, "user")
		v := newVersion(t, w, p, "2.0.0", referring)
		for _, name := range []string{"a", "b", "c"} {
			create(t, w, p.NewInstance(t, name).ID, v.ID, fmt.Sprintf(`{"of":null,"named":{"a":{"of":%q}}}`, base.Instance.ID))
		}
		page := func(args string) worldtest.Response {
			t.Helper()
			r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], fmt.Sprintf(`{ moduleInstance(id: %q) { dependents(%s) { nodes { name } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } } }`, base.Instance.ID, args), nil)
			if r.At(t, "errors") != nil {
				t.Fatalf("%s", r.Body)
			}
			return r
		}
		is := func(r worldtest.Response, next, previous bool, names ...string) {
			t.Helper()
			nodes, _ := r.At(t, "data", "moduleInstance", "dependents", "nodes").([]any)
			var got []string
			for i := range nodes {
				got = append(got, r.Text(t, "data", "moduleInstance", "dependents", "nodes", i, "name"))
			}
			info := r.At(t, "data", "moduleInstance", "dependents", "pageInfo").(map[string]any)
			if diff := cmp.Diff(names, got); diff != "" || info["hasNextPage"] != next || info["hasPreviousPage"] != previous {
				t.Errorf("%s: %s", r.Body, diff)
			}
		}
		first := page("first: 2")
		is(first, true, false, "c", "b")
		is(page(fmt.Sprintf("first: 2, after: %q", first.Text(t, "data", "moduleInstance", "dependents", "pageInfo", "endCursor"))), false, true, "a")
		last := page("last: 2")
		is(last, false, true, "b", "a")
		is(page(fmt.Sprintf("last: 2, before: %q", last.Text(t, "data", "moduleInstance", "dependents", "pageInfo", "startCursor"))), true, false, "c")
		ran := w.Statements(func() {
			shown(t, w, `{ moduleInstances(first: 5) { nodes { dependents(first: 1) { totalCount nodes { name } } } } }`)
		})
		if n := len(ran); n > 6 {
			t.Errorf("%d statements: %s", n, summary(ran))
		}
	})
}
