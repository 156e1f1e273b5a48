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

	"slipway/internal/edge/gqlhttp/document"
	"slipway/internal/test/worldtest"
)

// introspection asks for everything that the specification lets a schema tell of itself.
const introspection = `{ __schema {
	description queryType { name } mutationType { name } subscriptionType { name }
	types {
		kind name description specifiedByURL isOneOf
		interfaces { name } possibleTypes { name }
		fields(includeDeprecated: true) { name description isDeprecated deprecationReason type { ...T } args(includeDeprecated: true) { ...V } }
		inputFields(includeDeprecated: true) { ...V }
		enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
	}
	directives { name description isRepeatable locations args(includeDeprecated: true) { ...V } }
} }
fragment V on __InputValue { name description defaultValue isDeprecated deprecationReason type { ...T } }
fragment T on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } } }`

type named struct{ Name string }

// part is what a schema says of a field, an argument, a value, and in part of a type and a directive.
type part struct {
	Name, Description string
	IsDeprecated      bool
	DeprecationReason string
	DefaultValue      *string
	Type              reference
	Args              []part
}

type reference struct {
	Kind, Name string
	OfType     *reference
}

func (r reference) String() string {
	switch r.Kind {
	case "NON_NULL":
		return r.OfType.String() + "!"
	case "LIST":
		return "[" + r.OfType.String() + "]"
	default:
		return r.Name
	}
}

type introspected struct {
	Description                               string
	QueryType, MutationType, SubscriptionType named
	Types                                     []struct {
		part
		Kind, SpecifiedByURL            string
		IsOneOf                         bool
		Interfaces, PossibleTypes       []named
		Fields, InputFields, EnumValues []part
	}
	Directives []struct {
		part
		IsRepeatable bool
		Locations    []string
	}
}

// coordinates describe each part of a schema under its schema coordinate, such as Query.node(id:).
type coordinates map[string]string

func (c coordinates) add(coordinate string, parts ...any) {
	if _, twice := c[coordinate]; twice {
		coordinate += " once more"
	}
	c[coordinate] = strings.TrimSpace(fmt.Sprintln(parts...))
}

func (c coordinates) part(coordinate string, m part) {
	value := "none"
	if m.DefaultValue != nil {
		value = *m.DefaultValue
	}
	c.add(coordinate, m.Type, "default", value, "deprecated", m.IsDeprecated, m.DeprecationReason, ":", m.Description)
	for _, a := range m.Args {
		c.part(coordinate+"("+a.Name+":)", a)
	}
}

func (s introspected) coordinates() coordinates {
	c := coordinates{}
	c.add("schema", s.QueryType.Name, s.MutationType.Name, s.SubscriptionType.Name, s.Description)
	for _, t := range s.Types {
		c.add(t.Name, t.Kind, "oneOf", t.IsOneOf, "url", t.SpecifiedByURL,
			"implements", sorted(t.Interfaces), "covers", sorted(t.PossibleTypes), ":", t.Description)
		for _, m := range slices.Concat(t.Fields, t.InputFields, t.EnumValues) {
			c.part(t.Name+"."+m.Name, m)
		}
	}
	for _, d := range s.Directives {
		slices.Sort(d.Locations)
		c.add("@"+d.Name, "repeatable", d.IsRepeatable, "on", d.Locations, ":", d.Description)
		for _, a := range d.Args {
			c.part("@"+d.Name+"("+a.Name+":)", a)
		}
	}
	return c
}

func sorted(list []named) (names []string) {
	for _, n := range list {
		names = append(names, n.Name)
	}
	slices.Sort(names)
	return names
}

// published returns the coordinates of the committed SDL.
func published(t *testing.T) coordinates {
	t.Helper()
	text, err := os.ReadFile("../schema.graphql")
	if err != nil {
		t.Fatal(err)
	}
	s, err := gqlparser.LoadSchema(&ast.Source{Name: "schema.graphql", Input: string(text)})
	if err != nil {
		t.Fatal(err)
	}
	s = document.StandardSchema(s)
	c := coordinates{}
	c.add("schema", s.Query.Name, s.Mutation.Name, s.Subscription.Name, s.Description)
	for _, d := range s.Types {
		c.definition(s, d)
	}
	for name, d := range s.Directives {
		slices.Sort(d.Locations)
		c.add("@"+name, "repeatable", d.IsRepeatable, "on", d.Locations, ":", d.Description)
		c.arguments("@"+name, d.Arguments)
	}
	return c
}

func (c coordinates) definition(s *ast.Schema, d *ast.Definition) {
	var implements, covers []named
	for _, name := range d.Interfaces {
		implements = append(implements, named{name})
	}
	if d.IsAbstractType() {
		for _, p := range s.GetPossibleTypes(d) {
			covers = append(covers, named{p.Name})
		}
	}
	url := argument(d.Directives, "specifiedBy", "url", "")
	c.add(d.Name, d.Kind, "oneOf", d.Directives.ForName("oneOf") != nil, "url", url,
		"implements", sorted(implements), "covers", sorted(covers), ":", d.Description)
	for _, f := range d.Fields {
		if d == s.Query && strings.HasPrefix(f.Name, "__") {
			continue // which every schema has, and none tells
		}
		c.part(d.Name+"."+f.Name, written(f.Type, f.Description, f.DefaultValue, f.Directives))
		c.arguments(d.Name+"."+f.Name, f.Arguments)
	}
	for _, v := range d.EnumValues {
		c.part(d.Name+"."+v.Name, written(nil, v.Description, nil, v.Directives))
	}
}

func (c coordinates) arguments(coordinate string, list ast.ArgumentDefinitionList) {
	for _, a := range list {
		c.part(coordinate+"("+a.Name+":)", written(a.Type, a.Description, a.DefaultValue, a.Directives))
	}
}

func written(t *ast.Type, description string, value *ast.Value, directives ast.DirectiveList) part {
	m := part{Description: description}
	if t != nil {
		m.Type.Name = t.String()
	}
	if value != nil {
		m.DefaultValue = new(value.String())
	}
	if directives.ForName("deprecated") != nil {
		m.IsDeprecated, m.DeprecationReason = true, argument(directives, "deprecated", "reason", "No longer supported")
	}
	return m
}

// argument is what a directive says, or the default if it is silent.
func argument(directives ast.DirectiveList, directive, name, standard string) string {
	if d := directives.ForName(directive); d != nil {
		if a := d.Arguments.ForName(name); a != nil {
			return a.Value.Raw
		}
	}
	return standard
}

func TestIntrospectionTellsThePublishedSchema(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	r := w.GraphQL(t, "", introspection, nil)
	var answer struct {
		Data struct {
			Schema introspected `json:"__schema"`
		}
		Errors json.RawMessage
	}
	if err := json.Unmarshal(r.Body, &answer); err != nil || answer.Errors != nil {
		t.Fatalf("%v: %s", err, answer.Errors)
	}
	got := answer.Data.Schema.coordinates()
	if diff := cmp.Diff(published(t), got); diff != "" {
		t.Errorf("what is told (+) is not what is published (-):\n%s", diff)
	}
	var directives []string
	for coordinate := range got {
		if strings.HasPrefix(coordinate, "@") && !strings.Contains(coordinate, "(") {
			directives = append(directives, coordinate)
		}
	}
	slices.Sort(directives)
	if diff := cmp.Diff([]string{"@deprecated", "@include", "@oneOf", "@skip", "@specifiedBy"}, directives); diff != "" {
		t.Error(diff)
	}
}
