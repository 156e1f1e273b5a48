package graph_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/base/actor"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/service/defaults"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// Fields of columns that were not read have values that show (store.Config.PoisonUnread), so a field that is selected
// alone has to answer what it answers among all others.
func TestFieldSelectedAloneReadsTheColumnsThatItNeeds(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		for typeName, id := range narrowed(t, w) {
			ask := func(fields ...string) worldtest.Response {
				r := w.GraphQL(t, w.Acme.Tokens[actor.Admin],
					fmt.Sprintf(`query($id: ID!) { node(id: $id) { ... on %s { %s } } }`, typeName, strings.Join(fields, " ")), map[string]any{"id": id})
				if r.At(t, "errors") != nil {
					t.Fatalf("%s of %s: %s", fields, typeName, r.Body)
				}
				return r
			}
			var all []string
			for _, f := range schema.Types[typeName].Fields {
				all = append(all, f.Name+someOf(f))
			}
			together := ask(all...)
			whole := columnsRead(t, w, typeName, func() { ask(all...) })
			for _, f := range schema.Types[typeName].Fields {
				alone := ask(f.Name + someOf(f))
				if diff := cmp.Diff(together.At(t, "data", "node", f.Name), alone.At(t, "data", "node", f.Name)); diff != "" {
					t.Errorf("%s.%s among all others (-), alone (+):\n%s", typeName, f.Name, diff)
				}
				most := 7
				switch f.Name {
				case "cancelEligibility":
					most = 9 // it is judged by the record, without a statement of its own
				case "deprecation":
					most = 8 // an object of five members
				}
				if few := columnsRead(t, w, typeName, func() { ask(f.Name + someOf(f)) }); few >= whole || few > most {
					t.Errorf("%s.%s reads %d columns, everything %d", typeName, f.Name, few, whole)
				}
			}
		}
	})
}

func TestPageOfCursorsReadsNoMoreThanTheyAreMadeOf(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		narrowed(t, w)
		for _, selected := range []string{"edges { cursor }", "pageInfo { endCursor }"} {
			statements := w.Recorded(func() {
				w.GraphQL(t, w.Acme.Tokens[actor.Admin], "{ deployments { "+selected+" } }", nil)
			})
			list := slices.IndexFunc(statements, func(s worldtest.Statement) bool { return strings.Contains(s.Text, `FROM "deployments"`) })
			if list < 0 || strings.Contains(statements[list].Text, "deployment_type") {
				t.Errorf("%s: %v", selected, statements)
			}
		}
	})
}

// narrowed returns a record, as full as can be, of each type that is read with some of its columns.
func narrowed(t *testing.T, w *worldtest.World) map[string]string {
	t.Helper()
	admin := w.Acme.As(actor.Admin)
	p := w.Fixture(t, w.Acme, "web")
	target := p.Succeeded(t)
	p.Succeeded(t)
	back, _, err := w.Deploy.Propose.Rollback(admin, propose.Replay{SourceID: target.ID})
	if err != nil {
		t.Fatal(err)
	}
	p.Claim(t, back)
	if _, err := w.Deploy.Releases.Quarantine(admin, *target.ReleaseID, "It leaks.", nil); err != nil {
		t.Fatal(err)
	}
	raw := inputprop.NewRawProperty(strictjson.MustParse(`{"id":"engine","label":"Engine","type":"string","values":["postgres"]}`))
	definition, _, err := w.Defaults.Create(admin, defaults.New{GivenID: "engine", Name: "Engine", Schema: raw})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"Project": p.Project.ID, "Environment": p.Environment.ID, "ModuleInstance": p.Instance.ID,
		"ModuleDefinition": p.Definition.ID, "ModuleVersion": p.Version.ID,
		"Deployment": back.ID, "Release": *target.ReleaseID, "DefaultValueDefinition": definition.ID,
	}
}

// someOf selects something of what a field leads to.
func someOf(f *ast.FieldDefinition) string {
	def := schema.Types[f.Type.Name()]
	switch {
	case !def.IsCompositeType():
		return ""
	case strings.HasSuffix(def.Name, "Connection"):
		return needed(f) + " { nodes" + someOf(def.Fields.ForName("nodes")) + " }"
	case def.Fields.ForName("id") != nil:
		return needed(f) + " { id }"
	default:
		return needed(f) + " { __typename }"
	}
}

var selectList = regexp.MustCompile(`^SELECT (.*?) FROM "(\w+)" WHERE`)

// columnsRead returns how many columns are read of a type's record by its id.
func columnsRead(t *testing.T, w *worldtest.World, typeName string, ask func()) int {
	t.Helper()
	table := tableName(typeName)
	for _, s := range w.Recorded(ask) {
		if found := selectList.FindStringSubmatch(s.Text); found != nil && found[2] == table {
			return strings.Count(found[1], `"`) / 2
		}
	}
	t.Fatalf("%s is not read", table)
	return 0
}

var capital = regexp.MustCompile(`(.)([A-Z])`)

func tableName(typeName string) string {
	return strings.ToLower(capital.ReplaceAllString(typeName, "${1}_$2")) + "s"
}
