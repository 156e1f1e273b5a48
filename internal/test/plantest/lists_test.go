package plantest_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/test/worldtest"
)

// list is a connection of the schema with some of its filters.
type list struct {
	// parent is the type that has the connection as its field.
	parent, field string
	// filters are the arguments for the filters, "" for none.
	filters string
}

func (l list) String() string { return fmt.Sprintf("%s.%s(%s)", l.parent, l.field, l.filters) }

// pageArgs are the arguments that every connection has.
var pageArgs = []string{"first", "after", "last", "before"}

// together are the filters that are given together, by the connection's field or the name of the source of
// dynamic values.
var together = map[string][][]string{
	"deployments": {
		{"environmentId", "statuses"}, {"projectId", "statuses"}, {"moduleInstanceId", "statuses"}, {"statuses", "deploymentType"},
		{"createdFrom", "createdBefore"}, {"environmentId", "createdFrom", "createdBefore"}, {"statuses", "operations"},
		{"environmentId", "orderBy"}, {"moduleInstanceId", "orderBy"}, {"environmentId", "statuses", "orderBy"},
		{"environmentId", "search"}, {"statuses", "search"}, {"environmentId", "search", "orderBy"},
	},
	"projects":          {{"search", "orderBy"}, {"archived", "orderBy"}},
	"moduleDefinitions": {{"status", "search"}, {"search", "orderBy"}, {"status", "orderBy"}},
	"environments":      {{"projectId", "archived"}, {"projectId", "orderBy"}, {"projectId", "search", "orderBy"}},
	"moduleInstances":   {{"projectId", "archived"}, {"environmentId", "archived"}, {"moduleDefinitionId", "archived"}, {"projectId", "moduleDefinitionId"}, {"environmentId", "moduleDefinitionId"}, {"environmentId", "drift"}, {"environmentId", "orderBy"}, {"projectId", "orderBy"}, {"moduleDefinitionId", "orderBy"}, {"environmentId", "search", "orderBy"}, {"liveModuleVersionId", "orderBy"}},
	"auditEvents":       {{"createdFrom", "createdBefore"}, {"tokenId", "action"}, {"tokenId", "createdFrom", "createdBefore"}, {"objectId", "action"}},
	"module_instances":  {{"type", "environmentId"}},
}

// within are the filters that some lists in a record are asked for, which also has a condition on the record.
var within = map[string][][]string{
	"Environment.deployments": {{"statuses"}, {"orderBy"}}, "ModuleInstance.deployments": {{"statuses"}, {"orderBy"}},
	"Project.deployments": {{"statuses"}}, "ModuleDefinition.deployments": {}, "Release.deployments": {},
	"Project.environments": {{"archived"}, {"orderBy"}}, "Environment.moduleInstances": {{"archived"}, {"orderBy"}},
	"ModuleDefinition.moduleInstances": {{"archived"}, {"orderBy"}}, "ModuleVersion.liveModuleInstances": {},
}

// computed are lists that are read whole, and bounded, before a page of them is taken. The tour asks for them.
var computed = []list{
	{parent: "Deployment", field: "approvals"}, {parent: "Deployment", field: "lineage"},
	{parent: "Environment", field: "rules"}, {parent: "ModuleInstance", field: "outdatedReferences"},
	{parent: "ModuleInstance", field: "promotable"}, {parent: "Query", field: "runners"},
}

// lists returns every connection of the schema but for those that are computed: without filters, with each of its filters
// alone, and with those that are given together.
func lists(t *testing.T, w *worldtest.World, token string) []list {
	t.Helper()
	text, err := os.ReadFile("../../../schema.graphql")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := gqlparser.LoadSchema(&ast.Source{Input: string(text)})
	if err != nil {
		t.Fatal(err)
	}
	var all []list
	for _, name := range slices.Sorted(maps.Keys(schema.Types)) {
		for _, field := range schema.Types[name].Fields {
			if !strings.HasSuffix(field.Type.Name(), "Connection") {
				continue
			}
			l := list{parent: name, field: field.Name}
			if slices.Contains(computed, l) {
				continue
			}
			if field.Name == "dynamicValues" {
				all = append(all, ofSources(t, w, token, l)...)
				continue
			}
			filters, inFilter := filtersOf(schema, field)
			names, inRecord := within[name+"."+field.Name]
			if !inRecord {
				names = chosenOf(field.Name, filters)
			}
			chosen := combinations(t, field.Name, names)
			for _, args := range chosen {
				l.filters = arguments(args, inFilter)
				all = append(all, l)
			}
		}
	}
	return all
}

// filtersOf returns the names of a connection's filters, and which of them are members of its argument filter.
func filtersOf(schema *ast.Schema, field *ast.FieldDefinition) (filters, inFilter []string) {
	for _, arg := range field.Arguments {
		switch {
		case slices.Contains(pageArgs, arg.Name):
		case arg.Name == "filter":
			for _, f := range schema.Types[arg.Type.Name()].Fields {
				filters, inFilter = append(filters, f.Name), append(inFilter, f.Name)
			}
		default:
			filters = append(filters, arg.Name)
		}
	}
	return filters, inFilter
}

// arguments returns the arguments of a connection for filters and their values, of which some are members of its argument
// filter.
func arguments(chosen, inFilter []string) string {
	var members, args []string
	for _, one := range chosen {
		if name, _, _ := strings.Cut(one, ":"); slices.Contains(inFilter, name) {
			members = append(members, one)
		} else {
			args = append(args, one)
		}
	}
	if members != nil {
		args = append(args, "filter: {"+strings.Join(members, ", ")+"}")
	}
	return strings.Join(args, ", ")
}

// ofSources returns the connection of dynamic values with each source that there is, which has parameters in
// the place of filters.
func ofSources(t *testing.T, w *worldtest.World, token string, l list) []list {
	t.Helper()
	var all []list
	r := request(t, w, token, "{ dynamicSources { name params { name required } } }")
	sources, _ := r.At(t, "data", "dynamicSources").([]any)
	for i := range sources {
		name := r.Text(t, "data", "dynamicSources", i, "name")
		var params []string
		required := false
		list, _ := r.At(t, "data", "dynamicSources", i, "params").([]any)
		for j := range list {
			params = append(params, r.Text(t, "data", "dynamicSources", i, "params", j, "name"))
			required = required || r.At(t, "data", "dynamicSources", i, "params", j, "required") == true
		}
		for _, chosen := range choices(t, name, params) {
			if len(chosen) == 0 && required {
				continue
			}
			l.filters = fmt.Sprintf("source: %q, params: {%s}", name, strings.Join(chosen, ", "))
			all = append(all, l)
		}
	}
	return all
}

// choices returns the arguments for no filter, for each alone, and for those that are given together.
func choices(t *testing.T, of string, filters []string) [][]string {
	t.Helper()
	return combinations(t, of, chosenOf(of, filters))
}

// chosenOf returns each filter alone, and those that are given together.
func chosenOf(of string, filters []string) (names [][]string) {
	for _, name := range filters {
		if of+"."+name != "deployments.orderBy" { // which needs another
			names = append(names, []string{name})
		}
	}
	for _, given := range together[of] {
		// Of a name there are lists within records and sources, too, which have other filters.
		if !slices.ContainsFunc(given, func(name string) bool { return !slices.Contains(filters, name) }) {
			names = append(names, given)
		}
	}
	return names
}

// combinations returns the arguments for no filter, and for filters that are given together.
func combinations(t *testing.T, of string, names [][]string) [][]string {
	t.Helper()
	all := [][]string{nil}
	for _, given := range names {
		all = append(all, choose(t, of, given)...)
	}
	return all
}

// choose returns the arguments for some filters, once for each combination of their values.
func choose(t *testing.T, of string, names []string) [][]string {
	t.Helper()
	all := [][]string{nil}
	for _, name := range names {
		if len(values[of+"."+name]) == 0 {
			t.Fatalf("the filter %s of %s has no value here: give it some among the values", name, of)
		}
		var longer [][]string
		for _, chosen := range all {
			for _, value := range values[of+"."+name] {
				longer = append(longer, append(slices.Clone(chosen), name+": "+value))
			}
		}
		all = longer
	}
	return all
}

// ask asks for the pages of a list: the first and the last, and those farthest from where their direction
// begins. Of the lists in a record it asks for those of one, and for the first pages of fifty at once.
func (l list) ask(t *testing.T, w *worldtest.World, token string, parents []string) {
	t.Helper()
	if l.parent == "Query" {
		l.pages(t, w, token, "{ %s }", "list")
		return
	}
	in := fmt.Sprintf("{ node(id: %q) { ... on %s { %%s } } }", parents[0], l.parent)
	l.pages(t, w, token, in, "node", "list")
	in = fmt.Sprintf("{ nodes(ids: %q) { ... on %s { %%s } } }", parents, l.parent)
	for _, direction := range []string{"first", "last"} {
		request(t, w, token, fmt.Sprintf(in, l.selection(direction+": 20")))
	}
}

func (l list) pages(t *testing.T, w *worldtest.World, token, in string, path ...string) {
	t.Helper()
	at := []any{"data"}
	for _, key := range path {
		at = append(at, key)
	}
	at = append(at, "pageInfo")
	first := request(t, w, token, fmt.Sprintf(in, l.selection("first: 50")))
	last := request(t, w, token, fmt.Sprintf(in, l.selection("last: 50")))
	after, _ := last.At(t, append(at, "startCursor")...).(string)
	before, _ := first.At(t, append(at, "endCursor")...).(string)
	if after == "" || before == "" {
		if l.filters == "" || l.parent == "Query" && !strings.Contains(l.filters, "LAST_COMPLETED") {
			t.Errorf("%s is empty", l)
		}
		return
	}
	request(t, w, token, fmt.Sprintf(in, l.selection(fmt.Sprintf("first: 50, after: %q", after))))
	request(t, w, token, fmt.Sprintf(in, l.selection(fmt.Sprintf("last: 50, before: %q", before))))
}

func (l list) selection(page string) string {
	args := page
	if l.filters != "" {
		args += ", " + l.filters
	}
	return fmt.Sprintf("list: %s(%s) { totalCount edges { cursor } pageInfo { startCursor endCursor } }", l.field, args)
}

func request(t *testing.T, w *worldtest.World, token, document string) worldtest.Response {
	t.Helper()
	r := w.GraphQL(t, token, document, nil)
	if r.At(t, "errors") != nil {
		t.Errorf("%s: %.300s", document, r.Body)
	}
	return r
}
