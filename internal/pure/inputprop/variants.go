package inputprop

import "strings"

// Variants returns an empty property of each variant, with its type, in the order in which messages list them. The
// type of the reference is its beginning.
func Variants() []Property {
	list := make([]Property, len(variants))
	for i, v := range variants {
		list[i] = v.make()
		list[i].Head().Type = v.name
	}
	return list
}

// variant is one of the kinds of property.
type variant struct {
	// name is the discriminator; for references, what it begins with.
	name string
	// member is the variant's name in the one-of input of GraphQL.
	member string
	make   func() Property
}

// variants are all there are, in the order in which messages list them.
var variants = []variant{
	{"string", "string", func() Property { return new(StringProperty) }},
	{"text", "text", func() Property { return new(TextProperty) }},
	{"object", "object", func() Property { return new(ObjectProperty) }},
	{"object_map", "objectMap", func() Property { return new(ObjectMapProperty) }},
	{"object_array", "objectArray", func() Property { return new(ObjectArrayProperty) }},
	{"array", "array", func() Property { return new(ArrayProperty) }},
	{"string_array", "stringArray", func() Property { return new(StringArrayProperty) }},
	{"number", "number", func() Property { return new(NumberProperty) }},
	{"boolean", "boolean", func() Property { return new(BooleanProperty) }},
	{"section", "section", func() Property { return new(SectionProperty) }},
	{"compound", "compound", func() Property { return new(CompoundProperty) }},
	{refPrefix, "reference", func() Property { return new(ReferenceProperty) }},
	{"gitrepo", "gitRepo", func() Property { return new(GitRepoProperty) }},
	{"keyvalue", "keyValue", func() Property { return new(KeyValueProperty) }},
}

// ofType returns the variant of a discriminator.
func ofType(discriminator string) (variant, bool) {
	for _, v := range variants {
		if v.name == discriminator || v.name == refPrefix && strings.HasPrefix(discriminator, refPrefix) {
			return v, true
		}
	}
	return variant{}, false
}

func typeNames() []string {
	names := make([]string, len(variants))
	for i, v := range variants {
		names[i] = v.name
		if v.name == refPrefix {
			names[i] += "<module-type>"
		}
	}
	return names
}
