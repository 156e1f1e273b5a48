package inputprop

import (
	"encoding/json"
	"strings"
)

// CompoundProperty is a choice whose options hold several fields.
type CompoundProperty struct {
	Base
	Requirable
	Dropdown
	// Fields are the names that the chosen option exposes.
	Fields  []string         `json:"fields" rules:"required,nonempty"`
	Default *Default[Record] `json:"default,omitzero" rules:"first"`
	Values  Values           `json:"values" rules:"required,options=compound"`
}

// DefaultJSON returns the default, nil when there is none.
func (p *CompoundProperty) DefaultJSON() json.RawMessage { return p.Default.json() }

// ValueSource implements Property: where the options come from.
func (p *CompoundProperty) ValueSource() Values { return p.Values }

// InitialValue implements Property.
func (p *CompoundProperty) InitialValue() InitialValue { return p.Default.initial() }

// DropDefault implements Property.
func (p *CompoundProperty) DropDefault() { p.Default = nil }

// Traits implements Property.
func (p *CompoundProperty) Traits() Traits {
	t := p.Requirable.Traits()
	t.MinCurrent, t.Fields = p.KeepsMinCurrent(), p.Fields
	return t
}

func (*CompoundProperty) sealed() {}

// The members of properties that have others within them.
const (
	itemInputs   = "item_inputs"
	mappedInputs = "mapped_inputs"
)

// refPrefix begins the type of every reference; the module's type follows.
const refPrefix = "$ref:"

// ReferenceProperty chooses an instance of another module.
type ReferenceProperty struct {
	Base
	Requirable
	// MappedInputs are filled from the chosen instance, and by hand without one. No reference is among
	// them, at any depth.
	MappedInputs []Property `json:"mapped_inputs,omitzero"`
}

// ModuleType returns the type of the module that is referred to.
func (p *ReferenceProperty) ModuleType() string { return strings.TrimPrefix(p.Type, refPrefix) }

// InitialValue implements Property: there is none.
func (*ReferenceProperty) InitialValue() InitialValue { return InitialValue{} }

// DropDefault implements Property: there is none.
func (*ReferenceProperty) DropDefault() {}

// Nested implements Property.
func (p *ReferenceProperty) Nested() Nested {
	return Nested{Member: mappedInputs, Inputs: p.MappedInputs}
}

// Traits implements Property.
func (p *ReferenceProperty) Traits() Traits {
	t := p.Requirable.Traits()
	t.ModuleType = p.ModuleType()
	return t
}

func (*ReferenceProperty) sealed() {}
