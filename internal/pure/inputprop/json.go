package inputprop

import (
	"encoding/json"
	"regexp"
	"strings"

	"slipway/internal/base/strictjson"
)

// Encode returns a property as JSON; what is absent is left out. Reading it back gives an equal property.
func Encode(p Property) json.RawMessage { return strictjson.Encode(p) }

// EncodeList returns a list of properties as a JSON array.
func EncodeList(list []Property) json.RawMessage {
	if list == nil {
		list = []Property{}
	}
	return strictjson.Encode(list)
}

func init() {
	strictjson.RegisterRules(ruleOptions, ruleFirst)
	strictjson.RegisterType(decodeProperty)
	strictjson.RegisterType(decodeValues)
	strictjson.RegisterFormat("repository_url", strictjson.Format{
		Flaw: templateOrRepositoryFlaw, Message: RepositoryMessage,
	})
}

// The rules that tags of this package have besides those of strictjson.
const (
	// ruleOptions says which options Values have: string, number or compound.
	ruleOptions = "options"
	// ruleFirst lets a Default be the instruction to take the first of the values.
	ruleFirst = "first"
)

// maxInputs bounds the properties of one input, those inside others counted.
const maxInputs = 500

// nesting is what is remembered while properties are decoded.
type nesting struct {
	// inputs counts the properties so far, and depth those around the value at hand.
	inputs, depth int
	// mapped is set within mapped_inputs.
	mapped bool
}

func nestingOf(d *strictjson.Decoder) *nesting {
	at, ok := d.State.(*nesting)
	if !ok {
		at = &nesting{}
		d.State = at
	}
	return at
}

// decodeProperty reads one property and those inside it. It returns nil if there is none to be had.
func decodeProperty(d *strictjson.Decoder, n *strictjson.Node, _ *strictjson.Rules) Property {
	at := nestingOf(d)
	if !at.admit(d, n) {
		return nil
	}
	at.depth++
	defer func() { at.depth-- }()

	discriminator := n.Get("type")
	if discriminator == nil || discriminator.Kind != strictjson.String {
		return decodeUntyped(d, n)
	}

	v, ok := ofType(discriminator.Text)
	if !ok {
		d.FailMember("type", "unknown_type", "must be one of %s, found %s%s", strings.Join(typeNames(), ", "),
			strictjson.Quote(discriminator.Text), strictjson.Hint(discriminator.Text, typeNames()))
		return decodeUntyped(d, n)
	}
	if v.name == refPrefix {
		return decodeReference(d, n, discriminator.Text)
	}

	p := v.make()
	id := n.GetText("id")
	d.PushNames(id)
	d.Object(n, p, false)
	d.PopNames(id)
	return p
}

// admit refuses what is no property at all, or one too many, or too deep.
func (at *nesting) admit(d *strictjson.Decoder, n *strictjson.Node) bool {
	if !d.Expect(n, strictjson.Object, "", &strictjson.Rules{}) {
		return false
	}
	if at.inputs++; at.inputs > maxInputs {
		if at.inputs == maxInputs+1 {
			d.Fail("max_inputs", "must not be there, for at most %d inputs are allowed, nested ones counted", maxInputs)
		}
		return false
	}
	if at.depth > 0 {
		return true
	}
	if levels := n.Levels(); levels > strictjson.MaxLevels {
		d.Fail("max_depth", "must be nested at most %d levels deep, found %d", strictjson.MaxLevels, levels)
		return false
	}
	return true
}

// decodeUntyped finds what is wrong with the members that every variant has, of a property whose variant is not known.
func decodeUntyped(d *strictjson.Decoder, n *strictjson.Node) Property {
	d.Object(n, new(Base), true)
	return nil
}

// A reference's type has at most maxRefType characters.
const maxRefType = 200

var refType = regexp.MustCompile(`^\$ref:[A-Za-z0-9][A-Za-z0-9_-]*([:/.][A-Za-z0-9_-]+)*$`)

func decodeReference(d *strictjson.Decoder, n *strictjson.Node, discriminator string) Property {
	at := nestingOf(d)
	if at.mapped {
		d.FailMember("type", "nested_reference",
			"must not be a reference within mapped_inputs, found %s", strictjson.Quote(discriminator))
		return nil
	}
	if len(discriminator) > maxRefType || !refType.MatchString(discriminator) {
		d.FailMember("type", "format", "must be $ref: and a module type such as aws/vpc or network.v2, "+
			"of letters, digits, _ and - with : / . between, %d characters in all, found %s",
			maxRefType, strictjson.Quote(discriminator))
	}
	at.mapped = true
	defer func() { at.mapped = false }()
	p := new(ReferenceProperty)
	d.Object(n, p, false)
	return p
}
