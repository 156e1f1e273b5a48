package server_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"slipway/internal/base/actor"
	"slipway/internal/base/strictjson"
	"slipway/internal/edge/jsonlog"
	"slipway/internal/pure/module"
	"slipway/internal/server"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// What the marks of the test below begin with. They are put where a value or a secret may stand.
const markedValue, markedSecret = "canary-value-", "canary-secret-"

// marked is the schema of inputs whose values are marked. A value that begins with "canary" keeps its rules.
const marked = `[
	{"id":"image","type":"string","label":"Image","required":true,"default":"canary-value-default","patterns":[{"pattern":"^canary","message":"canary"}]},
	{"id":"db_password","type":"string","label":"Password","patterns":[{"pattern":"^canary","message":"canary"}]},
	{"id":"env","type":"keyvalue","label":"Environment"}
]`

// course is a course of requests, each with marks in all that it says.
type course struct {
	t *testing.T
	w *worldtest.World
	// errors and answers are what was answered: what has an error, and all.
	errors, answers strings.Builder
	refused         int
}

func (c *course) ask(role actor.Role, query string, input map[string]any) worldtest.Response {
	c.t.Helper()
	return c.note(c.w.GraphQL(c.t, c.w.Acme.Tokens[role], query, map[string]any{"input": input}))
}

func (c *course) note(answer worldtest.Response) worldtest.Response {
	c.answers.Write(answer.Body)
	var graphql struct{ Errors json.RawMessage }
	switch {
	case answer.Status >= http.StatusBadRequest:
		c.errors.Write(answer.Body)
		c.refused++
	case json.Unmarshal(answer.Body, &graphql) == nil && graphql.Errors != nil:
		c.errors.Write(graphql.Errors)
		c.refused++
	}
	return answer
}

const (
	createMarked = `mutation ($input: CreateDeploymentInput!) { createDeployment(input: $input) { deployment { id release { inputs artifact } } } }`
	judgeMarked  = `query ($input: InputValuesInput!) { validateInputs(input: $input) { valid violations { message } } resolveInputs(input: $input) { values } }`
)

// run makes the requests: what is judged, deployed, refused, carried out, followed, compared, replayed and canceled, and
// what fails in the database.
func (c *course) run() {
	t, w := c.t, c.w
	p := w.Fixture(t, w.Acme, "web")
	version, _, err := w.Catalog.PublishVersion(w.Acme.As(actor.Admin), module.NewVersion{
		DefinitionID: p.Definition.ID, Version: "2.0.0", Kind: module.DeploymentTypeTerraform, Inputs: strictjson.MustParse(marked),
	})
	if err != nil {
		t.Fatal(err)
	}
	values := func(n int) map[string]any {
		return map[string]any{
			"image": fmt.Sprint(markedValue, "image-", n), "db_password": fmt.Sprint(markedSecret, "password-", n),
			"env": map[string]any{"API_TOKEN": fmt.Sprint(markedSecret, "token-", n), "MODE": markedValue + "mode"},
		}
	}
	create := func(inputs any) worldtest.Response {
		return c.ask(actor.Developer, createMarked, map[string]any{
			"moduleInstanceId": p.Instance.ID, "moduleVersionId": version.ID, "inputs": inputs, "description": markedValue + "why",
		})
	}
	bad := values(0)
	bad["db_password"], bad["image"], bad["env"], bad[markedValue+"key"] = "x-"+markedSecret+"bad", 7, []any{markedSecret + "list"}, markedSecret+"unknown"
	for _, inputs := range []any{bad, []any{"TOKEN=" + markedSecret + "array"}, "TOKEN=" + markedSecret + "text"} {
		create(inputs)
		c.ask(actor.Developer, judgeMarked, map[string]any{"moduleVersionId": version.ID, "moduleInstanceId": p.Instance.ID, "values": inputs})
	}
	var ids []string
	for n := range 2 {
		id := create(values(n)).Text(t, "data", "createDeployment", "deployment", "id")
		create(values(n)) // refused, since one is active
		c.carryOut(id, n)
		ids = append(ids, id)
	}
	c.ask(actor.Viewer, fmt.Sprintf(`{ compareDeployments(fromId: %q, toId: %q) { inputs { pointer before after } } }`, ids[0], ids[1]), nil)
	for _, path := range []string{"/deployments/" + ids[0], "/deployments/none", "/module-definitions?limit=" + markedValue} {
		c.note(w.REST(t, http.MethodGet, path, w.Acme.Tokens[actor.Viewer], "", nil))
	}
	body := `{"inputs":{"db_password":"` + markedSecret + `rest"}}`
	for _, action := range []string{"rollback", "redeploy"} {
		c.note(w.REST(t, http.MethodPost, "/deployments/"+ids[0]+"/"+action, w.Acme.Tokens[actor.Developer], body, nil))
		c.note(w.REST(t, http.MethodPost, "/deployments/"+ids[0]+"/"+action, w.Acme.Tokens[actor.Developer], "", nil))
	}
	c.follow(ids[0])
	c.ask(actor.Viewer, `{ viewer { `+markedSecret+` } }`, nil)
	if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), `ALTER TABLE given_inputs RENAME TO gone`); err != nil {
		t.Fatal(err)
	}
	next := p.NewInstance(t, "next")
	p.Instance = next
	if failed := create(values(3)); !strings.Contains(string(failed.Body), "slipway:Server:INTERNAL") {
		t.Errorf("without a table: %s", failed.Body)
	}
}

// carryOut carries a deployment out, whose program says what it must not.
func (c *course) carryOut(id string, n int) {
	c.t.Helper()
	lease := c.ask(actor.Runner, `mutation ($input: ClaimDeploymentInput!) { claimDeployment(input: $input) { lease { id } deployment { id release { inputs } } } }`,
		map[string]any{"deploymentTypes": []string{"terraform"}}).Text(c.t, "data", "claimDeployment", "lease", "id")
	const report = `mutation ($input: ReportDeploymentInput!) { reportDeployment(input: $input) { deployment { id } } }`
	said := fmt.Sprint("DB_PASSWORD=", markedSecret, "said-", n)
	c.ask(actor.Runner, report, map[string]any{"id": id, "leaseId": lease, "sequence": 1,
		"events": []any{map[string]any{"message": said}}, "logs": []any{map[string]any{"stream": "STDOUT", "text": said}}})
	c.ask(actor.Runner, report, map[string]any{"id": id, "leaseId": markedSecret + "lease", "externalDeploymentId": markedValue + "external"})
	c.ask(actor.Runner, `mutation ($input: CompleteDeploymentInput!) { completeDeployment(input: $input) { deployment { id } } }`,
		map[string]any{"id": id, "leaseId": lease, "outputs": map[string]any{"url": markedValue + "url", "db_password": markedSecret + "output"}})
}

// follow follows a deployment until it has ended, by an event stream.
func (c *course) follow(id string) {
	c.t.Helper()
	query, err := json.Marshal(map[string]any{"query": `subscription ($id: ID!) { deploymentChanged(id: $id) { deployment { description release { inputs } } } }`, "variables": map[string]any{"id": id}})
	if err != nil {
		c.t.Fatal(err)
	}
	answer := c.w.REST(c.t, http.MethodPost, "/graphql", c.w.Acme.Tokens[actor.Viewer], string(query), map[string]string{"Accept": "text/event-stream"})
	c.answers.Write(answer.Body)
}

func TestWhatIsMarkedIsNeitherLoggedNorCountedNorTraced(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		spans := tracetest.NewInMemoryExporter()
		tracing := trace.NewTracerProvider(trace.WithSyncer(spans))
		var log testkit.Log
		c := &course{t: t, w: w.Serving(t, func(s *server.Config) {
			s.Log = slog.New(jsonlog.New(&log, slog.LevelDebug))
			s.Trace = func(next http.Handler) http.Handler {
				return otelhttp.NewHandler(next, "request", otelhttp.WithTracerProvider(tracing))
			}
		})}
		c.run()

		if !strings.Contains(c.answers.String(), markedSecret+"password-1") || !strings.Contains(c.answers.String(), markedValue+"image-1") || c.refused < 12 {
			t.Fatalf("%d requests were refused, and the answers do not have what was deployed: %s", c.refused, c.answers.String())
		}
		metrics := &strings.Builder{}
		for series := range c.w.Metrics(t) {
			metrics.WriteString(series + "\n")
		}
		traced, err := json.Marshal(spans.GetSpans())
		if err != nil || !strings.Contains(string(traced), "INSERT") || !strings.Contains(log.String(), "slipway:Server:INTERNAL") {
			t.Fatalf("the spans have no statement, or the log no failure: %v", err)
		}
		for what, text := range map[string]string{"the log": log.String(), "the metrics": metrics.String(), "the traces": string(traced)} {
			for _, mark := range []string{markedValue, markedSecret} {
				if _, after, found := strings.Cut(text, mark); found {
					t.Errorf("%s have %s%.60s", what, mark, after)
				}
			}
		}
		if _, after, found := strings.Cut(c.errors.String(), markedSecret); found {
			t.Errorf("an error has %s%.60s", markedSecret, after)
		}
	})
}
