package graph_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/server"
	"slipway/internal/test/worldtest"
)

const screens = "../conformance/screens/"

var (
	// screenRow is a row of the guide's table of screens: the name of the file, and the cost.
	screenRow      = regexp.MustCompile(`(?m)^\| \[\w+\]\(\.\./conformance/screens/(\w+)\.graphql\) \| .* \| ([\d,]+) \|$`)
	sharedFragment = regexp.MustCompile(`(?ms)^fragment (\w+) .*?^}$`)
	spread         = regexp.MustCompile(`\.\.\.(\w+)`)
	required       = regexp.MustCompile(`\$(\w+): \w+!`)
)

// screenVariables are values of the types that screens need. They name no records, because the cost is known before any
// is read.
var screenVariables = map[string]any{
	"path": "shop/production", "since": "2026-03-01T00:00:00Z", "moduleType": "queue",
	"instanceId": "inst_1", "deploymentId": "dep_1", "moduleVersionId": "mver_1",
	"values": map[string]any{},
	"change": map[string]any{"create": map[string]any{"moduleInstanceId": "inst_1", "moduleVersionId": "mver_1"}},
}

func readText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// withFragments returns a query with the shared fragments that it uses, directly or through another.
func withFragments(query, fragments string) string {
	shared := map[string]string{}
	for _, found := range sharedFragment.FindAllStringSubmatch(fragments, -1) {
		shared[found[1]] = found[0]
	}
	for rest := query; ; {
		found := spread.FindStringSubmatchIndex(rest)
		if found == nil {
			return query
		}
		name := rest[found[2]:found[3]]
		rest = rest[found[1]:] + shared[name]
		query += shared[name]
		delete(shared, name)
	}
}

func TestAScreenCostsWhatTheGuideSays(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	poor := w.Serving(t, func(c *server.Config) { c.Limits.Cost = 1 })
	fragments := readText(t, screens+"fragments.graphql")

	rows := screenRow.FindAllStringSubmatch(readText(t, "../docs/frontend.md"), -1)
	files, err := filepath.Glob(screens + "*.graphql")
	if err != nil || len(rows)+1 != len(files) { // one has the fragments
		t.Errorf("the guide has %d screens, and there are %d files (%v)", len(rows), len(files), err)
	}

	for _, row := range rows {
		name, cost := row[1], strings.ReplaceAll(row[2], ",", "")
		query := readText(t, screens+name+".graphql")
		variables := map[string]any{}
		for _, found := range required.FindAllStringSubmatch(query, -1) {
			variables[found[1]] = screenVariables[found[1]]
		}

		r := poor.GraphQL(t, w.Acme.Tokens[actor.Viewer], withFragments(query, fragments), variables)
		if m := metadata(t, r); m["limit"] != "cost" || fmt.Sprint(m["found"]) != cost {
			t.Errorf("%s costs %v, and the guide says %s: %s", name, m["found"], cost, r.Body)
		}
	}
}
