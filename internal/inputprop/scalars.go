package inputprop

import "encoding/json"

// StringProperty is a single line of text, or a choice when there are values.
type StringProperty struct {
	Base
	Common
	Requirable
	Dropdown
	Default     *Default[string]    `json:"default,omitzero" rules:"max=10000,first"`
	Patterns    []ValidationPattern `json:"patterns,omitzero"`
	Placeholder *string             `json:"placeholder,omitzero"`
	Values      Values              `json:"values,omitzero" rules:"options=string"`
}

// DefaultJSON is the default, nil when there is none.
func (p *StringProperty) DefaultJSON() json.RawMessage { return p.Default.json() }

// ValueSource is where the choice comes from, nil when the text is free.
func (p *StringProperty) ValueSource() Values { return p.Values }

// TextProperty is a text of several lines.
type TextProperty struct {
	Base
	Common
	Requirable
	Default     *Default[string]    `json:"default,omitzero" rules:"max=10000"`
	Patterns    []ValidationPattern `json:"patterns,omitzero"`
	Placeholder *string             `json:"placeholder,omitzero"`
}

// DefaultJSON is the default, nil when there is none.
func (p *TextProperty) DefaultJSON() json.RawMessage { return p.Default.json() }

// NumberProperty is a whole number of 32 bits, or a choice of them when there are values.
type NumberProperty struct {
	Base
	Common
	Requirable
	Dropdown
	Default     *Default[int32] `json:"default,omitzero" rules:"first"`
	Min         *int32          `json:"min,omitzero"`
	Max         *int32          `json:"max,omitzero"`
	Placeholder *string         `json:"placeholder,omitzero"`
	Values      Values          `json:"values,omitzero" rules:"options=number"`
}

// DefaultJSON is the default, nil when there is none.
func (p *NumberProperty) DefaultJSON() json.RawMessage { return p.Default.json() }

// ValueSource is where the choice comes from, nil when the number is free.
func (p *NumberProperty) ValueSource() Values { return p.Values }

// BooleanProperty is a toggle. It always has a default.
type BooleanProperty struct {
	Base
	Common
	Default *Default[bool] `json:"default" rules:"required"`
}

// DefaultJSON is the default.
func (p *BooleanProperty) DefaultJSON() json.RawMessage { return p.Default.json() }

// SectionProperty separates inputs for the eye and has no value.
type SectionProperty struct {
	Base
}

// GitRepoProperty chooses a repository; its value is the repository's URL.
type GitRepoProperty struct {
	Base
	Common
	Requirable
	Default     *Default[string] `json:"default,omitzero" rules:"max=10000,format=repository_url"`
	Placeholder *string          `json:"placeholder,omitzero"`
}

// DefaultJSON is the default, nil when there is none.
func (p *GitRepoProperty) DefaultJSON() json.RawMessage { return p.Default.json() }
