// Package inputprop is the schema of a module's inputs: the 14 variants of property, read strictly from JSON with
// every violation named, and written back as the same JSON.
//
// The variants are a closed union. What one is stands in its own methods and tags, in the file of its family; the
// registry in variants.go has its name on the wire. What a member decides by itself is checked while decoding.
// The package knows no values and no rule over several members: package inputvalues resolves and validates values by
// a schema, and package inputrules has the rules under which a schema may be saved. For both it makes schemas ready:
// a Level is a list of properties with their conditions connected, templates and titles are parsed into pieces.
package inputprop

import (
	"encoding/json"

	"slipway/internal/base/strictjson"
)

// Property is one input of a module. Each of the 14 variants is a pointer to a struct of this package.
// What the JSON left out is nil, so that it is written back the same.
//
// What a variant is stands in its own methods, and where it says nothing in those of Base and Requirable. Code
// elsewhere asks these, or names every variant in a switch.
//
//sumtype:decl
type Property interface {
	// Head returns what every variant has.
	Head() *Base
	// InitialValue returns the value that the input has if none is given.
	InitialValue() InitialValue
	// DropDefault removes the default, after which there is no initial value.
	DropDefault()
	// IsEmpty reports whether a value, which is there and is not null, is one that a required input refuses.
	IsEmpty(value *strictjson.Node) bool
	// Nested returns the inputs within this one, the zero value if the variant has none.
	Nested() Nested
	// ValueSource returns what there is to choose from, nil if the value is free.
	ValueSource() Values
	// Traits returns what is asked of the value, and how it is treated.
	Traits() Traits

	sealed()
}

// Traits are what a property asks of its value, and how the value is treated, by the variant and by the members
// of the property.
type Traits struct {
	// Required values must be there, and not be empty.
	Required bool
	// Immutable values are locked after the first deployment.
	Immutable bool
	// Collapsible inputs that follow one another are folded into a group.
	Collapsible bool
	// MinCurrent values may not go below the current one.
	MinCurrent bool
	// Numeric values are compared as numbers; others by their places among the options.
	Numeric bool
	// NoValue inputs never have a value.
	NoValue bool
	// NotNull values may not be null, by which others are left empty.
	NotNull bool
	// InKeys inputs may make up the keys of an object_map.
	InKeys bool
	// Fields are those of a chosen option that make up the value, nil if the option is the value.
	Fields []string
	// ModuleType is the type of the modules whose instances the value may name, "" if it names none.
	ModuleType string
}

// IsHeld reports whether a value is held to the one of the last success.
func (t Traits) IsHeld() bool { return t.Immutable || t.MinCurrent }

// Nested describes the inputs within a property: the inputs of each item of a collection, or inputs that stand on
// the property's own level, behind it.
type Nested struct {
	// Member is the member of the property's JSON that has the inputs; "" if there are none.
	Member string
	Inputs []Property
	// Collection is the kind of a collection, Object or Array; Null if the inputs are of the property's own level.
	Collection strictjson.Kind
	// Key says how the keys of a collection come about, nil if they are given.
	Key *MapKeyConfig
	// Title makes the title of an item, Description the text about it; nil if there is none.
	Title       *ObjectCollectionItemTitleConfig
	Description *string
	// Label is what an item of a list is called.
	Label string
}

// IsCollection reports whether the inputs are those of items, each of which is a level of its own.
func (n Nested) IsCollection() bool { return n.Collection != strictjson.Null }

// Base is what every variant has. By its methods a variant has no choice, no inputs within it and no value that is
// empty, unless it says otherwise.
type Base struct {
	// ID is the input's name among those of its level.
	ID string `json:"id" rules:"required,nonempty"`
	// Label stands above the field.
	Label string `json:"label" rules:"required,nonempty"`
	// Type is the discriminator.
	Type string `json:"type" rules:"required"`
	// Description is a help text.
	Description *string `json:"description,omitzero"`
	// ShowWhen is a free-form object of conditions.
	ShowWhen *strictjson.Node `json:"show_when,omitzero" rules:"shape=object"`
}

// Head returns b: it implements that method of Property for every variant.
func (b *Base) Head() *Base { return b }

// IsEmpty implements Property: no value is.
func (*Base) IsEmpty(*strictjson.Node) bool { return false }

// Nested implements Property: there are none.
func (*Base) Nested() Nested { return Nested{} }

// ValueSource implements Property: the value is free.
func (*Base) ValueSource() Values { return nil }

// ShowWhenJSON returns the condition under which the input is shown, nil when it always is.
func (b *Base) ShowWhenJSON() json.RawMessage { return b.ShowWhen.JSON() }

// Common is what every variant but the section has besides.
type Common struct {
	// Collapsible inputs that follow one another are folded into a group.
	Collapsible *bool `json:"collapsible,omitzero"`
	// Immutable inputs are locked after the first deployment.
	Immutable *bool `json:"immutable,omitzero"`
}

// IsCollapsible reports whether the input may be folded; it may not unless said otherwise.
func (c *Common) IsCollapsible() bool { return truth(c.Collapsible) }

// IsImmutable reports whether the value is locked; it is not unless said otherwise.
func (c *Common) IsImmutable() bool { return truth(c.Immutable) }

// Requirable is part of the variants whose value may be demanded.
type Requirable struct {
	Common
	Required *bool `json:"required,omitzero"`
}

// IsRequired reports whether a value is demanded; it is not unless said otherwise.
func (r *Requirable) IsRequired() bool { return truth(r.Required) }

// Traits returns those that most variants have.
func (r *Requirable) Traits() Traits {
	return Traits{Required: r.IsRequired(), Immutable: r.IsImmutable(), Collapsible: r.IsCollapsible()}
}

// Dropdown is part of the variants that choose one of their values.
type Dropdown struct {
	// MinCurrentValue forbids to go below the current value.
	MinCurrentValue *bool `json:"min_current_value,omitzero"`
	// NoOptionsMessage is shown when there is nothing to choose from.
	NoOptionsMessage *string `json:"no_options_message,omitzero"`
}

// KeepsMinCurrent reports whether the value may not go below the current one; it may unless said otherwise.
func (d *Dropdown) KeepsMinCurrent() bool { return truth(d.MinCurrentValue) }

// ValidationPattern is a JavaScript regular expression that a text must match.
type ValidationPattern struct {
	Pattern string `json:"pattern" rules:"required,max=1000"`
	// Message is shown where the text does not match.
	Message string `json:"message" rules:"required"`
}

func truth(b *bool) bool { return b != nil && *b }

func isEmptyText(n *strictjson.Node) bool { return n.Kind == strictjson.String && n.Text == "" }

func isWithoutItems(n *strictjson.Node, kind strictjson.Kind) bool {
	return n.Kind == kind && len(n.Items) == 0
}
