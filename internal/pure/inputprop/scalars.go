package inputprop

import (
	"encoding/json"

	"slipway/internal/base/strictjson"
)

// StringProperty is a single line of text, or a choice when there are values.
type StringProperty struct {
	Base
	Requirable
	Dropdown
	Default     *Default[string]    `json:"default,omitzero" rules:"max=10000,first"`
	Patterns    []ValidationPattern `json:"patterns,omitzero"`
	Placeholder *string             `json:"placeholder,omitzero"`
	Values      Values              `json:"values,omitzero" rules:"options=string"`
}

// DefaultJSON returns the default, nil when there is none.
func (p *StringProperty) DefaultJSON() json.RawMessage { return p.Default.json() }

// ValueSource implements Property: where the choice comes from, nil when the text is free.
func (p *StringProperty) ValueSource() Values { return p.Values }

// InitialValue implements Property.
func (p *StringProperty) InitialValue() InitialValue { return p.Default.initial() }

// DropDefault implements Property.
func (p *StringProperty) DropDefault() { p.Default = nil }

// IsEmpty implements Property.
func (*StringProperty) IsEmpty(value *strictjson.Node) bool { return isEmptyText(value) }

// Traits implements Property.
func (p *StringProperty) Traits() Traits {
	t := p.Requirable.Traits()
	t.MinCurrent, t.InKeys = p.KeepsMinCurrent(), true
	return t
}

func (*StringProperty) sealed() {}

// TextProperty is a text of several lines.
type TextProperty struct {
	Base
	Requirable
	Default     *Default[string]    `json:"default,omitzero" rules:"max=10000"`
	Patterns    []ValidationPattern `json:"patterns,omitzero"`
	Placeholder *string             `json:"placeholder,omitzero"`
}

// DefaultJSON returns the default, nil when there is none.
func (p *TextProperty) DefaultJSON() json.RawMessage { return p.Default.json() }

// InitialValue implements Property.
func (p *TextProperty) InitialValue() InitialValue { return p.Default.initial() }

// DropDefault implements Property.
func (p *TextProperty) DropDefault() { p.Default = nil }

// IsEmpty implements Property.
func (*TextProperty) IsEmpty(value *strictjson.Node) bool { return isEmptyText(value) }

func (*TextProperty) sealed() {}

// NumberProperty is a whole number of 32 bits, or a choice of them when there are values.
type NumberProperty struct {
	Base
	Requirable
	Dropdown
	Default     *Default[int32] `json:"default,omitzero" rules:"first"`
	Min         *int32          `json:"min,omitzero"`
	Max         *int32          `json:"max,omitzero"`
	Placeholder *string         `json:"placeholder,omitzero"`
	Values      Values          `json:"values,omitzero" rules:"options=number"`
}

// DefaultJSON returns the default, nil when there is none.
func (p *NumberProperty) DefaultJSON() json.RawMessage { return p.Default.json() }

// ValueSource implements Property: where the choice comes from, nil when the number is free.
func (p *NumberProperty) ValueSource() Values { return p.Values }

// InitialValue implements Property.
func (p *NumberProperty) InitialValue() InitialValue { return p.Default.initial() }

// DropDefault implements Property.
func (p *NumberProperty) DropDefault() { p.Default = nil }

// Traits implements Property.
func (p *NumberProperty) Traits() Traits {
	t := p.Requirable.Traits()
	t.MinCurrent, t.Numeric, t.InKeys = p.KeepsMinCurrent(), true, true
	return t
}

func (*NumberProperty) sealed() {}

// BooleanProperty is a toggle. It always has a default.
type BooleanProperty struct {
	Base
	Common
	Default *Default[bool] `json:"default" rules:"required"`
}

// DefaultJSON returns the default.
func (p *BooleanProperty) DefaultJSON() json.RawMessage { return p.Default.json() }

// InitialValue implements Property.
func (p *BooleanProperty) InitialValue() InitialValue { return p.Default.initial() }

// DropDefault implements Property.
func (p *BooleanProperty) DropDefault() { p.Default = nil }

// Traits implements Property.
func (p *BooleanProperty) Traits() Traits {
	return Traits{Immutable: p.IsImmutable(), Collapsible: p.IsCollapsible(), NotNull: true, InKeys: true}
}

func (*BooleanProperty) sealed() {}

// SectionProperty separates inputs for the eye and has no value.
type SectionProperty struct {
	Base
}

// InitialValue implements Property: there is none.
func (*SectionProperty) InitialValue() InitialValue { return InitialValue{} }

// DropDefault implements Property: there is none.
func (*SectionProperty) DropDefault() {}

// Traits implements Property.
func (*SectionProperty) Traits() Traits { return Traits{NoValue: true} }

func (*SectionProperty) sealed() {}

// GitRepoProperty chooses a repository; its value is the repository's URL.
type GitRepoProperty struct {
	Base
	Requirable
	Default     *Default[string] `json:"default,omitzero" rules:"max=10000,format=repository_url"`
	Placeholder *string          `json:"placeholder,omitzero"`
}

// DefaultJSON returns the default, nil when there is none.
func (p *GitRepoProperty) DefaultJSON() json.RawMessage { return p.Default.json() }

// InitialValue implements Property.
func (p *GitRepoProperty) InitialValue() InitialValue { return p.Default.initial() }

// DropDefault implements Property.
func (p *GitRepoProperty) DropDefault() { p.Default = nil }

// IsEmpty implements Property.
func (*GitRepoProperty) IsEmpty(value *strictjson.Node) bool { return isEmptyText(value) }

func (*GitRepoProperty) sealed() {}
