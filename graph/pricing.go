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

// pricedColumn is a column of JSON, and fields of its type for which its bytes cost work of a kind: they decode it, or
// answer with it as it is stored.
type pricedColumn struct {
	column string
	kind   meter.Kind
	fields []string
}

// pricedColumns are those of the types of tables. Of one column, the dearest is first.
var pricedColumns = map[string][]pricedColumn{
	"ModuleVersion": {
		{moduleversion.FieldInputs, meter.Inputs, []string{"inputs"}},
		{moduleversion.FieldInputs, meter.Texts, []string{"inputsJson"}},
	},
	"Release": {{release.FieldContent, meter.Stored, []string{"inputs", "artifact"}}},
	"Deployment": {
		{deployment.FieldData, meter.Stored, []string{"data", "events"}},
		{deployment.FieldData, meter.Texts, []string{"dataJson"}},
	},
	"DefaultValueDefinition": {
		{defaultvaluedefinition.FieldSchema, meter.Inputs, []string{"schema"}},
		{defaultvaluedefinition.FieldSchema, meter.Texts, []string{"schemaJson"}},
	},
}

// addPlace adds what is selected of the records that a field answers with.
func (s selection) addPlace(f *ast.Field) {
	for _, of := range s.schema.GetPossibleTypes(s.schema.Types[f.Definition.Type.Name()]) {
		if _, ok := pricedColumns[of.Name]; ok {
			s.places[of.Name] = append(s.places[of.Name], f.SelectionSet)
		}
	}
}

// pricesEach reports whether the operation selects one of the fields of every record of a type that it reads. All of
// them are read with the same columns, so if one place selects it and another does not, nothing is known of a record
// that is read.
func (s selection) pricesEach(typeName string, p pricedColumn) bool {
	places := s.places[typeName]
	return len(places) > 0 && !slices.ContainsFunc(places, func(set ast.SelectionSet) bool {
		return !slices.ContainsFunc(p.fields, func(field string) bool { return selects(set, field) })
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
