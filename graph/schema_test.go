package graph_test

import (
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"slipway/graph/generated"
)

// schema is the published one.
var schema = generated.NewExecutableSchema(generated.Config{}).Schema()

func TestEverythingInTheSchemaIsDescribed(t *testing.T) {
	t.Parallel()
	described := func(description string, path ...string) {
		if strings.TrimSpace(description) == "" {
			t.Errorf("%s has no description", strings.Join(path, "."))
		}
	}
	for name, def := range schema.Types {
		if def.BuiltIn {
			continue
		}
		described(def.Description, name)
		for _, field := range def.Fields {
			if strings.HasPrefix(field.Name, "__") {
				continue
			}
			described(field.Description, name, field.Name)
			for _, argument := range field.Arguments {
				described(argument.Description, name, field.Name, argument.Name)
			}
		}
		for _, value := range def.EnumValues {
			described(value.Description, name, value.Name)
		}
	}
}

func TestEveryNullIsExplained(t *testing.T) {
	t.Parallel()
	for _, def := range schema.Types {
		// Whatever is asked for at a root, and whatever takes arguments, is null where it is refused.
		if def.BuiltIn || def.Kind != ast.Object || def == schema.Query || def == schema.Mutation {
			continue
		}
		for _, field := range def.Fields {
			if !field.Type.NonNull && len(field.Arguments) == 0 && !strings.Contains(strings.ToLower(field.Description+def.Description), "null") {
				t.Errorf("%s.%s may be null, and nothing says when", def.Name, field.Name)
			}
		}
	}
}

// fragments writes the fragments that select every field of a type: its own as <type><depth>, and those
// of the types inside, down to depth 0, below which no object is selected.
type fragments map[string]string

func (f fragments) of(name string, depth int) string {
	fragment := name + string(rune('0'+depth))
	if _, known := f[fragment]; known {
		return fragment
	}
	f[fragment] = ""
	f[fragment] = "fragment " + fragment + " on " + name + " { __typename " + f.selection(schema.Types[name], depth) + "}\n"
	return fragment
}

func (f fragments) selection(def *ast.Definition, depth int) string {
	text := ""
	if def.IsAbstractType() {
		for _, member := range schema.GetPossibleTypes(def) {
			text += "..." + f.of(member.Name, depth) + " "
		}
		return text
	}
	for _, field := range def.Fields {
		inner := schema.Types[field.Type.Name()]
		switch {
		case strings.HasPrefix(field.Name, "__"):
		case inner.IsLeafType():
			text += field.Name + " "
		case inner.Name == "InputProperty" && depth > 0:
			// Inputs of inputs with their plain fields, or it would be over the limit of selections.
			text += field.Name + " { ..." + f.of(inner.Name, 0) + " } "
		case depth > 0:
			text += field.Name + " { ..." + f.of(inner.Name, depth-1) + " } "
		}
	}
	return text
}

func (f fragments) text() string {
	text := ""
	for _, fragment := range f {
		text += fragment
	}
	return text
}
