package inputprop

import (
	"slices"
	"strconv"
)

// Walk calls f for every property of a list, at any depth, each before those within it, with its JSON
// Pointer, which starts with at.
func Walk(list []Property, at string, f func(p Property, pointer string)) {
	for i, p := range list {
		WalkOne(p, at+"/"+strconv.Itoa(i), f)
	}
}

// WalkOne is Walk for one property and those within it; its own pointer is at.
func WalkOne(p Property, at string, f func(p Property, pointer string)) {
	f(p, at)
	if nested := p.Nested(); len(nested.Inputs) > 0 {
		Walk(nested.Inputs, at+"/"+nested.Member, f)
	}
}

// SourceDefinition is the source of dynamic values that gives the options of a default value
// definition; its parameter ParamGivenID names the definition.
const (
	SourceDefinition = "default_value_definition"
	ParamGivenID     = "givenId"
)

// DynamicRef returns the reference that a property takes its options from, nil if it takes them from
// none.
func DynamicRef(p Property) *DynamicValuesRef {
	ref, _ := p.ValueSource().(*DynamicValuesRef)
	return ref
}

// DefinitionsNamed returns the givenIds of the default value definitions that properties of the list take their options
// from, each once, sorted.
func DefinitionsNamed(list []Property) []string {
	var named []string
	Walk(list, "", func(p Property, _ string) {
		ref := DynamicRef(p)
		if ref == nil || ref.Source != SourceDefinition {
			return
		}
		if param, _ := ref.Params.Get(ParamGivenID); param.Text != "" {
			named = append(named, param.Text)
		}
	})
	slices.Sort(named)
	return slices.Compact(named)
}

// NamesDefinition reports whether a property of the list takes its options from the default value
// definition of a givenId.
func NamesDefinition(list []Property, givenID string) bool {
	return slices.Contains(DefinitionsNamed(list), givenID)
}
