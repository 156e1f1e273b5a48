package graph_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/test/worldtest"
)

// global are the fields of the root that a superadmin is answered who has named nothing.
var global = []string{
	"node", "nodes", "viewer", "moduleDefinitions", "moduleDefinition", "moduleVersion", "auditEvents", "tokens", "token", "organizations",
	"organization",
	"dynamicSources", "errorCodes",
}

// samples are arguments and members of inputs that have to be well-formed to get past the first look.
var samples = map[string]any{
	"givenId": "x", "deploymentType": "terraform", "version": "1.0.0", "from": "2026-01-01T00:00:00Z", "source": "module_types", "inputs": []any{}, "values": map[string]any{},
	"schema": map[string]any{"json": map[string]any{"id": "x", "label": "X", "type": "string"}},
}

// sample is a value for an argument or a member of an input that has to be there.
func sample(t testing.TB, schema *ast.Schema, name string, of *ast.Type) any {
	t.Helper()
	if v, ok := samples[name]; ok {
		return v
	}
	d := schema.Types[of.Name()]
	switch {
	case of.Elem != nil:
		return []any{sample(t, schema, name, of.Elem)}
	case d.Kind == ast.Enum:
		return d.EnumValues[0].Name
	case d.Kind == ast.InputObject:
		object := map[string]any{}
		if d.Directives.ForName("oneOf") != nil {
			first := d.Fields[0]
			return map[string]any{first.Name: sample(t, schema, first.Name, first.Type)}
		}
		for _, member := range d.Fields {
			if member.Type.NonNull && member.DefaultValue == nil {
				object[member.Name] = sample(t, schema, member.Name, member.Type)
			}
		}
		return object
	case d.Name == "ID", d.Name == "String", d.Name == "GivenId":
		return "x"
	case d.Name == "JSON":
		return map[string]any{}
	case d.Name == "Int":
		return 1
	}
	t.Fatalf("%s: no sample of %s", name, of)
	return nil
}

// call writes an operation of one field of the root, with all that it has to be given.
func call(t testing.TB, schema *ast.Schema, kind string, field *ast.FieldDefinition) (string, map[string]any) {
	t.Helper()
	variables := map[string]any{}
	var declared, given []string
	for _, arg := range field.Arguments {
		// Of a record that is found by its id or by another name, the id.
		if arg.Type.NonNull && arg.DefaultValue == nil || arg.Name == "id" {
			variables[arg.Name] = sample(t, schema, arg.Name, arg.Type)
			declared, given = append(declared, fmt.Sprintf("$%s: %s", arg.Name, arg.Type)), append(given, fmt.Sprintf("%s: $%[1]s", arg.Name))
		}
	}
	within := func(list []string) string {
		if len(list) == 0 {
			return ""
		}
		return "(" + strings.Join(list, ", ") + ")"
	}
	return kind + within(declared) + " { " + field.Name + within(given) + " { __typename } }", variables
}

func TestASuperadminWhoNamesNothingReadsWhatIsGlobalAndChangesNothing(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../schema.graphql")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := gqlparser.LoadSchema(&ast.Source{Input: string(text)})
	if err != nil {
		t.Fatal(err)
	}
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		w.Fixture(t, w.Acme, "web").Succeeded(t)
		w.GraphQL(t, w.Superadmin, "{ viewer { tokenId } }", nil) // the token's first use is noted
		before := w.Rows(t)
		ask := func(kind string, field *ast.FieldDefinition) (worldtest.Response, int) {
			var r worldtest.Response
			document, variables := call(t, schema, kind, field)
			n := len(w.Statements(func() { r = w.GraphQL(t, w.Superadmin, document, variables) }))
			return r, n
		}
		for _, field := range schema.Query.Fields {
			if strings.HasPrefix(field.Name, "__") {
				continue
			}
			r, n := ask("query", field)
			needs := r.Code(t) == string(fault.RequestOrganizationNeeded)
			if needs == slices.Contains(global, field.Name) || needs && n > 0 || r.Status != 200 {
				t.Errorf("%s after %d statements: %d %s", field.Name, n, r.Status, r.Body)
			}
		}
		for _, field := range schema.Mutation.Fields {
			if r, n := ask("mutation", field); r.Code(t) != string(fault.RequestOrganizationNeeded) || n > 0 {
				t.Errorf("%s after %d statements: %s", field.Name, n, r.Body)
			}
		}
		if diff := cmp.Diff(before, w.Rows(t)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestASuperadminWhoNamesNothingIsToldWhichRecordsAreAnOrganizations(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		for _, at := range []*worldtest.World{w, w.In(actor.Global)} {
			for text, want := range map[string]fault.Code{
				w.Acme.ID: "", p.Project.ID: fault.RequestOrganizationNeeded, id.New(id.Project): fault.RequestOrganizationNeeded,
				p.Definition.ID: fault.NodeNotFound, p.Version.ID: fault.NodeNotFound,
			} {
				if r := at.GraphQL(t, w.Superadmin, `query($id: ID!) { node(id: $id) { id } }`, map[string]any{"id": text}); r.Code(t) != string(want) {
					t.Errorf("%s: %s, want %q", text, r.Body, want)
				}
			}
		}
	})
}

func TestASuperadminActsInTheOrganizationThatIsNamed(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		d := p.Succeeded(t)
		w.Fixture(t, w.Globex, "hidden")
		const query = `query($d: ID!) { viewer { role organization { slug } } projects { nodes { slug } }
			deployment(id: $d) { moduleInstance { project { slug } liveDeployment { id } } } }`
		for _, name := range []string{w.Acme.ID, w.Acme.Slug} {
			r := w.In(name).GraphQL(t, w.Superadmin, query, map[string]any{"d": d.ID})
			if r.At(t, "errors") != nil || r.Text(t, "data", "viewer", "organization", "slug") != "acme" {
				t.Errorf("%s", r.Body)
			}
			if list, _ := r.At(t, "data", "projects", "nodes").([]any); len(list) != 1 || r.Text(t, "data", "projects", "nodes", 0, "slug") != "web" {
				t.Errorf("projects of the organization: %s", r.Body)
			}
			if r.Text(t, "data", "deployment", "moduleInstance", "project", "slug") != "web" || r.Text(t, "data", "deployment", "moduleInstance", "liveDeployment", "id") != d.ID {
				t.Errorf("nested edges: %s", r.Body)
			}
		}
		made := w.In("globex").GraphQL(t, w.Superadmin, `mutation { createProject(input: {name: "N", slug: "n"}) { project { organizationId } } }`, nil)
		if made.Text(t, "data", "createProject", "project", "organizationId") != w.Globex.ID {
			t.Errorf("%s", made.Body)
		}
		events := w.In(actor.Global).GraphQL(t, w.Superadmin, `{ auditEvents(filter: {action: "createProject"}) { totalCount } }`, nil)
		if fmt.Sprint(events.At(t, "data", "auditEvents", "totalCount")) != "0" {
			t.Errorf("an organization's events among those of what is global: %s", events.Body)
		}
	})
}

func TestTheViewersOrganizationsAreThoseItMayName(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		const query = `{ viewer { organizations { id slug name role } } }`
		all := func(role string, organizations ...*worldtest.Org) string {
			list := []map[string]string{}
			for _, o := range organizations {
				list = append(list, map[string]string{"id": o.ID, "slug": o.Slug, "name": o.Slug, "role": role})
			}
			text, _ := json.Marshal(list)
			return string(text)
		}
		for _, at := range []*worldtest.World{w, w.In("acme"), w.In(actor.Global)} {
			r := at.GraphQL(t, w.Superadmin, query, nil)
			if got, _ := json.Marshal(r.At(t, "data", "viewer", "organizations")); string(got) != all("SUPERADMIN", w.Acme, w.Globex) {
				t.Errorf("a superadmin: %s", r.Body)
			}
		}
		r := w.GraphQL(t, w.Globex.Tokens[actor.Runner], query, nil)
		if got, _ := json.Marshal(r.At(t, "data", "viewer", "organizations")); string(got) != all("RUNNER", w.Globex) {
			t.Errorf("a member: %s", r.Body)
		}
		system := actor.With(t.Context(), &actor.Actor{Name: "test", Role: actor.System, Channel: actor.CLI})
		for i := range 100 {
			if _, err := w.Accounts.CreateOrganization(system, "More", fmt.Sprintf("more-%d", i)); err != nil {
				t.Fatal(err)
			}
		}
		r = w.GraphQL(t, w.Superadmin, query, nil)
		if list, _ := r.At(t, "data", "viewer", "organizations").([]any); len(list) != 100 || r.Text(t, "data", "viewer", "organizations", 0, "id") != w.Acme.ID {
			t.Errorf("%d of 102 organizations: %.300s", len(list), r.Body)
		}
	})
}

func TestNoOrganizationHasAReservedSlug(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		before := w.Rows(t)
		system := actor.With(t.Context(), &actor.Actor{Name: "test", Role: actor.System, Channel: actor.CLI})
		for _, slug := range []string{"global", "Global", "GLOBAL", w.Acme.ID, id.New(id.Organization)} {
			_, err := w.Accounts.CreateOrganization(system, "N", slug)
			if shown := fault.Public(err, fault.View{}); shown.Code != string(fault.RequestInvalid) || !strings.Contains(fmt.Sprint(shown.Details), "/slug: must not be global") {
				t.Errorf("%s: %+v", slug, shown)
			}
		}
		if diff := cmp.Diff(before, w.Rows(t)); diff != "" {
			t.Error(diff)
		}
	})
}
