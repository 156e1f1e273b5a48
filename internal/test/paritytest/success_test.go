package paritytest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/ent/moduledefinition"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/module"
	"slipway/internal/service/catalog"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

func TestDeploymentsReadTheSameOnBothSurfaces(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		viewer := w.Acme.Tokens[actor.Viewer]
		for name, d := range deploymentsOfEveryKind(t, w) {
			overREST := read.rest(t, w, viewer, d.ID, "")
			if overREST.Status != read.status {
				t.Errorf("%s: status %d: %s", name, overREST.Status, overREST.Body)
			}
			if diff := cmp.Diff(read.record(t, read.graphQL(t, w, viewer, d.ID, "")), overREST.At(t, "data")); diff != "" {
				t.Errorf("%s: GraphQL (-) and REST (+) differ: %s", name, diff)
			}
		}
	})
}

// deploymentsOfEveryKind returns deployments in every state, of every origin and of both kinds.
func deploymentsOfEveryKind(t *testing.T, w *worldtest.World) map[string]*ent.Deployment {
	t.Helper()
	p, developer := w.Fixture(t, w.Acme, "web"), w.Acme.As(actor.Developer)
	must := func(d *ent.Deployment, err error) *ent.Deployment {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	all := map[string]*ent.Deployment{
		"full":   full(t, w, p),
		"failed": p.Failed(t),
	}
	all["failed at length"] = p.Finish(t, p.Deploy(t, p.Instance.ID, `{"image":"x"}`), &fault.Data{
		Code: string(fault.DeploymentFailed), Message: "It did not start.", Description: "line 1\nline <2>",
		Action: &fault.Action{Label: "Read the log", URL: "https://log.example/1"},
		Details: []fault.Section{
			{Title: "Log", Render: fault.RenderList, Items: []string{"a", "b"}},
			{Title: "Task", Render: fault.RenderObject, Object: map[string]any{"exit": 1, "none": nil}},
		},
		Metadata: map[string]any{"attempt": 2, "nested": map[string]any{"null": nil}}, RequestID: "req_1",
	})
	all["rollback"] = p.Finish(t, must(worldtest.Unwarned(w.Deploy.Propose.Rollback(developer, propose.Replay{SourceID: all["full"].ID}))), nil)
	all["redeploy, canceled"] = must(worldtest.Unwarned(w.Deploy.Propose.Redeploy(developer, propose.Replay{SourceID: all["failed"].ID})))
	all["redeploy, canceled"] = must(w.Deploy.Execution.Cancel(developer, all["redeploy, canceled"].ID, nil))
	all["running"] = must(worldtest.Unwarned(w.Deploy.Propose.Redeploy(developer, propose.Replay{SourceID: all["full"].ID})))
	p.Claim(t, all["running"])
	all["running"] = must(w.Store.Client.Deployment.Get(developer, all["running"].ID))
	all["terraform"] = terraform(t, w, p)
	all["pending"] = p.Deploy(t, p.NewInstance(t, "other").ID, `{"image":"web:1"}`)
	return all
}

// full makes a deployment that has every field of data.
func full(t *testing.T, w *worldtest.World, p *worldtest.Fixture) *ent.Deployment {
	t.Helper()
	data, err := os.ReadFile("../../pure/ecs/testdata/full.json")
	if err != nil {
		t.Fatal(err)
	}
	runner := w.Acme.As(actor.Runner)
	d := p.Deploy(t, p.Instance.ID, `{"image":"web:1.4.2"}`)
	lease := p.Claim(t, d)
	external, arn, name := "ext-1", "arn:aws:ecs:eu-west-1:123456789012:service/main/web", "web"
	if _, _, err := w.Deploy.Execution.Report(runner, d.ID, lease, execution.Report{
		Data: worldtest.Reportable(data), ExternalDeploymentID: &external, ResourceARN: &arn, ResourceName: &name,
	}); err != nil {
		t.Fatal(err)
	}
	done, err := w.Deploy.Execution.End(runner, d.ID, lease, execution.Completion{})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func terraform(t *testing.T, w *worldtest.World, p *worldtest.Fixture) *ent.Deployment {
	t.Helper()
	inputs, err := strictjson.Parse([]byte(`[]`))
	if err != nil {
		t.Fatal(err)
	}
	version, _, err := w.Catalog.PublishVersion(w.Acme.As(actor.Admin), module.NewVersion{
		DefinitionID: p.Definition.ID, Version: "0.1.0", Kind: module.DeploymentTypeTerraform, Inputs: inputs,
	})
	if err != nil {
		t.Fatal(err)
	}
	d, _, err := w.Deploy.Propose.Create(w.Acme.As(actor.Developer), propose.New{
		InstanceID: p.NewInstance(t, "network").ID, VersionID: version.ID, Inputs: strictjson.MustParse(`{}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestReplaysAreTheSameOnBothSurfaces(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, developer := w.Fixture(t, w.Acme, "web"), w.Acme.Tokens[actor.Developer]
		source := full(t, w, p)
		for _, o := range []operation{rollback, redeploy} {
			overREST := o.rest(t, w, developer, source.ID, "")
			first, _ := overREST.At(t, "data").(map[string]any)
			id := overREST.Text(t, "data", "id")
			if location := overREST.Header.Get("Location"); overREST.Status != o.status || location != "/deployments/"+id {
				t.Errorf("%s: status %d, Location %q: %s", o.name, overREST.Status, location, overREST.Body)
			}
			sameAsRead(t, w, o, first)
			w.Cancel(t, w.Acme, id)

			second, _ := o.record(t, o.graphQL(t, w, developer, source.ID, "")).(map[string]any)
			sameAsRead(t, w, o, second)
			w.Cancel(t, w.Acme, fmt.Sprint(second["id"]))

			if diff := cmp.Diff(unique(t, first, "rest"), unique(t, second, "graphql")); diff != "" {
				t.Errorf("%s: REST (-) and GraphQL (+) made different deployments: %s", o.name, diff)
			}
		}
	})
}

// sameAsRead wants what a write answered to be what a read answers, on both surfaces.
func sameAsRead(t *testing.T, w *worldtest.World, o operation, record map[string]any) {
	t.Helper()
	viewer, id := w.Acme.Tokens[actor.Viewer], fmt.Sprint(record["id"])
	if diff := cmp.Diff(any(record), read.rest(t, w, viewer, id, "").At(t, "data")); diff != "" {
		t.Errorf("%s: written (-) and read over REST (+) differ: %s", o.name, diff)
	}
	if diff := cmp.Diff(any(record), read.record(t, read.graphQL(t, w, viewer, id, ""))); diff != "" {
		t.Errorf("%s: written (-) and read over GraphQL (+) differ: %s", o.name, diff)
	}
}

// unique takes what is a deployment's own from it, and wants its channel to be the surface.
func unique(t *testing.T, record map[string]any, channel string) map[string]any {
	t.Helper()
	data, _ := record["data"].(map[string]any)
	if data["triggerChannel"] != channel {
		t.Errorf("triggerChannel is %v, want %s", data["triggerChannel"], channel)
	}
	delete(data, "triggerChannel")
	for _, name := range []string{"id", "createdAt", "updatedAt"} {
		delete(record, name)
	}
	return record
}

func TestUpdatesAreTheSameOnBothSurfaces(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		admin := w.Acme.Tokens[actor.Admin]
		for i, data := range []string{
			`{}`,
			`{"name":"N"}`,
			`{"description":"<é> & \"q\" 😀"}`,
			`{"description":""}`,
			`{"schema":{"id":"n","label":"N","type":"number","min":-2147483648,"max":2147483647,"default":0}}`,
			`{"name":"A","description":"B","schema":{"type":"object","label":"O","id":"o","default":{"b":1.50,"a":1E+2,"n":null}}}`,
		} {
			one := definition(t, w, w.Acme, fmt.Sprintf("one-%d", i), plainSchema)
			two := definition(t, w, w.Acme, fmt.Sprintf("two-%d", i), plainSchema)
			overREST := update.rest(t, w, admin, one.ID, data)
			if overREST.Status != update.status {
				t.Errorf("%s: status %d: %s", data, overREST.Status, overREST.Body)
			}
			overGraphQL := update.record(t, update.graphQL(t, w, admin, two.ID, data))
			first, again := overREST.At(t, "data"), update.record(t, update.graphQL(t, w, admin, one.ID, `{}`))
			if diff := cmp.Diff(first, again); diff != "" {
				t.Errorf("%s: written over REST (-) and read over GraphQL (+): %s", data, diff)
			}
			if diff := cmp.Diff(overGraphQL, update.rest(t, w, admin, two.ID, `{}`).At(t, "data")); diff != "" {
				t.Errorf("%s: written over GraphQL (-) and read over REST (+): %s", data, diff)
			}
			if diff := cmp.Diff(anonymous(first), anonymous(overGraphQL)); diff != "" {
				t.Errorf("%s: REST (-) and GraphQL (+) wrote different records: %s", data, diff)
			}
		}
	})
}

// anonymous takes what is a definition's own from it.
func anonymous(v any) any {
	record, _ := v.(map[string]any)
	for _, name := range []string{"id", "givenId", "createdAt", "updatedAt"} {
		delete(record, name)
	}
	return record
}

const catalogue = `query($status: ModuleDefinitionStatus, $first: Int, $after: String) {
	moduleDefinitions(filter: {status: $status}, first: $first, after: $after) {
		nodes { ` + moduleFields + ` } pageInfo { hasNextPage endCursor } totalCount } }`

func TestTheCatalogueIsTheSameOnBothSurfaces(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		w.Fixture(t, w.Globex, "hidden")
		w.Fixture(t, w.Acme, "web")
		root := actor.With(t.Context(), &actor.Actor{Name: "root", Role: actor.Superadmin, Globally: true})
		about := "Shared"
		for i := range 3 {
			for _, status := range []moduledefinition.Status{moduledefinition.StatusDRAFT, moduledefinition.StatusACTIVE} {
				in := catalog.NewDefinition{Name: "Shared", Type: fmt.Sprintf("shared/%s-%d", status, i), Description: &about, Status: status}
				if _, _, err := w.Catalog.CreateDefinition(root, in); err != nil {
					t.Fatal(err)
				}
			}
		}
		total := map[string]map[string]int{
			"":                            {"": 3, "ACTIVE": 3, "DRAFT": 0},
			w.Superadmin:                  {"": 6, "ACTIVE": 3, "DRAFT": 3},
			w.Acme.Tokens[actor.Viewer]:   {"": 7, "ACTIVE": 4, "DRAFT": 3},
			w.Globex.Tokens[actor.Runner]: {"": 7, "ACTIVE": 4, "DRAFT": 3},
		}
		for token, byStatus := range total {
			for status, want := range byStatus {
				if got := walk(t, w, token, status); got != want {
					t.Errorf("token %.12q, status %q: %d definitions, want %d", token, status, got, want)
				}
			}
		}
	})
}

// walk goes through the catalogue on both surfaces, two at a time, and counts.
func walk(t *testing.T, w *worldtest.World, token, status string) int {
	t.Helper()
	count, filter, variables := 0, "", map[string]any{"first": 2}
	if status != "" {
		filter, variables["status"] = "&status="+status, status
	}
	for cursor := ""; ; {
		overREST := w.REST(t, "GET", "/module-definitions?limit=2"+filter+cursor, token, "", nil)
		overGraphQL := w.GraphQL(t, token, catalogue, variables)
		list, _ := overGraphQL.At(t, "data", "moduleDefinitions", "nodes").([]any)
		for i := range list {
			list[i] = withoutNulls(list[i])
		}
		meta := map[string]any{"totalCount": overGraphQL.At(t, "data", "moduleDefinitions", "totalCount"), "limit": json.Number("2")}
		next, _ := overGraphQL.At(t, "data", "moduleDefinitions", "pageInfo", "endCursor").(string)
		more := overGraphQL.At(t, "data", "moduleDefinitions", "pageInfo", "hasNextPage") == true
		if more {
			meta["nextCursor"] = next
		}
		if diff := cmp.Diff(any(map[string]any{"data": list, "meta": meta}), overREST.At(t)); diff != "" || overREST.Status != 200 {
			t.Fatalf("GraphQL (-) and REST (+) differ, status %d: %s", overREST.Status, diff)
		}
		if count += len(list); !more {
			return count
		}
		cursor, variables["after"] = "&cursor="+next, next
	}
}
