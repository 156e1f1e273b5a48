// Package paritytest_test holds the two surfaces to one another: what GraphQL and REST answer to the same
// question is the same record, the same refusal and the same change.
package paritytest_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"slipway/internal/test/worldtest"
)

// operation is one of those that both surfaces have.
type operation struct {
	name string
	// method, path and status are REST's; {id} in the path is the record's id.
	method, path string
	status       int
	// headers are sent over REST.
	headers map[string]string
	// document is GraphQL's; it takes $id or $input. at is the place of the record in its answer.
	document string
	at       []any
	// input makes GraphQL's variables of an id and REST's data.
	input func(id, data string) any
}

const deploymentFields = `id createdAt updatedAt organizationId projectId environmentId moduleInstanceId deploymentType
	triggerSource description startedAt completedAt
	error { code message description action { label url } details { title render items object } isInternal metadata requestId }
	externalDeploymentId pipelineRunId stepExecutionId resourceArn resourceName redeployOfDeploymentId
	rollbackToDeploymentId data: dataJson`

const definitionFields = `id createdAt updatedAt organizationId givenId name description schema: schemaJson createdByType`

const moduleFields = `id name description type createdAt updatedAt latestVersion latestVersionId organizationId`

var (
	update = operation{
		name: "update", method: http.MethodPatch, path: "/default-value-definitions/{id}", status: http.StatusOK,
		document: `mutation($input: UpdateDefaultValueDefinitionInput!) {
			updateDefaultValueDefinition(input: $input) { defaultValueDefinition { ` + definitionFields + ` } } }`,
		at:    []any{"data", "updateDefaultValueDefinition", "defaultValueDefinition"},
		input: patchInput,
	}
	read = operation{
		name: "read", method: http.MethodGet, path: "/deployments/{id}", status: http.StatusOK,
		document: `query($id: ID!) { deployment(id: $id) { ` + deploymentFields + ` } }`,
		at:       []any{"data", "deployment"},
		input:    func(id, _ string) any { return map[string]any{"id": id} },
	}
	rollback = operation{
		name: "rollback", method: http.MethodPost, path: "/deployments/{id}/rollback", status: http.StatusCreated,
		document: `mutation($input: RollbackDeploymentInput!) { rollbackDeployment(input: $input) { deployment { ` + deploymentFields + ` } } }`,
		at:       []any{"data", "rollbackDeployment", "deployment"},
		input:    idInput,
	}
	redeploy = operation{
		name: "redeploy", method: http.MethodPost, path: "/deployments/{id}/redeploy", status: http.StatusCreated,
		document: `mutation($input: RedeployDeploymentInput!) { redeployDeployment(input: $input) { deployment { ` + deploymentFields + ` } } }`,
		at:       []any{"data", "redeployDeployment", "deployment"},
		input:    idInput,
	}
	// byID are the operations on one record.
	byID = []operation{update, read, rollback, redeploy}
)

func idInput(id, _ string) any {
	return map[string]any{"input": map[string]any{"id": id}}
}

// patchInput makes the input of an update: REST's data, its schema under GraphQL's json.
func patchInput(id, data string) any {
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(data), &members); err != nil {
		panic(err)
	}
	if schema, ok := members["schema"]; ok && string(schema) != "null" {
		members["schema"] = json.RawMessage(`{"json":` + string(schema) + `}`)
	}
	members["id"], _ = json.Marshal(id)
	return map[string]any{"input": members}
}

func (o operation) rest(t testing.TB, w *worldtest.World, token, id, data string) worldtest.Response {
	t.Helper()
	body := ""
	if o.method == http.MethodPatch {
		body = `{"data":` + data + `}`
	}
	return w.REST(t, o.method, strings.Replace(o.path, "{id}", url.PathEscape(id), 1), token, body, o.headers)
}

func (o operation) graphQL(t testing.TB, w *worldtest.World, token, id, data string) worldtest.Response {
	t.Helper()
	return w.GraphQL(t, token, o.document, o.input(id, data))
}

// record is what GraphQL answered in REST's form: what is null is left out. Free-form JSON stays as it
// is.
func (o operation) record(t testing.TB, r worldtest.Response) any {
	t.Helper()
	return withoutNulls(r.At(t, o.at...))
}

func withoutNulls(v any) any {
	object, ok := v.(map[string]any)
	if !ok {
		return v
	}
	kept := map[string]any{}
	for name, member := range object {
		switch {
		case member == nil:
		case name == "error" || name == "action":
			kept[name] = withoutNulls(member)
		case name == "details":
			sections := []any{}
			for _, section := range member.([]any) {
				sections = append(sections, withoutNulls(section))
			}
			kept[name] = sections
		default:
			kept[name] = member
		}
	}
	return kept
}
