package inputprop

import (
	"encoding/json"

	"slipway/internal/base/strictjson"
)

// ObjectProperty is a free-form object.
type ObjectProperty struct {
	Base
	Requirable
	Default     *Default[*strictjson.Node] `json:"default,omitzero" rules:"shape=object,max=10000"`
	Placeholder *string                    `json:"placeholder,omitzero"`
}

// DefaultJSON returns the default, nil when there is none.
func (p *ObjectProperty) DefaultJSON() json.RawMessage { return p.Default.json() }

// InitialValue implements Property.
func (p *ObjectProperty) InitialValue() InitialValue { return p.Default.initial() }

// DropDefault implements Property.
func (p *ObjectProperty) DropDefault() { p.Default = nil }

func (*ObjectProperty) sealed() {}

// ArrayProperty is a free-form array.
type ArrayProperty struct {
	Base
	Requirable
	Default     *Default[*strictjson.Node] `json:"default,omitzero" rules:"shape=array,max=10000"`
	Placeholder *string                    `json:"placeholder,omitzero"`
}

// DefaultJSON returns the default, nil when there is none.
func (p *ArrayProperty) DefaultJSON() json.RawMessage { return p.Default.json() }

// InitialValue implements Property.
func (p *ArrayProperty) InitialValue() InitialValue { return p.Default.initial() }

// DropDefault implements Property.
func (p *ArrayProperty) DropDefault() { p.Default = nil }

func (*ArrayProperty) sealed() {}

// StringArrayProperty is a list of strings.
type StringArrayProperty struct {
	Base
	Requirable
	AddButtonLabel *string            `json:"add_button_label,omitzero"`
	Default        *Default[[]string] `json:"default,omitzero" rules:"each.max=10000"`
	// Patterns hold for each item.
	Patterns    []ValidationPattern `json:"patterns,omitzero"`
	Placeholder *string             `json:"placeholder,omitzero"`
	Values      Values              `json:"values,omitzero" rules:"options=string"`
}

// DefaultJSON returns the default, nil when there is none.
func (p *StringArrayProperty) DefaultJSON() json.RawMessage { return p.Default.json() }

// ValueSource implements Property: where the items come from, nil when they are free.
func (p *StringArrayProperty) ValueSource() Values { return p.Values }

// InitialValue implements Property.
func (p *StringArrayProperty) InitialValue() InitialValue { return p.Default.initial() }

// DropDefault implements Property.
func (p *StringArrayProperty) DropDefault() { p.Default = nil }

// IsEmpty implements Property.
func (*StringArrayProperty) IsEmpty(value *strictjson.Node) bool {
	return isWithoutItems(value, strictjson.Array)
}

func (*StringArrayProperty) sealed() {}

// KeyValueProperty is a flat map of strings.
type KeyValueProperty struct {
	Base
	Requirable
	Default *Default[strictjson.Ordered[string]] `json:"default,omitzero" rules:"each.max=10000"`
}

// DefaultJSON returns the default, nil when there is none.
func (p *KeyValueProperty) DefaultJSON() json.RawMessage { return p.Default.json() }

// InitialValue implements Property.
func (p *KeyValueProperty) InitialValue() InitialValue { return p.Default.initial() }

// DropDefault implements Property.
func (p *KeyValueProperty) DropDefault() { p.Default = nil }

// IsEmpty implements Property.
func (*KeyValueProperty) IsEmpty(value *strictjson.Node) bool {
	return isWithoutItems(value, strictjson.Object)
}

func (*KeyValueProperty) sealed() {}

// ObjectMapProperty is a map of objects, whose members are the item inputs.
type ObjectMapProperty struct {
	Base
	Requirable
	ItemInputs []Property                       `json:"item_inputs" rules:"required,nonempty"`
	Default    *Default[*strictjson.Node]       `json:"default,omitzero" rules:"shape=object,max=10000"`
	ItemLabel  *string                          `json:"item_label,omitzero"`
	ItemTitle  *ObjectCollectionItemTitleConfig `json:"item_title,omitzero"`
	Key        *MapKeyConfig                    `json:"key,omitzero"`
}

// DefaultJSON returns the default, nil when there is none.
func (p *ObjectMapProperty) DefaultJSON() json.RawMessage { return p.Default.json() }

// InitialValue implements Property.
func (p *ObjectMapProperty) InitialValue() InitialValue { return p.Default.initial() }

// DropDefault implements Property.
func (p *ObjectMapProperty) DropDefault() { p.Default = nil }

// IsEmpty implements Property.
func (*ObjectMapProperty) IsEmpty(value *strictjson.Node) bool {
	return isWithoutItems(value, strictjson.Object)
}

// Nested implements Property.
func (p *ObjectMapProperty) Nested() Nested {
	return Nested{Member: itemInputs, Inputs: p.ItemInputs, Collection: strictjson.Object, Key: p.Key, Title: p.ItemTitle}
}

func (*ObjectMapProperty) sealed() {}

// ObjectArrayProperty is a list of objects, whose members are the item inputs.
type ObjectArrayProperty struct {
	Base
	Requirable
	ItemInputs []Property                   `json:"item_inputs" rules:"required,nonempty"`
	Default    *Default[[]*strictjson.Node] `json:"default,omitzero" rules:"each.shape=object,each.max=10000"`
	// ItemDescription is a template with {field_id} placeholders.
	ItemDescription *string                          `json:"item_description,omitzero"`
	ItemLabel       *string                          `json:"item_label,omitzero"`
	ItemTitle       *ObjectCollectionItemTitleConfig `json:"item_title,omitzero"`
}

// DefaultJSON returns the default, nil when there is none.
func (p *ObjectArrayProperty) DefaultJSON() json.RawMessage { return p.Default.json() }

// InitialValue implements Property.
func (p *ObjectArrayProperty) InitialValue() InitialValue { return p.Default.initial() }

// DropDefault implements Property.
func (p *ObjectArrayProperty) DropDefault() { p.Default = nil }

// IsEmpty implements Property.
func (*ObjectArrayProperty) IsEmpty(value *strictjson.Node) bool {
	return isWithoutItems(value, strictjson.Array)
}

// Nested implements Property.
func (p *ObjectArrayProperty) Nested() Nested {
	label := "Item"
	if p.ItemLabel != nil {
		label = *p.ItemLabel
	}
	return Nested{Member: itemInputs, Inputs: p.ItemInputs, Collection: strictjson.Array,
		Title: p.ItemTitle, Description: p.ItemDescription, Label: label}
}

func (*ObjectArrayProperty) sealed() {}

// ObjectCollectionItemTitleConfig makes the title of an item.
type ObjectCollectionItemTitleConfig struct {
	// Template has {field_id} placeholders, and {key} for maps.
	Template string `json:"template" rules:"required"`
	// Fallback is the title if the template cannot be resolved.
	Fallback *string `json:"fallback,omitzero"`
}

// MapKeyConfig says how the keys of a map come about.
type MapKeyConfig struct {
	Description *string `json:"description,omitzero"`
	// FromFields are the item inputs that make up the key, which is asked for when there are none.
	// Null and empty entries do not count.
	FromFields []*string `json:"from_fields,omitzero" rules:"each.nullable"`
	Label      *string   `json:"label,omitzero"`
	// Patterns hold for the keys.
	Patterns    []ValidationPattern `json:"patterns,omitzero"`
	Placeholder *string             `json:"placeholder,omitzero"`
	Separator   *string             `json:"separator,omitzero"`
}

// SeparatorOrDefault returns what joins the parts of a computed key: "-" unless said otherwise.
func (c *MapKeyConfig) SeparatorOrDefault() string {
	if c.Separator == nil {
		return "-"
	}
	return *c.Separator
}

// Sources returns the ids of the inputs that make up the key; none means that the key is given.
func (c *MapKeyConfig) Sources() []string {
	if c == nil {
		return nil
	}
	var ids []string
	for _, id := range c.FromFields {
		if id != nil && *id != "" {
			ids = append(ids, *id)
		}
	}
	return ids
}
