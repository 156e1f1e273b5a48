package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"slipway/ent/moduledefinition"
	"slipway/internal/actor"
	"slipway/internal/catalog"
	"slipway/internal/fault"
	"slipway/internal/worldtest"
)

// code is the code of the error at a path of the answer, "nodes 1" for an item; empty where there is none.
func code(t testing.TB, r worldtest.Response, path string) string {
	t.Helper()
	list, _ := r.At(t, "errors").([]any)
	for _, e := range list {
		e := e.(map[string]any)
		if fmt.Sprint(e["path"]) == "["+path+"]" {
			return fmt.Sprint(e["extensions"].(map[string]any)["code"])
		}
	}
	return ""
}

func TestNeighboursOfARefusedFieldStillAnswer(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		own, foreign := w.Place(t, w.Acme, "web"), w.Place(t, w.Globex, "web")
		const query = `query($own: ID!, $foreign: ID!) { viewer { role } node(id: $foreign) { id } project(id: $own) { slug }
			deployment(id: $foreign) { id } errorCodes { code } `
		variables := map[string]any{"own": own.Project.ID, "foreign": foreign.Project.ID}
		r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], query+`nodes(ids: [$own, $foreign]) { id } }`, variables)
		if r.Status != 200 || r.Text(t, "data", "project", "slug") != "web" || r.Text(t, "data", "nodes", 0, "id") != own.Project.ID {
			t.Errorf("status %d: %s", r.Status, r.Body)
		}
		if r.At(t, "data", "node") != nil || r.At(t, "data", "deployment") != nil || r.At(t, "data", "nodes", 1) != nil {
			t.Errorf("refused fields are not null: %s", r.Body)
		}
		for path, want := range map[string]fault.Code{
			"node": fault.NodeNotFound, "deployment": fault.DeploymentNotFound, "nodes 1": fault.NodeNotFound,
		} {
			if got := code(t, r, path); got != string(want) {
				t.Errorf("%s: code %q, want %s", path, got, want)
			}
		}
		r = w.GraphQL(t, "", query+`nodes(ids: [$own, $foreign]) { id } }`, variables)
		if r.Status != 200 || r.At(t, "data", "errorCodes", 0, "code") == nil || r.At(t, "data", "viewer") != nil {
			t.Errorf("without a token: status %d: %.500s", r.Status, r.Body)
		}
		for _, field := range []string{"node", "project", "deployment", "nodes 0", "nodes 1"} {
			if got := code(t, r, field); got != string(fault.RequestUnauthenticated) || !strings.Contains(field, " ") && r.At(t, "data", field) != nil {
				t.Errorf("without a token, %s: code %q", field, got)
			}
		}
	})
}

func TestASuperadminActsInTheOrganizationThatIsNamed(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Place(t, w.Acme, "web")
		d := p.Succeeded(t)
		w.Place(t, w.Globex, "hidden")
		const query = `query($o: ID, $d: ID!) { viewer { role organization { slug } } projects(organizationId: $o) { nodes { slug } }
			deployment(id: $d) { moduleInstance { project { slug } liveDeployment { id } } } }`
		r := w.GraphQL(t, w.Superadmin, query, map[string]any{"o": w.Acme.ID, "d": d.ID})
		if r.At(t, "errors") != nil || r.Text(t, "data", "viewer", "organization", "slug") != "acme" {
			t.Errorf("%s", r.Body)
		}
		if list, _ := r.At(t, "data", "projects", "nodes").([]any); len(list) != 1 || r.Text(t, "data", "projects", "nodes", 0, "slug") != "web" {
			t.Errorf("projects of the organization: %s", r.Body)
		}
		if r.Text(t, "data", "deployment", "moduleInstance", "project", "slug") != "web" || r.Text(t, "data", "deployment", "moduleInstance", "liveDeployment", "id") != d.ID {
			t.Errorf("nested edges: %s", r.Body)
		}
		made := w.GraphQL(t, w.Superadmin, `mutation($o: ID) { createProject(input: {name: "N", slug: "n", organizationId: $o}) { project { organizationId } } }`, map[string]any{"o": w.Globex.ID})
		if made.Text(t, "data", "createProject", "project", "organizationId") != w.Globex.ID {
			t.Errorf("%s", made.Body)
		}
	})
}

func TestOrganizationsThatMayNotBeNamedAreRefused(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		const one = `query($a: ID) { projects(organizationId: $a) { totalCount } }`
		const two = `query($a: ID, $b: ID) { projects(organizationId: $a) { totalCount } environments(organizationId: $b) { totalCount } }`
		for _, c := range []struct {
			token, query, a, b string
			status             int
			code               fault.Code
		}{
			{w.Superadmin, one, "", "", 200, fault.RequestInvalid},
			{w.Superadmin, two, w.Acme.ID, w.Globex.ID, 200, fault.RequestInvalid},
			{w.Superadmin, one, "org_01h455vb4pex5vsknk084sn02q", "", 404, fault.OrganizationNotFound},
			{w.Superadmin, one, "nonsense", "", 404, fault.OrganizationNotFound},
			{w.Acme.Tokens[actor.Admin], one, w.Globex.ID, "", 404, fault.OrganizationNotFound},
			{w.Acme.Tokens[actor.Admin], one, "nonsense", "", 404, fault.OrganizationNotFound},
		} {
			variables := map[string]any{}
			for name, value := range map[string]string{"a": c.a, "b": c.b} {
				if value != "" {
					variables[name] = value
				}
			}
			r := w.GraphQL(t, c.token, c.query, variables)
			if r.Code(t) != string(c.code) || r.Status != c.status || r.At(t, "data", "projects") != nil {
				t.Errorf("%v: status %d, want %d and %s: %s", variables, r.Status, c.status, c.code, r.Body)
			}
		}
		if r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], one, map[string]any{"a": w.Acme.ID}); r.At(t, "errors") != nil {
			t.Errorf("one's own organization: %s", r.Body)
		}
	})
}

func TestTheGlobalCatalogueBelongsToSuperadmins(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		const create = `mutation { createModuleDefinition(input: {name: "VPC", type: "aws/vpc", status: ACTIVE}) { moduleDefinition { id organizationId } } }`
		made := w.GraphQL(t, w.Superadmin, create, nil)
		if made.At(t, "errors") != nil || made.At(t, "data", "createModuleDefinition", "moduleDefinition", "organizationId") != nil {
			t.Fatalf("%s", made.Body)
		}
		id := map[string]any{"id": made.Text(t, "data", "createModuleDefinition", "moduleDefinition", "id")}
		const publish = `mutation($id: ID!) { publishModuleVersion(input: {moduleDefinitionId: $id, version: "1.0.0", deploymentType: "terraform", inputs: []})
			{ moduleVersion { organizationId moduleDefinition { latestVersion } } } }`
		const rename = `mutation($id: ID!) { updateModuleDefinition(input: {id: $id, name: "Network"}) { moduleDefinition { name } } }`
		for _, document := range []string{publish, rename} {
			if r := w.GraphQL(t, w.Acme.Tokens[actor.Admin], document, id); r.Code(t) != string(fault.ModuleDefinitionForbidden) {
				t.Errorf("an organization's admin: %s", r.Body)
			}
			if r := w.GraphQL(t, w.Superadmin, document, id); r.At(t, "errors") != nil {
				t.Errorf("a superadmin: %s", r.Body)
			}
		}
		r := w.GraphQL(t, w.Globex.Tokens[actor.Viewer], `query($id: ID!) { moduleDefinition(id: $id) { name latestVersion latestModuleVersion { version } versions { totalCount nodes { version } } } }`, id)
		if r.Text(t, "data", "moduleDefinition", "name") != "Network" || r.Text(t, "data", "moduleDefinition", "latestModuleVersion", "version") != "1.0.0" || r.Text(t, "data", "moduleDefinition", "versions", "nodes", 0, "version") != "1.0.0" {
			t.Errorf("%s", r.Body)
		}
	})
}

func TestCallersWithoutATokenSeeTheGlobalActiveCatalogueOnly(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		w.Place(t, w.Acme, "web")
		root := actor.With(t.Context(), &actor.Actor{Name: "root", Role: actor.Superadmin})
		for _, status := range []moduledefinition.Status{moduledefinition.StatusDRAFT, moduledefinition.StatusACTIVE} {
			if _, err := w.Catalog.CreateDefinition(root, catalog.NewDefinition{Name: "Shared", Type: string(status), Status: status}); err != nil {
				t.Fatal(err)
			}
		}
		r := w.GraphQL(t, "", `{ all: moduleDefinitions { totalCount nodes { type } } drafts: moduleDefinitions(status: DRAFT) { totalCount } }`, nil)
		if fmt.Sprint(r.At(t, "data")) != "map[all:map[nodes:[map[type:ACTIVE]] totalCount:1] drafts:map[totalCount:0]]" {
			t.Errorf("%s", r.Body)
		}
		inside := w.GraphQL(t, "", `{ moduleDefinitions { nodes { type versions { totalCount } } } }`, nil)
		if got := inside.Code(t); got != string(fault.RequestUnauthenticated) {
			t.Errorf("versions without a token: %s", inside.Body)
		}
	})
}
