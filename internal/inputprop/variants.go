package inputprop

import (
	"reflect"
	"regexp"
	"strings"
)

// maxInputs bounds the properties of one input, those inside others counted.
const maxInputs = 500

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

// ofType finds the variant of a discriminator.
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

// property reads one property and those inside it. It gives nil where there is none to be had.
func (d *decoder) property(n *Node) Property {
	if !d.admit(n) {
		return nil
	}
	d.depth++
	defer func() { d.depth-- }()
	discriminator := n.Get("type")
	if discriminator == nil || discriminator.Kind != String {
		return d.untyped(n)
	}
	v, ok := ofType(discriminator.Text)
	if !ok {
		d.failMember("type", "unknown_type", "must be one of %s, found %s%s", strings.Join(typeNames(), ", "),
			quote(discriminator.Text), hint(discriminator.Text, typeNames()))
		return d.untyped(n)
	}
	if v.name == refPrefix {
		return d.reference(n, discriminator.Text)
	}
	p := v.make()
	id := n.text("id")
	d.name(id)
	d.object(n, reflect.ValueOf(p).Elem(), false)
	d.rename(id)
	return p
}

// admit refuses what is no property at all, or one too many, or too deep.
func (d *decoder) admit(n *Node) bool {
	if !d.expect(n, Object, "", &rules{}) {
		return false
	}
	if d.inputs++; d.inputs > maxInputs {
		if d.inputs == maxInputs+1 {
			d.fail("max_inputs", "must not be there, for at most %d inputs are allowed, nested ones counted", maxInputs)
		}
		return false
	}
	if d.depth > 0 {
		return true
	}
	if levels := n.levels(); levels > MaxLevels {
		d.fail("max_depth", "must be nested at most %d levels deep, found %d", MaxLevels, levels)
		return false
	}
	return true
}

// untyped reports what can be said of a property whose variant is not known.
func (d *decoder) untyped(n *Node) Property {
	d.object(n, reflect.ValueOf(new(Base)).Elem(), true)
	return nil
}

// A reference's type has at most maxRefType characters.
const maxRefType = 200

var refType = regexp.MustCompile(`^\$ref:[A-Za-z0-9][A-Za-z0-9_-]*([:/.][A-Za-z0-9_-]+)*$`)

func (d *decoder) reference(n *Node, discriminator string) Property {
	if d.fallback {
		d.failMember("type", "nested_reference", "must not be a reference within mapped_inputs, found %s", quote(discriminator))
		return nil
	}
	if len(discriminator) > maxRefType || !refType.MatchString(discriminator) {
		d.failMember("type", "format", "must be $ref: and a module type such as aws/vpc or network.v2, "+
			"of letters, digits, _ and - with : / . between, %d characters in all, found %s", maxRefType, quote(discriminator))
	}
	d.fallback = true
	defer func() { d.fallback = false }()
	p := new(ReferenceProperty)
	d.object(n, reflect.ValueOf(p).Elem(), false)
	return p
}
