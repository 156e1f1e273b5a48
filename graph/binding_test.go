package graph_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/pure/ecs"
	"slipway/internal/pure/event"
	"slipway/internal/pure/inputprop"
)

// bound are the types of the schema whose fields are the JSON members of a struct.
var bound = map[string]any{
	"StringProperty": inputprop.StringProperty{}, "TextProperty": inputprop.TextProperty{},
	"ObjectProperty": inputprop.ObjectProperty{}, "ObjectMapProperty": inputprop.ObjectMapProperty{},
	"ObjectArrayProperty": inputprop.ObjectArrayProperty{}, "ArrayProperty": inputprop.ArrayProperty{},
	"StringArrayProperty": inputprop.StringArrayProperty{}, "NumberProperty": inputprop.NumberProperty{},
	"BooleanProperty": inputprop.BooleanProperty{}, "SectionProperty": inputprop.SectionProperty{},
	"CompoundProperty": inputprop.CompoundProperty{}, "ReferenceProperty": inputprop.ReferenceProperty{},
	"GitRepoProperty": inputprop.GitRepoProperty{}, "KeyValueProperty": inputprop.KeyValueProperty{},
	"ValidationPattern": inputprop.ValidationPattern{}, "ItemTitle": inputprop.ObjectCollectionItemTitleConfig{},
	"MapKey": inputprop.MapKeyConfig{}, "DynamicValuesRef": inputprop.DynamicValuesRef{},
	"EcsDeploymentData": ecs.Data{}, "EcsAcceptedPauseControl": ecs.AcceptedPauseControl{},
	"EcsTaskDefinition": ecs.TaskDefinition{}, "EcsListenerState": ecs.ListenerState{},
	"EcsListenerRule": ecs.ListenerRule{}, "DeploymentEvent": event.Event{},
	"EcsServiceDeploymentState": ecs.ServiceDeploymentState{}, "EcsServiceRevision": ecs.ServiceRevision{},
}

// member is what a member of a struct's JSON is.
type member struct{ required bool }

// members returns the members of a struct's JSON by their names in the schema.
func members(t reflect.Type) map[string]member {
	all := map[string]member{}
	for i := range t.NumField() {
		field := t.Field(i)
		if field.Anonymous {
			maps.Copy(all, members(field.Type))
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		rules := strings.Split(field.Tag.Get("rules"), ",")
		all[camel(name)] = member{required: slices.Contains(rules, "required")}
	}
	return all
}

// fields returns the names of a type's fields.
func fields(name string) []string {
	var names []string
	for _, field := range schema.Types[name].Fields {
		names = append(names, field.Name)
	}
	slices.Sort(names)
	return names
}

func TestTypesHaveTheFieldsOfTheJSON(t *testing.T) {
	t.Parallel()
	for name, value := range bound {
		want := members(reflect.TypeOf(value))
		if name == "ReferenceProperty" {
			want["moduleType"] = member{}
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), fields(name)); diff != "" {
			t.Errorf("%s: JSON (-) and schema (+) differ: %s", name, diff)
		}
	}
}

func TestTypedInputsHaveTheFieldsOfTheJSON(t *testing.T) {
	t.Parallel()
	for name, value := range bound {
		input := schema.Types[name+"Input"]
		if input == nil {
			continue
		}
		want := members(reflect.TypeOf(value))
		if strings.HasSuffix(name, "Property") {
			want["type"] = member{} // the member of the one-of says it, too
		}
		if name == "ReferenceProperty" {
			want["moduleType"] = member{required: true}
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), fields(name+"Input")); diff != "" {
			t.Errorf("%s: JSON (-) and schema (+) differ: %s", input.Name, diff)
		}
		for _, field := range input.Fields {
			if required := want[field.Name].required; required != field.Type.NonNull {
				t.Errorf("%s.%s is %s, but required is %t", input.Name, field.Name, field.Type, required)
			}
		}
	}
}

func TestEveryVariantIsInTheUnionAndInTheOneOf(t *testing.T) {
	t.Parallel()
	var variants, typed []string
	for name := range bound {
		if strings.HasSuffix(name, "Property") {
			variants = append(variants, name)
			typed = append(typed, name+"Input")
		}
	}
	slices.Sort(variants)
	slices.Sort(typed)
	if union := slices.Sorted(slices.Values(schema.Types["InputProperty"].Types)); !slices.Equal(union, variants) || len(union) != len(inputprop.Variants()) {
		t.Errorf("the union has %v, want %v", union, variants)
	}
	oneOf := schema.Types["InputPropertyInput"]
	var taken []string
	for _, field := range oneOf.Fields {
		if field.Name != "json" {
			taken = append(taken, field.Type.Name())
		}
	}
	slices.Sort(taken)
	if !slices.Equal(taken, typed) || oneOf.Directives.ForName("oneOf") == nil {
		t.Errorf("the one-of has %v, want %v", taken, typed)
	}
	for _, name := range variants {
		for of, def := range schema.Types {
			if def.Kind != ast.Interface || !strings.HasPrefix(of, "InputProperty") {
				continue
			}
			lacks := slices.ContainsFunc(def.Fields, func(f *ast.FieldDefinition) bool {
				return schema.Types[name].Fields.ForName(f.Name) == nil
			})
			if is := slices.Contains(schema.Types[name].Interfaces, of); is == lacks {
				t.Errorf("%s is one of %s: %t, though it lacks a field of that: %t", name, of, is, lacks)
			}
		}
	}
}
