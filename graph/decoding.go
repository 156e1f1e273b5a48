package graph

import (
	"slices"

	"github.com/vektah/gqlparser/v2/ast"

	"slipway/ent/defaultvaluedefinition"
	"slipway/ent/deployment"
	"slipway/ent/moduleversion"
	"slipway/ent/release"
	"slipway/internal/base/meter"
)

// decoding is a column of JSON, the fields of its type that decode it, and the work that this is. Other fields answer
// with the column as it is stored.
type decoding struct {
	column string
	kind   meter.Kind
	fields []string
}

// decodings are those of the types of tables.
var decodings = map[string]decoding{
	"ModuleVersion":          {moduleversion.FieldInputs, meter.Inputs, []string{"inputs"}},
	"Release":                {release.FieldContent, meter.Stored, []string{"inputs", "artifact"}},
	"Deployment":             {deployment.FieldData, meter.Stored, []string{"data", "events"}},
	"DefaultValueDefinition": {defaultvaluedefinition.FieldSchema, meter.Inputs, []string{"schema"}},
}

// addPlace adds what is selected of the records that a field answers with.
func (s selection) addPlace(f *ast.Field) {
	for _, of := range s.schema.GetPossibleTypes(s.schema.Types[f.Definition.Type.Name()]) {
		if _, ok := decodings[of.Name]; ok {
			s.places[of.Name] = append(s.places[of.Name], f.SelectionSet)
		}
	}
}

// decodesEach reports whether the operation decodes the column of every record of a type that it reads. All of them are
// read with the same columns, so if one place decodes and another does not, nothing is known of a record that is
// read.
func (s selection) decodesEach(typeName string, d decoding) bool {
	places := s.places[typeName]
	return len(places) > 0 && !slices.ContainsFunc(places, func(set ast.SelectionSet) bool {
		return !slices.ContainsFunc(d.fields, func(field string) bool { return selects(set, field) })
	})
}

// selects reports whether fields of the names, each of the one before, are selected under no condition.
func selects(set ast.SelectionSet, names ...string) bool {
	return len(names) == 0 || slices.ContainsFunc(set, func(selected ast.Selection) bool {
		switch selected := selected.(type) {
		case *ast.Field:
			return selected.Name == names[0] && len(selected.Directives) == 0 && selects(selected.SelectionSet, names[1:]...)
		case *ast.InlineFragment:
			return len(selected.Directives) == 0 && selects(selected.SelectionSet, names...)
		case *ast.FragmentSpread:
			return len(selected.Directives) == 0 && selects(selected.Definition.SelectionSet, names...)
		}
		return false
	})
}
