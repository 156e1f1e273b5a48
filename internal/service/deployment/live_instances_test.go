package deployment_test

import (
	"fmt"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/page"
	"slipway/internal/service/catalog"
	"slipway/internal/test/worldtest"
)

func TestAVersionHasTheInstancesInWhichItIsLive(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		old := w.Fixture(t, w.Acme, "web")
		newer := publish(t, w, old, "2.0.0", worldtest.Inputs)
		viewer := w.Acme.Tokens[actor.Viewer]
		deploy := func(p *worldtest.Fixture, instance string) {
			t.Helper()
			p.Finish(t, p.Deploy(t, instance, `{"image":"web:1"}`), nil)
		}
		first, second, third := old.Instance.ID, old.NewInstance(t, "second").ID, old.NewInstance(t, "third").ID
		deploy(old, first)
		deploy(old, second)
		deploy(newer, second) // which replaces the old version there
		deploy(newer, third)
		newer.Finish(t, newer.Deploy(t, first, `{"image":"web:2"}`), &fault.Data{Code: string(fault.DeploymentFailed), Message: "no"})

		const fields = `totalCount nodes { name } pageInfo { hasNextPage endCursor }`
		ask := func(args string) string {
			t.Helper()
			r := w.GraphQL(t, viewer, `query($d: ID!) { moduleDefinition(id: $d) { versions { nodes { version liveModuleInstances`+args+` { `+fields+` } } } } }`, map[string]any{"d": old.Definition.ID})
			var lines []string
			for i := range 2 {
				at := func(keys ...any) any {
					return r.At(t, append([]any{"data", "moduleDefinition", "versions", "nodes", i}, keys...)...)
				}
				line := fmt.Sprint(at("version"), " ", at("liveModuleInstances", "totalCount"))
				nodes, _ := at("liveModuleInstances", "nodes").([]any)
				for _, node := range nodes {
					line += fmt.Sprint(" ", node.(map[string]any)["name"])
				}
				lines = append(lines, line)
			}
			return strings.Join(lines, "; ")
		}
		for args, want := range map[string]string{
			"":                           "2.0.0 2 third second; 1.4.0 1 web",
			"(first: 1)":                 "2.0.0 2 third; 1.4.0 1 web",
			"(orderBy: NAME)":            "2.0.0 2 second third; 1.4.0 1 web",
			`(filter: {search: "THI"})`:  "2.0.0 1 third; 1.4.0 0",
			"(filter: {archived: true})": "2.0.0 0; 1.4.0 0",
			`(filter: {liveModuleVersionId: "` + old.Version.ID + `"})`: "2.0.0 0; 1.4.0 1 web",
		} {
			if got := ask(args); got != want {
				t.Errorf("%s: %s, want %s", args, got, want)
			}
		}

		// The versions, how many instances there are, which have which version, and these.
		if ran := w.Statements(func() { ask("") }); len(ran) != 5 {
			t.Errorf("%d statements: %q", len(ran), ran)
		}
		foreign, err := w.Catalog.LiveOf(w.Globex.As(actor.Viewer), []string{old.Version.ID}, catalog.InstanceFilter{}, page.Args{})
		if err != nil || len(foreign[old.Version.ID].Nodes()) != 0 {
			t.Errorf("of another organization: %v, %v", foreign, err)
		}
	})
}
