package counttest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"slipway/graph"
	"slipway/graph/generated"
	"slipway/graph/model"
	"slipway/internal/base/actor"
	"slipway/internal/data/page"
	"slipway/internal/data/record"
	"slipway/internal/edge/gqlhttp"
)

// mostOfEngine is how many allocations the endpoint may make for a request whose resolvers make none.
var mostOfEngine = map[string]int{"A": 150, "C": 260, "D": 140}

// memory are resolvers that answer from memory, and allocate nothing.
type memory struct {
	generated.ResolverRoot
	query      *memoryQuery
	deployment *memoryDeployment
}

func (m *memory) Query() generated.QueryResolver           { return m.query }
func (m *memory) Deployment() generated.DeploymentResolver { return m.deployment }

type memoryQuery struct {
	generated.QueryResolver
	deployments *page.Connection[*record.Deployment]
	definitions *page.Connection[*record.ModuleDefinition]
}

func (q *memoryQuery) Deployment(context.Context, string) (*record.Deployment, error) {
	return q.deployments.Edges[0].Node, nil
}

func (q *memoryQuery) Deployments(context.Context, *model.DeploymentFilter, model.DeploymentOrder, *int32, *string, *int32, *string) (*page.Connection[*record.Deployment], error) {
	return q.deployments, nil
}

func (q *memoryQuery) ModuleDefinitions(context.Context, *model.ModuleDefinitionFilter, model.ListOrder, *int32, *string, *int32, *string) (*page.Connection[*record.ModuleDefinition], error) {
	return q.definitions, nil
}

type memoryDeployment struct {
	generated.DeploymentResolver
	instance *record.ModuleInstance
	target   *record.Deployment
}

func (d *memoryDeployment) ModuleInstance(context.Context, *record.Deployment) (*record.ModuleInstance, error) {
	return d.instance, nil
}

func (d *memoryDeployment) RollbackTo(context.Context, *record.Deployment) (*record.Deployment, error) {
	return d.target, nil
}

// rowsInMemory returns the resolvers with as many records as the requests ask for.
func rowsInMemory() *memory {
	at := time.Date(2030, 1, 1, 0, 0, 0, 123_000_000, time.UTC)
	text := func(i int) *string { return new(fmt.Sprintf("Release 1.4.%d", i)) }
	q := &memoryQuery{
		deployments: &page.Connection[*record.Deployment]{PageInfo: &page.Info{EndCursor: text(0)}},
		definitions: &page.Connection[*record.ModuleDefinition]{PageInfo: &page.Info{EndCursor: text(0)}},
	}
	d := &memoryDeployment{instance: &record.ModuleInstance{ID: "inst_1", Name: "web"}, target: &record.Deployment{ID: "dep_1", CreatedAt: at}}
	for i := range 50 {
		id := fmt.Sprintf("%026d", i)
		q.deployments.Edges = append(q.deployments.Edges, &page.Edge[*record.Deployment]{Cursor: id, Node: &record.Deployment{
			ID: "dep_" + id, OrganizationID: "org_" + id, ProjectID: "prj_" + id, EnvironmentID: "env_" + id, ModuleInstanceID: "inst_" + id,
			DeploymentType: "aws:ecs", Description: text(i), ResourceName: text(i), StartedAt: &at, CompletedAt: &at, CreatedAt: at,
		}})
		q.definitions.Edges = append(q.definitions.Edges, &page.Edge[*record.ModuleDefinition]{Cursor: id, Node: &record.ModuleDefinition{
			ID: "mod_" + id, Name: "web", Description: text(i), Type: "web", OrganizationID: text(i), LatestVersion: text(i), LatestVersionID: text(i),
			CreatedAt: at, UpdatedAt: at,
		}})
	}
	return &memory{&graph.Resolver{}, q, d}
}

// The endpoint answers from memory, so that what is counted is reading a request, executing it and writing its answer.
//
//nolint:paralleltest // what runs beside it would be counted
func TestTheEngineAllocatesLittle(t *testing.T) {
	if uncountable != "" {
		t.Skip(uncountable)
	}
	endpoint := graph.NewHandler(rowsInMemory(), graph.Config{
		Server: gqlhttp.Config{Presenter: gqlhttp.Presenter{Log: slog.New(slog.DiscardHandler)}},
	})
	for name, most := range mostOfEngine {
		text, err := os.ReadFile("../../../bench/requests/" + name + ".graphql")
		if err != nil {
			t.Fatal(err)
		}
		variables := map[string]any{"id": "dep_1", "environmentId": "env_1"}
		body, _ := json.Marshal(map[string]any{"query": string(text), "variables": variables})
		took := allocations(t, endpoint, string(body))
		t.Logf("%s: %d allocations", name, took)
		if took > most {
			t.Errorf("%s: %d allocations, at most %d", name, took, most)
		}
	}
}

// allocations returns how many allocations an endpoint makes for a request.
func allocations(t *testing.T, endpoint http.Handler, body string) int {
	t.Helper()
	a := &actor.Actor{ID: "tok_1", Role: actor.Admin, OrganizationID: "org_1", Channel: actor.GraphQL}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	least := 1 << 30
	for range warmups + samples {
		r := httptest.NewRequestWithContext(actor.With(t.Context(), a), http.MethodPost, "/graphql", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		answered := &answer{header: make(http.Header, 16), body: make([]byte, 0, 1<<20)}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		endpoint.ServeHTTP(answered, r)
		runtime.ReadMemStats(&after)
		least = min(least, int(after.Mallocs-before.Mallocs))
		if answered.status != http.StatusOK || strings.Contains(string(answered.body), `"errors"`) {
			t.Fatalf("%d: %.500s", answered.status, answered.body)
		}
	}
	return least
}
