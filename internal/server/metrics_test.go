package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"slipway/graph"
	"slipway/internal/base/actor"
	"slipway/internal/data/store"
	"slipway/internal/pure/gate"
	"slipway/internal/server"
	"slipway/internal/service/account"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/rule"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

func TestMetricsCountWhatWasAsked(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		token := w.Acme.Tokens[actor.Admin]
		for range 3 {
			w.GraphQL(t, token, `query Mine { ...F } fragment F on Query { viewer { tokenId } }`, nil)
		}
		w.GraphQL(t, token, `mutation { createProject(input: {name: "A", slug: "a"}) { project { id } } }`, nil)
		w.GraphQL(t, token, `{ deployment(id: "dep_1") { id } }`, nil)
		w.GraphQL(t, token, `{ nothing }`, nil)
		w.GraphQL(t, token, `{ `+strings.Repeat("viewer { tokenId } ", 500)+` }`, nil)
		w.REST(t, http.MethodGet, "/deployments/dep_1", token, "", nil)
		w.REST(t, http.MethodGet, "/module-definitions", token, "", nil)
		w.REST(t, http.MethodGet, "/nothing", token, "", nil)
		w.REST(t, "BREW", "/deployments/dep_1", token, "", nil)
		socket := dial(t, w.URL, token)
		say(t, socket, `{"id":"1","type":"subscribe","payload":{"query":"{ viewer { tokenId } }"}}`)
		for range 3 { // the acknowledgement, the answer, the end
			hear(t, socket)
		}
		say(t, socket, `{"id":"2","type":"subscribe","payload":{"query":"{ nothing }"}}`)
		hear(t, socket)
		wantMetrics(t, w.Metrics(t), map[string]float64{
			`slipway_http_requests_total{method="POST",route="/graphql",status="200"}`:           7,
			`slipway_http_requests_total{method="GET",route="/deployments/{id}",status="404"}`:   1,
			`slipway_http_requests_total{method="GET",route="/module-definitions",status="200"}`: 1,
			`slipway_http_requests_total{method="GET",route="other",status="404"}`:               1,
			`slipway_http_requests_total{method="other",route="other",status="405"}`:             1,
			`slipway_http_request_duration_seconds_count{route="/graphql"}`:                      7,
			`slipway_http_request_cost_total{route="/module-definitions"}`:                       11,
			`slipway_graphql_operations_total{operation="viewer",type="query"}`:                  4,
			`slipway_graphql_operation_duration_seconds_count{operation="viewer",type="query"}`:  4,
			`slipway_graphql_operations_total{operation="createProject",type="mutation"}`:        1,
			`slipway_graphql_operations_total{operation="deployment",type="query"}`:              1,
			`slipway_graphql_operations_total{operation="refused",type="refused"}`:               3,
			`slipway_errors_total{code="slipway:Deployment:NOT_FOUND"}`:                          2,
			`slipway_errors_total{code="slipway:Document:VALIDATION_FAILED"}`:                    2,
			`slipway_errors_total{code="slipway:Request:NOT_FOUND"}`:                             1,
			`slipway_errors_total{code="slipway:Request:METHOD_NOT_ALLOWED"}`:                    1,
			`slipway_refusals_total{limit="tokens"}`:                                             1,
			`slipway_streams_open`:                                                               1,
			`slipway_streams_max`:                                                                10_000,
			`slipway_operations_running`:                                                         0,
			`slipway_operations_waiting`:                                                         0,
			`slipway_database_up`:                                                                1,
			`slipway_database_writable`:                                                          1,
		})
	})
}

func TestMetricsCountDeploymentsAndWhoWaitsForThem(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "shop")
		p.Succeeded(t)
		p.Failed(t)
		p.Claim(t, p.Deploy(t, p.NewInstance(t, "running").ID, `{"image":"web:1"}`))
		p.Deploy(t, p.NewInstance(t, "waiting").ID, `{"image":"web:1"}`)
		four, _, err := w.Rules.Create(w.Acme.As(actor.Admin), rule.New{Name: "four eyes", Demand: gate.Demand{Kind: &gate.Approvals{Count: 1, Role: actor.Developer}}})
		if err != nil {
			t.Fatal(err)
		}
		p.Deploy(t, p.NewInstance(t, "awaiting").ID, `{"image":"web:1"}`)
		if _, err := w.Rules.End(w.Acme.As(actor.Admin), four.ID, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), `UPDATE module_instances SET drift_kind = 'CHANGED_OUTSIDE' WHERE name = 'waiting'`); err != nil {
			t.Fatal(err)
		}
		other := w.Token(t, w.Acme, account.NewToken{Name: "second", Role: actor.Runner})
		for _, token := range []string{other, w.Acme.Tokens[actor.Runner], other} {
			w.GraphQL(t, token, `mutation { claimDeployment(input: {deploymentTypes: ["terraform"], actions: [APPLY, DESTROY]}) { deployment { id } } }`, nil)
		}
		socket := dial(t, w.URL, w.Acme.Tokens[actor.Viewer])
		say(t, socket, `{"id":"1","type":"subscribe","payload":{"query":"subscription { deploymentsChanged { kind } }"}}`)
		testkit.Eventually(t, "somebody follows", func() bool { return w.Deploy.View.Feed.Followers() == 1 })
		p.Deploy(t, p.NewInstance(t, "third").ID, `{"image":"web:1"}`)
		for range 2 { // the acknowledgement, the item
			hear(t, socket)
		}
		house := w.RetentionAt(store.Now().Add(30 * 24 * time.Hour))
		if _, err := house.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		audited, err := w.Store.Client.AuditEvent.Query().Count(w.Acme.As(actor.Admin))
		if err != nil {
			t.Fatal(err)
		}
		// PostgreSQL's statistics come a little later than the rows. Those of other organizations are among them.
		testkit.Eventually(t, "all of the audit is counted", func() bool { return w.Metrics(t)["slipway_audit_rows"] >= float64(audited) })
		found := w.Metrics(t)
		wantMetrics(t, found, map[string]float64{
			`slipway_deployments{status="AWAITING_APPROVAL"}`:                                      1,
			`slipway_deployments{status="PENDING"}`:                                                2,
			`slipway_deployments{status="RUNNING"}`:                                                1,
			`slipway_deployments_ended_total{status="SUCCEEDED"}`:                                  1,
			`slipway_deployments_ended_total{status="FAILED"}`:                                     1,
			`slipway_instances_drifted`:                                                            1,
			`slipway_leases_late`:                                                                  0,
			`slipway_runners{deployment_type="terraform",destroys="true"}`:                         2,
			`slipway_feed_subscribers`:                                                             1,
			`slipway_graphql_operations_total{operation="deploymentsChanged",type="subscription"}`: 1,
		})
		// Changes that wait for transactions of others come to a subscription that has begun meanwhile.
		if found[`slipway_graphql_items_total{operation="deploymentsChanged"}`] < 1 {
			t.Errorf("no items are counted: %v", found)
		}
		testkit.Eventually(t, "all changes are read", func() bool { return w.Metrics(t)["slipway_feed_lag_seconds"] == 0 })
		if found[`slipway_purged_rows_total{what="change rows"}`] == 0 || found[`slipway_deployments_oldest_pending_seconds`] <= 0 {
			t.Errorf("%v", found)
		}
		if found[`slipway_statement_cache_lookups_total{result="hit"}`] == 0 || found[`slipway_statement_cache_lookups_total{result="miss"}`] == 0 {
			t.Errorf("no lookups: %v", found)
		}
		counts, err := house.Deploy.View.Counts(t.Context())
		if err != nil || counts.LateLeases != 1 {
			t.Errorf("a month later %+v, %v, want 1 late lease", counts, err)
		}
	})
}

// Labels have what the program chooses, and never what callers do.
func TestNamesThatCallersChooseMakeNoSeries(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	token := w.Acme.Tokens[actor.Viewer]
	ask := func(from, to int) int {
		for i := from; i < to; i++ {
			w.GraphQL(t, token, fmt.Sprintf(`query Name%d { a%d: viewer { tokenId } }`, i, i), nil)
			w.REST(t, fmt.Sprintf("BREW%d", i), fmt.Sprintf("/nothing/%d", i), token, "", nil)
		}
		return len(w.Metrics(t))
	}
	if few, many := ask(0, 10), ask(10, 2000); few != many {
		t.Errorf("10 names make %d series, 2,000 make %d", few, many)
	}
}

func TestOperationsOfTrustedDocumentsAreCountedByTheirNames(t *testing.T) {
	t.Parallel()
	var documents []string
	for i := range 510 {
		documents = append(documents, fmt.Sprintf(`"%d": "query Screen%d { viewer { tokenId } }"`, i, i))
	}
	trusted, err := graph.ReadTrusted([]byte("{"+strings.Join(documents, ",")+"}"), graph.Config{})
	if err != nil {
		t.Fatal(err)
	}
	w := worldtest.New(t, worldtest.SQLite(t)).Serving(t, func(c *server.Config) { c.Trusted = trusted })
	for i := range 510 {
		w.GraphQL(t, w.Acme.Tokens[actor.Viewer], fmt.Sprintf(`query Screen%d { viewer { tokenId } }`, i), nil)
	}
	wantMetrics(t, w.Metrics(t), map[string]float64{
		`slipway_graphql_operations_total{operation="Screen0",type="query"}`:   1,
		`slipway_graphql_operations_total{operation="Screen499",type="query"}`: 1,
		`slipway_graphql_operations_total{operation="viewer",type="query"}`:    10,
	})
}

func TestMetricsSayThatTheDatabaseDoesNotAnswer(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	before := w.Metrics(t)
	if err := w.Store.Close(); err != nil {
		t.Fatal(err)
	}
	after := w.Metrics(t)
	const asked = "slipway_database_asked_timestamp_seconds"
	if before["slipway_database_up"] != 1 || after["slipway_database_up"] != 0 || before[asked] == 0 || after[asked] != before[asked] {
		t.Errorf("up %v and then %v, asked at %v and then %v", before["slipway_database_up"], after["slipway_database_up"], before[asked], after[asked])
	}
}

func TestRunnersAreForgottenAfterTenMinutes(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	service, at := w.Deploy, store.Now()
	service.Execution.Runners = &execution.Runners{}
	if _, _, err := service.Execution.Claim(w.Acme.As(actor.Runner), execution.Claim{Kinds: []string{"terraform"}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{9 * time.Minute, 1}, {11 * time.Minute, 0}} {
		if found := service.Execution.Runners.Count(at.Add(c.after)); len(found) != c.want {
			t.Errorf("after %s %v", c.after, found)
		}
	}
}

func wantMetrics(t *testing.T, found, want map[string]float64) {
	t.Helper()
	for name, value := range want {
		if got, is := found[name]; !is || got != value {
			t.Errorf("%s is %v, want %v", name, got, value)
		}
	}
}
