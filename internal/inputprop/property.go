// Package inputprop has the inputs of modules: the 14 kinds of property, read strictly from JSON with
// every violation named, and written back as the same JSON.
//
// What a member decides by itself is checked while decoding; rules over several members are Check's.
package inputprop

import (
	"encoding/json"

	"slipway/internal/strictjson"
)

// Property is one input of a module. Each of the 14 variants is a pointer to a struct of this package.
// What the JSON left out is nil, so that it is written back the same.
type Property interface {
	// Head gives what every variant has.
	Head() *Base
	// ShowWhenJSON is the condition under which the input is shown, nil when it always is.
	ShowWhenJSON() json.RawMessage

	sealed()
}

// Base is what every variant has.
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

// Head implements Property.
func (b *Base) Head() *Base { return b }

// ShowWhenJSON implements Property.
func (b *Base) ShowWhenJSON() json.RawMessage { return b.ShowWhen.JSON() }

func (*Base) sealed() {}

// Common is what every variant but the section has besides.
type Common struct {
	// Collapsible inputs that follow one another are folded into a group.
	Collapsible *bool `json:"collapsible,omitzero"`
	// Immutable inputs are locked after the first deployment.
	Immutable *bool `json:"immutable,omitzero"`
}

// IsCollapsible is false unless said otherwise.
func (c *Common) IsCollapsible() bool { return truth(c.Collapsible) }

// IsImmutable is false unless said otherwise.
func (c *Common) IsImmutable() bool { return truth(c.Immutable) }

// Requirable is part of the variants whose value may be demanded.
type Requirable struct {
	Required *bool `json:"required,omitzero"`
}

// IsRequired is false unless said otherwise.
func (r *Requirable) IsRequired() bool { return truth(r.Required) }

// Dropdown is part of the variants that choose one of their values.
type Dropdown struct {
	// MinCurrentValue forbids to go below the current value.
	MinCurrentValue *bool `json:"min_current_value,omitzero"`
	// NoOptionsMessage is shown when there is nothing to choose from.
	NoOptionsMessage *string `json:"no_options_message,omitzero"`
}

// KeepsMinCurrent says whether the value may not go below the current one; it may unless said
// otherwise.
func (d *Dropdown) KeepsMinCurrent() bool { return truth(d.MinCurrentValue) }

// ValidationPattern is a JavaScript regular expression that a text must match.
type ValidationPattern struct {
	Pattern string `json:"pattern" rules:"required,max=1000"`
	// Message is shown where the text does not match.
	Message string `json:"message" rules:"required"`
}

func truth(b *bool) bool { return b != nil && *b }
