package graph_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/base/actor"
	"slipway/internal/test/worldtest"
)

func TestWhatMayBeRefusedIsNullable(t *testing.T) {
	t.Parallel()
	for _, def := range schema.Types {
		for _, field := range def.Fields {
			page := strings.HasSuffix(def.Name, "Connection") || strings.HasSuffix(def.Name, "Edge")
			switch {
			case def.BuiltIn || def.Kind != ast.Object || strings.HasPrefix(field.Name, "__"):
			case def == schema.Subscription:
				if !field.Type.NonNull {
					t.Errorf("Subscription.%s is nullable: a client would get items without anything", field.Name)
				}
			case def == schema.Query || def == schema.Mutation || len(field.Arguments) > 0:
				if field.Type.NonNull {
					t.Errorf("%s.%s is not nullable: where it is refused, what is around it is lost", def.Name, field.Name)
				}
			case page && !field.Type.NonNull:
				t.Errorf("%s.%s is nullable, though it is never refused by itself", def.Name, field.Name)
			}
		}
	}
}

// refused writes a call of a field that is refused to everybody: every id is one that nothing has, every
// cursor none, every text empty. ok is false if it has no argument to be refused for.
func refused(f *ast.FieldDefinition) (call string, ok bool) {
	var args []string
	for _, a := range f.Arguments {
		switch {
		case a.Name == "after":
			args, ok = append(args, `after: "none"`), true
		case a.Name == "before" && a.Type.NamedType == "UtcDateTime": // no later than from
			args, ok = append(args, a.Name+": "+value(a.Type)), true
		case a.Type.NonNull:
			args, ok = append(args, a.Name+": "+value(a.Type)), true
		}
	}
	call = f.Name
	if len(args) > 0 {
		call += "(" + strings.Join(args, ", ") + ")"
	}
	return call + " { __typename }", ok
}

// needed writes the arguments that a field must have, "" for none.
func needed(f *ast.FieldDefinition) string {
	var args []string
	for _, a := range f.Arguments {
		if a.Type.NonNull && a.DefaultValue == nil {
			args = append(args, a.Name+": "+value(a.Type))
		}
	}
	if len(args) == 0 {
		return ""
	}
	return "(" + strings.Join(args, ", ") + ")"
}

// value writes a value of a type: of an input object what it must have, of an id one that nothing has.
func value(t *ast.Type) string {
	if t.Elem != nil {
		return "[" + value(t.Elem) + "]"
	}
	switch def := schema.Types[t.NamedType]; {
	case t.NamedType == "ID":
		return `"dep_01h455vb4pex5vsknk084sn02q"`
	case t.NamedType == "JSON":
		return "{}"
	case t.NamedType == "Int":
		return "1"
	case t.NamedType == "Boolean":
		return "true"
	case t.NamedType == "UtcDateTime":
		return `"2026-03-01T09:30:00Z"`
	case def.Kind == ast.Enum:
		return def.EnumValues[0].Name
	case def.Directives.ForName("oneOf") != nil:
		return "{" + def.Fields[0].Name + ": " + value(def.Fields[0].Type) + "}"
	case def.Kind == ast.InputObject:
		var members []string
		for _, f := range def.Fields {
			if f.Type.NonNull {
				members = append(members, f.Name+": "+value(f.Type))
			}
		}
		return "{" + strings.Join(members, ", ") + "}"
	case t.NamedType == "GivenId":
		return `"none"`
	default:
		return `""`
	}
}

// callers are the tokens of every role, and of nobody.
func callers(w *worldtest.World) map[string]string {
	all := map[string]string{"anonymous": "", "superadmin": w.Superadmin}
	for role, token := range w.Acme.Tokens {
		all[string(role)] = token
	}
	return all
}

// pathsOfErrors returns the paths of an answer's errors.
func pathsOfErrors(t *testing.T, r worldtest.Response) map[string]bool {
	t.Helper()
	var answer struct{ Errors []struct{ Path []any } }
	if err := json.Unmarshal(r.Body, &answer); err != nil {
		t.Fatal(err)
	}
	paths := map[string]bool{}
	for _, e := range answer.Errors {
		paths[fmt.Sprint(e.Path)] = true
	}
	return paths
}

func TestARefusedQueryLeavesItsNeighbours(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		for caller, token := range callers(w) {
			for _, f := range schema.Query.Fields {
				call, ok := refused(f)
				if strings.HasPrefix(f.Name, "__") || schema.Types[f.Type.Name()].IsLeafType() || !ok {
					continue
				}
				r := w.GraphQL(t, token, "{ before: errorCodes { code } bad: "+call+" after: errorCodes { code } }", nil)
				// nodes answers item by item; its list is never refused for one of them.
				refusals := pathsOfErrors(t, r)
				if r.Status != 200 || !refusals["[bad]"] && !refusals["[bad 0]"] || len(refusals) != 1 || f.Type.Elem == nil && r.At(t, "data", "bad") != nil {
					t.Errorf("%s: %s is not refused by itself: status %d: %.600s", caller, call, r.Status, r.Body)
				}
				if r.At(t, "data", "before", 0, "code") == nil || r.At(t, "data", "after", 0, "code") == nil {
					t.Errorf("%s: %s took its neighbours: %.600s", caller, call, r.Body)
				}
			}
		}
	})
}

func TestARefusedMutationLeavesItsNeighbours(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		next := 0
		// good are the mutations of each role that may do something.
		good := map[string]func(alias string) string{
			"developer": func(alias string) string {
				next++
				return fmt.Sprintf(`%s: createModuleInstance(input: {environmentId: %q, moduleDefinitionId: %q, name: "n%d"}) { done: moduleInstance { id } } `, alias, p.Environment.ID, p.Definition.ID, next)
			},
			"admin": func(alias string) string {
				next++
				return fmt.Sprintf(`%s: createProject(input: {name: "N", slug: "n%d"}) { done: project { id } } `, alias, next)
			},
			"runner": func(alias string) string {
				return alias + `: claimDeployment(input: {deploymentTypes: ["terraform"]}) { done: __typename } `
			},
		}
		for caller, token := range callers(w) {
			neighbour := func(string) string { return "" }
			if good[caller] != nil {
				neighbour = good[caller]
			}
			for _, f := range schema.Mutation.Fields {
				call, _ := refused(f)
				r := w.GraphQL(t, token, "mutation { "+neighbour("before")+"bad: "+call+" "+neighbour("after")+"kind: __typename }", nil)
				if refusals := pathsOfErrors(t, r); r.Status != 200 || !refusals["[bad]"] || len(refusals) != 1 || r.At(t, "data", "kind") != "Mutation" {
					t.Errorf("%s: %s is not refused by itself: status %d: %.600s", caller, call, r.Status, r.Body)
				}
				if good[caller] != nil && (r.At(t, "data", "before", "done") == nil || r.At(t, "data", "after", "done") == nil) {
					t.Errorf("%s: %s took what was committed beside it: %.600s", caller, call, r.Body)
				}
			}
		}
	})
}

func TestARefusedListBelowTheRootsLeavesItsObject(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ids := recorded(t, w, w.Acme)
		for name, id := range ids {
			for _, f := range schema.Types[name].Fields {
				if len(f.Arguments) == 0 {
					continue
				}
				call, ok := refused(f)
				if name == "Environment" && f.Name == "requirements" || f.Name == "cancelEligibility" {
					continue // its one argument is one of a few words, or true or false
				}
				if !ok {
					t.Errorf("the test knows no way to have %s.%s refused", name, f.Name)
				}
				query := `query($id: ID!) { node(id: $id) { id ... on ` + name + ` { createdAt bad: ` + call + ` good: ` + f.Name + needed(f) + ` { __typename } } } }`
				for _, role := range []actor.Role{actor.Viewer, actor.Developer, actor.Runner, actor.Admin} {
					r := w.GraphQL(t, w.Acme.Tokens[role], query, map[string]any{"id": id})
					if !pathsOfErrors(t, r)["[node bad]"] || r.At(t, "data", "node", "id") != id || r.At(t, "data", "node", "good", "__typename") != f.Type.Name() {
						t.Errorf("%s: %s.%s: %s", role, name, f.Name, r.Body)
					}
				}
			}
		}
		// A mutation that has committed answers, whatever of its answer is refused.
		r := w.GraphQL(t, w.Acme.Tokens[actor.Admin], `mutation { createProject(input: {name: "P", slug: "p"}) { project { slug environments(after: "none") { totalCount } } } }`, nil)
		if r.Text(t, "data", "createProject", "project", "slug") != "p" || !pathsOfErrors(t, r)["[createProject project environments]"] {
			t.Errorf("%s", r.Body)
		}
	})
}

func TestCallersWithoutATokenKeepWhatTheySee(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		made := w.REST(t, "POST", "/graphql", w.Superadmin,
			`{"query": "mutation { createModuleDefinition(input: {name: \"VPC\", type: \"vpc\", status: ACTIVE}) { moduleDefinition { id } } }"}`,
			map[string]string{"Slipway-Organization": "global"})
		if made.At(t, "errors") != nil {
			t.Fatalf("%s", made.Body)
		}
		for _, f := range schema.Types["ModuleDefinition"].Fields {
			if schema.Types[f.Type.Name()].IsLeafType() {
				continue
			}
			call, ok := refused(f)
			r := w.GraphQL(t, "", `{ moduleDefinitions { totalCount nodes { name `+call+` } } errorCodes { code } }`, nil)
			if r.At(t, "data", "moduleDefinitions", "nodes", 0, "name") != "VPC" || r.At(t, "data", "errorCodes") == nil {
				t.Errorf("%s: %.600s", call, r.Body)
			}
			if f.Name == "deployments" || f.Name == "moduleInstances" { // null, whatever is asked for
				if r.At(t, "data", "moduleDefinitions", "nodes", 0, f.Name) != nil || r.At(t, "errors") != nil {
					t.Errorf("%s: %.600s", call, r.Body)
				}
				continue
			}
			if ok && !pathsOfErrors(t, r)["[moduleDefinitions nodes 0 "+f.Name+"]"] {
				t.Errorf("%s is not refused: %.600s", call, r.Body)
			}
		}
	})
}
