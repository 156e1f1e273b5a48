package inputprop

import "slices"

// Walk calls f for every property of a list, at any depth, each before those within it.
func Walk(list []Property, f func(Property)) {
	for _, p := range list {
		f(p)
		switch p := p.(type) {
		case *ObjectMapProperty:
			Walk(p.ItemInputs, f)
		case *ObjectArrayProperty:
			Walk(p.ItemInputs, f)
		case *ReferenceProperty:
			Walk(p.MappedInputs, f)
		}
	}
}

// SourceDefinition is the source of dynamic values that gives the options of a default value
// definition; its parameter ParamGivenID names the definition.
const (
	SourceDefinition = "default_value_definition"
	ParamGivenID     = "givenId"
)

// NamesDefinition says whether a property of the list takes its options from the default value
// definition of a givenId.
func NamesDefinition(list []Property, givenID string) bool {
	found := false
	Walk(list, func(p Property) {
		choice, ok := p.(interface{ ValueSource() Values })
		if !ok {
			return
		}
		ref, ok := choice.ValueSource().(*DynamicValuesRef)
		found = found || ok && ref.Source == SourceDefinition && ref.Params[ParamGivenID].Text == givenID
	})
	return found
}

// ModuleTypes are the types of the modules that the properties refer to, at any depth, each once.
func ModuleTypes(list []Property) []string {
	var types []string
	Walk(list, func(p Property) {
		if r, ok := p.(*ReferenceProperty); ok && !slices.Contains(types, r.ModuleType()) {
			types = append(types, r.ModuleType())
		}
	})
	return types
}
