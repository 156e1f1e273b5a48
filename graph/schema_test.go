package graph_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"slipway/graph/generated"
	"slipway/graph/plan"
)

// schema is the published one.
var schema = generated.NewPlanSchema(generated.Config{}, plan.Options{}).Schema()

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
		// Whatever is asked for at a root, and whatever takes arguments, is null if it is refused.
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
	return f.fields(def.Fields, func(inner string) string {
		switch {
		case depth == 0:
			return ""
		case inner == "InputProperty":
			// Inputs of inputs with their plain fields, or it would be over the limit of selections.
			return f.of(inner, 0)
		default:
			return f.of(inner, depth-1)
		}
	})
}

// fields selects fields, those that have fields themselves by the fragment that inside returns for their type. Where
// it returns none they are left out.
func (f fragments) fields(list ast.FieldList, inside func(inner string) string) string {
	text := ""
	for _, field := range list {
		inner := schema.Types[field.Type.Name()]
		if strings.HasPrefix(field.Name, "__") {
			continue
		}
		if inner.IsLeafType() {
			text += field.Name + " "
		} else if fragment := inside(inner.Name); fragment != "" {
			text += field.Name + " { ..." + fragment + " } "
		}
	}
	return text
}

// plain selects every field of an input and of those inside it, so many levels down, by a fragment for each variant, as
// frontends have a component for each.
func (f fragments) plain(levels int) string {
	name := "plain" + string(rune('0'+levels))
	if f[name] != "" {
		return name
	}
	text := ""
	for _, variant := range schema.GetPossibleTypes(schema.Types["InputProperty"]) {
		own := variant.Name + string(rune('0'+levels))
		fields := f.fields(variant.Fields, func(inner string) string {
			switch {
			case inner != "InputProperty":
				return f.of(inner, 3)
			case levels > 1:
				return f.plain(levels - 1)
			default:
				return ""
			}
		})
		if !slices.ContainsFunc(variant.Fields, func(field *ast.FieldDefinition) bool { return field.Type.Name() == "InputProperty" }) {
			own = variant.Name // which is the same on each level
		}
		f[own] = "fragment " + own + " on " + variant.Name + " { __typename " + fields + "}\n"
		text += "..." + own + " "
	}
	f[name] = "fragment " + name + " on InputProperty { " + text + "}\n"
	return name
}

// inputs selects every field of an input and of those inside it, so many levels down. What all variants have is
// selected once.
func (f fragments) inputs(levels int) string {
	name := "inputs" + string(rune('0'+levels))
	if f[name] != "" {
		return name
	}
	base := schema.Types["InputPropertyBase"]
	text := "__typename ...on InputPropertyBase { " + f.fields(base.Fields, nil) + "} "
	for _, variant := range schema.GetPossibleTypes(schema.Types["InputProperty"]) {
		own := slices.DeleteFunc(slices.Clone(variant.Fields), func(field *ast.FieldDefinition) bool {
			return base.Fields.ForName(field.Name) != nil
		})
		text += "...on " + variant.Name + " { __typename " + f.fields(own, func(inner string) string {
			switch {
			case inner != "InputProperty":
				return f.of(inner, 3)
			case levels > 0:
				return f.inputs(levels - 1)
			default:
				return ""
			}
		}) + "} "
	}
	f[name] = "fragment " + name + " on InputProperty { " + text + "}\n"
	return name
}

// shared selects every field of an input and of those inside it, so many levels down: what several variants have by their
// interfaces, and the rest by the variants.
func (f fragments) shared(levels int) string {
	name := "shared" + string(rune('0'+levels))
	if f[name] != "" {
		return name
	}
	inside := func(inner string) string {
		switch {
		case inner != "InputProperty":
			return f.of(inner, 3)
		case levels > 0:
			return f.shared(levels - 1)
		default:
			return ""
		}
	}

	text, selected := "__typename ", map[string]bool{}
	for _, of := range slices.Sorted(maps.Keys(schema.Types)) {
		def := schema.Types[of]
		if def.Kind != ast.Interface || !strings.HasPrefix(of, "InputProperty") {
			continue
		}
		if fields := f.fields(def.Fields, inside); fields != "" {
			text += "...on " + of + " { " + fields + "} "
		}
		for _, field := range def.Fields {
			selected[field.Name] = true
		}
	}

	for _, variant := range schema.GetPossibleTypes(schema.Types["InputProperty"]) {
		own := slices.DeleteFunc(slices.Clone(variant.Fields), func(field *ast.FieldDefinition) bool {
			return selected[field.Name]
		})
		if fields := f.fields(own, inside); fields != "" {
			text += "...on " + variant.Name + " { " + fields + "} "
		}
	}
	f[name] = "fragment " + name + " on InputProperty { " + text + "}\n"
	return name
}

func (f fragments) text() string {
	text := ""
	for _, fragment := range f {
		text += fragment
	}
	return text
}
