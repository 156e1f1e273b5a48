package server_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/strictjson"
	"slipway/internal/edge/gqlhttp/document"
	"slipway/internal/pure/inputprop"
	"slipway/internal/server"
	"slipway/internal/service/defaults"
	"slipway/internal/test/worldtest"
)

// BenchmarkJSON sends requests whose bodies or answers are mostly JSON of the caller's own through the whole program, on
// SQLite.
func BenchmarkJSON(b *testing.B) {
	w := worldtest.New(b, worldtest.SQLite(b))
	api := benchAPI{w, server.New(w.Store, server.Config{
		Log: slog.New(slog.DiscardHandler), MaxBody: 1 << 20, Limits: document.Limits{Cost: math.MaxInt32},
	})}
	for _, size := range []int{2 << 10, 200 << 10} {
		kb := fmt.Sprintf("%dKB", size>>10)
		b.Run("patch/rest/"+kb, func(b *testing.B) { api.patch(b, size, api.patchREST) })
		b.Run("patch/graphql/"+kb, func(b *testing.B) { api.patch(b, size, api.patchGraphQL) })
		b.Run("createDeployment/"+kb, func(b *testing.B) { api.create(b, size) })
	}
	d := api.deployed(b, 4<<10)
	b.Run("deployment/rest/4KB", func(b *testing.B) {
		api.repeat(b, request{actor.Viewer, http.MethodGet, "/deployments/" + d, ""})
	})
	b.Run("deployment/graphql/4KB", func(b *testing.B) {
		api.repeat(b, operation(b, actor.Viewer, `query($id: ID!) { deployment(id: $id) {
			id dataJson data { ... on EcsDeploymentData { deployedTaskDefinition { arn revision definition } } }
		} }`, map[string]any{"id": d}))
	})
}

// benchAPI is a world whose requests come without a network.
type benchAPI struct {
	*worldtest.World
	handler http.Handler
}

// request is one of Acme's.
type request struct {
	role               actor.Role
	method, path, body string
}

func operation(b *testing.B, role actor.Role, query string, variables any) request {
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		b.Fatal(err)
	}
	return request{role, http.MethodPost, "/graphql", string(body)}
}

// send returns the answer to a request, which must be a success.
func (api benchAPI) send(b *testing.B, r request) worldtest.Response {
	sent := httptest.NewRequestWithContext(b.Context(), r.method, r.path, strings.NewReader(r.body))
	sent.Header.Set("Authorization", "Bearer "+api.Acme.Tokens[r.role])
	sent.Header.Set("Content-Type", "application/json")
	got := httptest.NewRecorder()
	api.handler.ServeHTTP(got, sent)
	if text := got.Body.String(); got.Code != http.StatusOK || strings.HasPrefix(text, `{"errors"`) {
		b.Fatalf("%s %s: %d %.500s", r.method, r.path, got.Code, text)
	}
	return worldtest.Response{Status: got.Code, Header: got.Header(), Body: got.Body.Bytes()}
}

// repeat sends requests in turn.
func (api benchAPI) repeat(b *testing.B, requests ...request) {
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		api.send(b, requests[i%len(requests)])
	}
}

// patch gives a definition two schemas in turn.
func (api benchAPI) patch(b *testing.B, size int, patch func(b *testing.B, id, schema string) request) {
	schema := func(mark string) string {
		return `{"id":"config","type":"object","label":"Configuration","default":` + largeJSON(size, mark) + `}`
	}
	n, err := strictjson.Parse([]byte(schema("first")))
	if err != nil {
		b.Fatal(err)
	}
	admin := api.Acme.As(actor.Admin)
	d, _, err := api.Defaults.Create(admin, defaults.New{GivenID: "config", Name: "Configuration", Schema: inputprop.NewRawProperty(n)})
	if err != nil {
		b.Fatal(err)
	}
	api.repeat(b, patch(b, d.ID, schema("second")), patch(b, d.ID, schema("third")))
	if _, err := api.Defaults.Delete(admin, d.ID); err != nil {
		b.Fatal(err)
	}
}

func (api benchAPI) patchREST(_ *testing.B, id, schema string) request {
	return request{actor.Admin, http.MethodPatch, "/default-value-definitions/" + id, `{"data":{"schema":` + schema + `}}`}
}

func (api benchAPI) patchGraphQL(b *testing.B, id, schema string) request {
	return operation(b, actor.Admin, `mutation($input: UpdateDefaultValueDefinitionInput!) {
		updateDefaultValueDefinition(input: $input) { defaultValueDefinition { id schemaJson } }
	}`, map[string]any{"input": map[string]any{"id": id, "schema": map[string]any{"json": json.RawMessage(schema)}}})
}

// create creates deployments, and cancels each with the clock stopped.
func (api benchAPI) create(b *testing.B, size int) {
	create := api.creation(b, fmt.Sprintf("create-%d-%d", size, b.N), `{"config":`+largeJSON(size, "x")+`}`, worldtest.Artifact)
	b.ReportAllocs()
	for b.Loop() {
		id := deploymentID(b, api.send(b, create))
		b.StopTimer()
		if _, err := api.Deploy.Execution.Cancel(api.Acme.As(actor.Developer), id, nil); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// deployed makes a deployment whose data has about that many bytes.
func (api benchAPI) deployed(b *testing.B, size int) (id string) {
	artifact := `{"arn":"arn:aws:ecs:eu-west-1:123456789012:task-definition/web:7","revision":7,"definition":` + largeJSON(size, "x") + `}`
	return deploymentID(b, api.send(b, api.creation(b, "read", `{}`, artifact)))
}

func deploymentID(b *testing.B, created worldtest.Response) string {
	return created.Text(b, "data", "createDeployment", "deployment", "id")
}

// creation makes an instance of a module with a free-form input, and returns what deploys it.
func (api benchAPI) creation(b *testing.B, name, inputs, artifact string) request {
	p := api.Fixture(b, api.Acme, name)
	version := api.send(b, operation(b, actor.Admin, `mutation($input: PublishModuleVersionInput!) {
		publishModuleVersion(input: $input) { moduleVersion { id } }
	}`, map[string]any{"input": map[string]any{
		"moduleDefinitionId": p.Definition.ID, "version": "2.0.0", "deploymentType": "aws:ecs",
		"inputs": []any{map[string]any{"object": map[string]any{"id": "config", "label": "Configuration"}}},
	}})).Text(b, "data", "publishModuleVersion", "moduleVersion", "id")
	return operation(b, actor.Developer, `mutation($input: CreateDeploymentInput!) {
		createDeployment(input: $input) { deployment { id } }
	}`, map[string]any{"input": map[string]any{
		"moduleInstanceId": p.Instance.ID, "moduleVersionId": version, "inputs": json.RawMessage(inputs),
		"artifact": json.RawMessage(artifact), "data": json.RawMessage(worldtest.Data),
	}})
}

// largeJSON is an object of about that many bytes.
func largeJSON(size int, mark string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"mark":%q,"services":[`, mark)
	for i := 0; b.Len() < size-100; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"service-%d","image":"registry.example/service:1.4.%d","cpu":256,"memory":512,"ports":[80,8080],"ready":true}`, i, i)
	}
	return b.String() + "]}"
}
