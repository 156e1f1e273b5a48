package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/test/worldtest"
)

// code is the code of the error at a path of the answer, "nodes 1" for an item; empty if there is none.
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
		own, foreign := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Globex, "web")
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

func TestTheGlobalCatalogueBelongsToSuperadmins(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		const create = `mutation { createModuleDefinition(input: {name: "VPC", type: "aws/vpc", status: ACTIVE}) { moduleDefinition { id organizationId } } }`
		made := w.In(actor.Global).GraphQL(t, w.Superadmin, create, nil)
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
			if r := w.In(w.Acme.ID).GraphQL(t, w.Superadmin, document, id); r.Code(t) != string(fault.ModuleDefinitionForbidden) {
				t.Errorf("a superadmin who has named an organization: %s", r.Body)
			}
			if r := w.In(actor.Global).GraphQL(t, w.Superadmin, document, id); r.At(t, "errors") != nil {
				t.Errorf("a superadmin: %s", r.Body)
			}
		}
		r := w.GraphQL(t, w.Globex.Tokens[actor.Viewer], `query($id: ID!) { moduleDefinition(id: $id) { name latestVersion latestModuleVersion { version } versions { totalCount nodes { version } } } }`, id)
		if r.Text(t, "data", "moduleDefinition", "name") != "Network" || r.Text(t, "data", "moduleDefinition", "latestModuleVersion", "version") != "1.0.0" || r.Text(t, "data", "moduleDefinition", "versions", "nodes", 0, "version") != "1.0.0" {
			t.Errorf("%s", r.Body)
		}
	})
}
