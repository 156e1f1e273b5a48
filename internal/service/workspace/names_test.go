package workspace_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/page"
	"slipway/internal/service/workspace"
	"slipway/internal/test/worldtest"
)

// slugsOf reads a list page by page, and returns the slugs of its projects.
func slugsOf(t *testing.T, w *worldtest.World, f workspace.ProjectFilter, backward bool) (slugs []string) {
	t.Helper()
	args := page.Args{First: new(int32(2))}
	if backward {
		args = page.Args{Last: new(int32(2))}
	}
	for {
		c, err := w.Workspace.Projects(w.Acme.As(actor.Viewer), f, args)
		if err != nil {
			t.Fatal(err)
		}
		var part []string
		for _, p := range c.Nodes() {
			part = append(part, p.Slug)
		}
		if !backward {
			slugs = append(slugs, part...)
			if args.After = c.PageInfo.EndCursor; !c.PageInfo.HasNextPage {
				return slugs
			}
			continue
		}
		slugs = append(part, slugs...)
		if args.Before = c.PageInfo.StartCursor; !c.PageInfo.HasPreviousPage {
			return slugs
		}
	}
}

// names are of projects; the slugs say in which order.
var names = []struct{ name, slug string }{
	{"zebra", "s6"}, {"Alpha", "s1"}, {"ÄRGER", "s8"}, {"alpha 2", "s3"}, {"beta", "s5"}, {"ALPHA", "s2"}, {"ärger", "s9"}, {"alpha_3", "s4"}, {"Ωmega", "t1"}, {"zz", "s7"},
}

func named(t *testing.T, w *worldtest.World) []string {
	t.Helper()
	var sorted []string
	for _, n := range names {
		if _, err := w.Workspace.CreateProject(w.Acme.As(actor.Admin), workspace.NewProject{Name: n.name, Slug: n.slug}); err != nil {
			t.Fatal(err)
		}
		sorted = append(sorted, n.slug)
	}
	slices.Sort(sorted)
	return sorted
}

func TestPlacesAreListedInTheOrderOfTheirNames(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		want := named(t, w)
		for _, backward := range []bool{false, true} {
			if diff := cmp.Diff(want, slugsOf(t, w, workspace.ProjectFilter{ByName: true}, backward)); diff != "" {
				t.Errorf("backward %t: want (-), got (+):\n%s", backward, diff)
			}
		}
		// Who is renamed moves.
		p, err := w.Workspace.ProjectBySlug(w.Acme.As(actor.Admin), "s6")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Workspace.UpdateProject(w.Acme.As(actor.Admin), p.ID, workspace.ProjectPatch{Name: new("aaa")}); err != nil {
			t.Fatal(err)
		}
		if got := slugsOf(t, w, workspace.ProjectFilter{ByName: true}, false); got[0] != "s6" {
			t.Errorf("%v", got)
		}
		// The cursors of one order are none of the other's.
		c, err := w.Workspace.Projects(w.Acme.As(actor.Viewer), workspace.ProjectFilter{ByName: true}, page.Args{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Workspace.Projects(w.Acme.As(actor.Viewer), workspace.ProjectFilter{}, page.Args{After: c.PageInfo.EndCursor}); !fault.Is(err, fault.RequestCursorInvalid) {
			t.Errorf("%v", err)
		}
	})
}

func TestASearchIgnoresTheCaseOfAllLetters(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		named(t, w)
		for text, want := range map[string][]string{
			"ärg": {"s8", "s9"}, "ÄRGER": {"s8", "s9"}, "ωMEGA": {"t1"}, "ALPHA": {"s1", "s2", "s3", "s4"}, "S1": {"s1"}, "pha_": {"s4"}, "%": nil,
		} {
			got := slugsOf(t, w, workspace.ProjectFilter{Search: &text, ByName: true}, false)
			if !slices.Equal(got, want) {
				t.Errorf("%q: %v, want %v", text, got, want)
			}
		}
	})
}

// What a server of before the columns writes has none of them, but a name.
func TestNamesThatAnOlderServerWroteAreFilledIn(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		want := named(t, w)
		p := w.Fixture(t, w.Acme, "web")
		w.GraphQL(t, w.Acme.Tokens[actor.Admin], `mutation { createDefaultValueDefinition(input: {givenId: "Size", name: "Größe", schema: {json: {id: "a", label: "L", type: "string"}}}) { defaultValueDefinition { id } } }`, nil)
		w.In(actor.Global).GraphQL(t, w.Superadmin, `mutation { createModuleDefinition(input: {type: "all/queue", name: "Überall", status: ACTIVE}) { moduleDefinition { id } } }`, nil)
		ask := func() string {
			text := ""
			for token, query := range map[string]string{
				w.Acme.Tokens[actor.Admin]: `{ projects(filter: {search: "ärg"}) { totalCount } environments(filter: {search: "PROD"}) { totalCount } moduleInstances(filter: {search: "WEB"}, orderBy: NAME) { nodes { name } }
					moduleDefinitions(filter: {search: "ÜBER"}, orderBy: NAME) { nodes { type } } tokens(filter: {search: "ADMIN"}) { totalCount } defaultValueDefinitions(filter: {search: "grÖße"}) { nodes { givenId } }
					project(id: "` + p.Project.ID + `") { environments(filter: {search: "oduc"}, orderBy: NAME) { nodes { slug moduleInstances(orderBy: NAME) { totalCount nodes { name } } } } } }`,
				w.Superadmin: `{ organizations(filter: {search: "ACME"}) { nodes { slug } } }`,
			} {
				r := w.GraphQL(t, token, query, nil)
				if r.At(t, "errors") != nil {
					t.Fatalf("%s", r.Body)
				}
				text += fmt.Sprint(r.At(t, "data"))
			}
			return text
		}
		before := ask()
		total := 0
		for table, set := range map[string]string{
			"projects": `"search_text" = '', "name_key" = ''`, "environments": `"search_text" = '', "name_key" = ''`, "module_instances": `"search_text" = '', "name_key" = ''`,
			"module_definitions": `"name_key" = ''`, "organizations": `"search_text" = ''`, "tokens": `"search_text" = ''`, "default_value_definitions": `"search_text" = ''`,
		} {
			for _, of := range []*worldtest.Org{w.Acme, w.Globex} {
				result, err := w.Raw(t, of).ExecContext(t.Context(), `UPDATE "`+table+`" SET `+set)
				if err != nil {
					t.Fatal(err)
				}
				n, _ := result.RowsAffected()
				total += int(n)
			}
		}
		if ask() == before || total < 20 {
			t.Fatalf("nothing was taken away of %d", total)
		}
		filled, err := w.Store.FillNames(t.Context())
		if err != nil || filled < 20 {
			t.Errorf("%d filled in: %v", filled, err)
		}
		if got := ask(); len(got) != len(before) {
			t.Errorf("got  %s\nwant %s", got, before)
		}
		if got := slugsOf(t, w, workspace.ProjectFilter{ByName: true}, false); !slices.Equal(slices.DeleteFunc(got, func(s string) bool { return s == "web" }), want) {
			t.Errorf("%v, want %v", got, want)
		}
		if filled, err := w.Store.FillNames(t.Context()); err != nil || filled != 0 {
			t.Errorf("again: %d, %v", filled, err)
		}
	})
}
