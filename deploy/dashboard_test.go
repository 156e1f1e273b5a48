package deploy_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const dashboard = "deploy/grafana/slipway.json"

// panel is a part of the dashboard.
type panel struct {
	Type, Title, Description string
	Targets                  []struct{ Expr string }
}

func panels(t *testing.T) []panel {
	t.Helper()
	var board struct{ Panels []panel }
	if err := json.Unmarshal([]byte(read(t, dashboard)), &board); err != nil {
		t.Fatal(err)
	}
	return board.Panels
}

func TestEveryPanelOfTheDashboardAsksSomething(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, p := range panels(t) {
		if p.Type == "row" {
			continue
		}
		if seen[p.Title] || p.Title == "" || !strings.HasSuffix(p.Description, ".") || len(p.Targets) == 0 {
			t.Errorf("the panel %q, %q has %d expressions, and a title that there is already: %t", p.Title, p.Description, len(p.Targets), seen[p.Title])
		}
		seen[p.Title] = true
	}
	if len(seen) < 20 {
		t.Errorf("there are %d panels", len(seen))
	}
}

// Prometheus reads each expression as a rule.
func TestTheExpressionsOfTheDashboardAreOnesOfPrometheus(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("there is no promtool")
	}
	var list strings.Builder
	list.WriteString("groups:\n- name: dashboard\n  rules:\n")
	n := 0
	for _, p := range panels(t) {
		for _, target := range p.Targets {
			n++
			expr := strings.NewReplacer("$__rate_interval", "1m", "$job", "slipway", "$instance", ".*").Replace(target.Expr)
			fmt.Fprintf(&list, "  - {record: 'panel:%d', expr: %q}\n", n, expr)
		}
	}
	file := filepath.Join(t.TempDir(), "dashboard.yaml")
	if err := os.WriteFile(file, []byte(list.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), promtool, "check", "rules", file).CombinedOutput()
	if err != nil || !strings.Contains(string(out), fmt.Sprintf("%d rules found", n)) {
		t.Errorf("%v: %s", err, out)
	}
}
