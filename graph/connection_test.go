package graph_test

import (
	"fmt"
	"slices"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/test/worldtest"
)

const instances = `query($first: Int, $after: String, $last: Int, $before: String) {
	moduleInstances(first: $first, after: $after, last: $last, before: $before) {
		edges { cursor node { name } } nodes { name } totalCount
		pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`

// names are those of a page of instances.
func names(t testing.TB, r worldtest.Response) []string {
	t.Helper()
	var all []string
	nodes, _ := r.At(t, "data", "moduleInstances", "nodes").([]any)
	for i := range nodes {
		name := r.Text(t, "data", "moduleInstances", "nodes", i, "name")
		if edge := r.Text(t, "data", "moduleInstances", "edges", i, "node", "name"); edge != name {
			t.Errorf("edge %d is %s, node is %s", i, edge, name)
		}
		all = append(all, name)
	}
	return all
}

func TestConnectionsArePagedBothWays(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, viewer := w.Fixture(t, w.Acme, "web"), w.Acme.Tokens[actor.Viewer]
		for i := range 4 {
			p.NewInstance(t, fmt.Sprint("i", i))
		}
		newest := []string{"i3", "i2", "i1", "i0", "web"}
		ask := func(variables map[string]any, want []string, next, previous bool) worldtest.Response {
			t.Helper()
			r := w.GraphQL(t, viewer, instances, variables)
			info, _ := r.At(t, "data", "moduleInstances", "pageInfo").(map[string]any)
			if !slices.Equal(names(t, r), want) || info["hasNextPage"] != next || info["hasPreviousPage"] != previous {
				t.Errorf("%v: %s", variables, r.Body)
			}
			if fmt.Sprint(r.At(t, "data", "moduleInstances", "totalCount")) != "5" {
				t.Errorf("%v: total %v", variables, r.At(t, "data", "moduleInstances", "totalCount"))
			}
			return r
		}
		cursor := func(r worldtest.Response, i int) string {
			return r.Text(t, "data", "moduleInstances", "edges", i, "cursor")
		}
		all := ask(nil, newest, false, false)
		ask(map[string]any{"first": 2}, newest[:2], true, false)
		ask(map[string]any{"last": 2}, newest[3:], false, true)
		ask(map[string]any{"first": 2, "after": cursor(all, 1)}, newest[2:4], true, true)
		ask(map[string]any{"first": 2, "after": cursor(all, 2)}, newest[3:], false, true)
		ask(map[string]any{"last": 2, "before": cursor(all, 3)}, newest[1:3], true, true)
		ask(map[string]any{"after": cursor(all, 0), "before": cursor(all, 4)}, newest[1:4], false, true)
		last := ask(map[string]any{"after": cursor(all, 4)}, nil, false, true)
		if info := last.At(t, "data", "moduleInstances", "pageInfo").(map[string]any); info["startCursor"] != nil || info["endCursor"] != nil {
			t.Errorf("an empty page has cursors: %v", info)
		}
	})
}

func TestPagesThatCannotBeAreRefused(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		w.Fixture(t, w.Globex, "web")
		viewer := w.Acme.Tokens[actor.Viewer]
		end := func(token, query, list string) string {
			return w.GraphQL(t, token, query, nil).Text(t, "data", list, "pageInfo", "endCursor")
		}
		foreign := end(w.Globex.Tokens[actor.Viewer], instances, "moduleInstances")
		other := end(viewer, `{ projects { pageInfo { endCursor } } }`, "projects")
		filtered := end(viewer, `{ moduleInstances(filter: {projectId: "`+p.Project.ID+`"}) { pageInfo { endCursor } } }`, "moduleInstances")
		for _, c := range []struct {
			variables map[string]any
			code      fault.Code
		}{
			{map[string]any{"first": 0}, fault.RequestInvalid},
			{map[string]any{"first": 101}, fault.RequestInvalid},
			{map[string]any{"first": -1}, fault.RequestInvalid},
			{map[string]any{"last": 0}, fault.RequestInvalid},
			{map[string]any{"last": 101}, fault.RequestInvalid},
			{map[string]any{"first": 1, "last": 1}, fault.RequestInvalid},
			{map[string]any{"after": "nonsense"}, fault.RequestCursorInvalid},
			{map[string]any{"before": ""}, fault.RequestCursorInvalid},
			{map[string]any{"after": foreign}, fault.RequestCursorInvalid},
			{map[string]any{"after": other}, fault.RequestCursorInvalid},
			{map[string]any{"before": filtered}, fault.RequestCursorInvalid},
		} {
			if r := w.GraphQL(t, viewer, instances, c.variables); r.Code(t) != string(c.code) {
				t.Errorf("%v: want %s: %s", c.variables, c.code, r.Body)
			}
		}
		if r := w.GraphQL(t, viewer, `{ projects { nodes { environments(first: 0) { totalCount } } } }`, nil); r.Code(t) != string(fault.RequestInvalid) {
			t.Errorf("a nested page of 0: %s", r.Body)
		}
	})
}
