package inputprop

import (
	"encoding/json"
	"strings"
)

// CompoundProperty is a choice whose options hold several fields.
type CompoundProperty struct {
	Base
	Common
	Requirable
	Dropdown
	// Fields are the names that the chosen option exposes.
	Fields  []string         `json:"fields" rules:"required,nonempty"`
	Default *Default[Record] `json:"default,omitzero" rules:"first"`
	Values  Values           `json:"values" rules:"required,options=compound"`
}

// DefaultJSON is the default, nil when there is none.
func (p *CompoundProperty) DefaultJSON() json.RawMessage { return p.Default.json() }

// ValueSource is where the options come from.
func (p *CompoundProperty) ValueSource() Values { return p.Values }

// refPrefix begins the type of every reference; the module's type follows.
const refPrefix = "$ref:"

// ReferenceProperty chooses an instance of another module.
type ReferenceProperty struct {
	Base
	Common
	Requirable
	// MappedInputs are filled from the chosen instance, and by hand without one. No reference is among
	// them, at any depth.
	MappedInputs []Property `json:"mapped_inputs,omitzero"`
}

// ModuleType is the type of the module that is referred to.
func (p *ReferenceProperty) ModuleType() string { return strings.TrimPrefix(p.Type, refPrefix) }
