package deploy_test

import (
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/metrics"
	"slipway/internal/test/worldtest"
)

const rules = "deploy/prometheus/slipway.rules.yaml"

// promtool runs Prometheus' tool, if it is installed.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("promtool"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("the alerts are not tried: %v", err)
	}
	for _, file := range args {
		if strings.HasSuffix(file, ".yaml") {
			read(t, file) // so that go test knows that the result is of it
		}
	}
	cmd := exec.CommandContext(t.Context(), "promtool", args...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func TestAlertsFireInTheirCaseAlone(t *testing.T) {
	t.Parallel()
	promtool(t, "check", "config", "deploy/prometheus/prometheus.yaml")
	promtool(t, "test", "rules", "deploy/prometheus/slipway.rules.test.yaml")
}

func TestEveryAlertIsTriedAndExplained(t *testing.T) {
	t.Parallel()
	var alerts []string
	for _, found := range regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(read(t, rules), -1) {
		alerts = append(alerts, found[1])
	}
	var explained []string
	for _, found := range regexp.MustCompile(`(?m)^## (\w+)$`).FindAllStringSubmatch(read(t, "docs/alerts.md"), -1) {
		explained = append(explained, found[1])
	}
	if len(alerts) == 0 || !slices.Equal(alerts, explained) {
		t.Errorf("the alerts are %q, docs/alerts.md has %q", alerts, explained)
	}
	text, tried := read(t, rules), read(t, "deploy/prometheus/slipway.rules.test.yaml")
	for _, alert := range alerts {
		if page := "page: docs/alerts.md#" + strings.ToLower(alert); strings.Count(text, page+"\n") != 1 {
			t.Errorf("%s does not name its page: %s", alert, page)
		}
		if !strings.Contains(tried, `{alertname="`+alert+`",alertstate="firing"`) {
			t.Errorf("no test has %s fire", alert)
		}
	}
}

func TestWhatAlertsAndDocumentsNameIsMeasured(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	// Series begin with what they count.
	token := w.Acme.Tokens[actor.Runner]
	w.GraphQL(t, token, `mutation { claimDeployment(input: {deploymentTypes: ["terraform"]}) { deployment { id } } }`, nil)
	w.REST(t, http.MethodGet, "/module-definitions", token, "", nil)
	w.GraphQL(t, token, "{ "+strings.Repeat("viewer { tokenId } ", 500)+"}", nil)
	if _, err := w.Retention.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := w.Fixture(t, w.Acme, "shop")
	p.Succeeded(t)
	measured := map[string]bool{
		// They need a certificate, the program, a subscription or a deprecated field, and the schema has none.
		"slipway_tls_certificate_expiry_timestamp_seconds": true, "slipway_build_info": true, "slipway_graphql_items_total": true,
		"slipway_deprecated_fields_total": true,
	}
	for series := range w.Metrics(t) {
		name, _, _ := strings.Cut(series, "{")
		measured[name] = true
		measured[strings.TrimSuffix(name, "_count")] = true // a histogram's own name
	}
	named := regexp.MustCompile(`\b` + metrics.Namespace + `_[a-z_]+`)
	for _, file := range []string{rules, dashboard, "docs/alerts.md", "docs/operations.md"} {
		found := named.FindAllString(read(t, file), -1)
		if len(found) == 0 {
			t.Errorf("%s names no metrics", file)
		}
		for _, name := range found {
			if !measured[name] {
				t.Errorf("%s names %s, which no server has", file, name)
			}
		}
	}
}
