package inputprop

import (
	"encoding/json"

	"slipway/internal/strictjson"
)

// What values may have at most.
const (
	maxOptions = 500
	MaxText    = 10_000
)

// Values are what an input lets choose from: *StaticValues or *DynamicValuesRef.
//
//sumtype:decl
type Values interface{ values() }

// StaticValues are options that stand in the property itself. Its JSON is the list of them.
type StaticValues struct {
	Options []Option
}

// DynamicValuesRef names a list that the server knows.
type DynamicValuesRef struct {
	Source string           `json:"source" rules:"required,nonempty"`
	Params map[string]Param `json:"params,omitzero"`
}

func (*StaticValues) values()     {}
func (*DynamicValuesRef) values() {}

// AppendJSON appends the options.
func (v *StaticValues) AppendJSON(b []byte) []byte { return strictjson.Append(b, v.Options) }

// ParamsJSON is the object of parameters, nil when there is none.
func (v *DynamicValuesRef) ParamsJSON() json.RawMessage {
	if v.Params == nil {
		return nil
	}
	return strictjson.Encode(v.Params)
}

// Literals are the parameters that are texts.
func (v *DynamicValuesRef) Literals() map[string]string {
	params := map[string]string{}
	for name, p := range v.Params {
		if p.Input == "" {
			params[name] = p.Text
		}
	}
	return params
}

// Param is a parameter of a dynamic list: a text, or the value of another input.
type Param struct {
	Text string
	// Input is the id of the input that gives the value; empty where Text is it.
	Input string
}

// AppendJSON appends a text, or an object that names the input.
func (p Param) AppendJSON(b []byte) []byte {
	if p.Input != "" {
		return strictjson.Append(b, inputParam{p.Input})
	}
	return strictjson.Append(b, p.Text)
}

type inputParam struct {
	Input string `json:"input" rules:"required,nonempty"`
}

// DecodeJSON implements strictjson.Decodable.
func (p *Param) DecodeJSON(d *strictjson.Decoder, n *strictjson.Node, _ *strictjson.Rules) {
	switch n.Kind {
	case strictjson.String:
		d.Length(n.Text, MaxText)
		p.Text = n.Text
	case strictjson.Object:
		var form inputParam
		d.Object(n, &form, false)
		p.Input = form.Input
	default:
		d.Fail("type", `must be a string or an object {"input": id}, found %s`, strictjson.Show(n))
	}
}

// Option is one of the static values.
type Option struct {
	// Value is a string, an int32, or for compound inputs a Record.
	Value any
	// Label is shown instead of the value; options of compound inputs always have one.
	Label *string
	// Description is a help text.
	Description *string
	// Bare options were given as the value alone, and are written so.
	Bare bool
}

// ValueJSON is the value; for compound inputs the object of its fields.
func (o *Option) ValueJSON() json.RawMessage { return strictjson.Encode(o.Value) }

// AppendJSON appends the option in the form in which it was given.
func (o *Option) AppendJSON(b []byte) []byte {
	if o.Bare {
		return strictjson.Append(b, o.Value)
	}
	if record, ok := o.Value.(Record); ok && o.Label != nil {
		return strictjson.Append(b, compoundOption{*o.Label, o.Description, record})
	}
	return strictjson.Append(b, labelled[any]{o.Value, o.Label, o.Description})
}

// labelled is the long form of an option of a string or number input.
type labelled[T any] struct {
	Value       T       `json:"value" rules:"required,max=10000"`
	Label       *string `json:"label,omitzero"`
	Description *string `json:"description,omitzero"`
}

type compoundOption struct {
	Label       string  `json:"label" rules:"required,nonempty"`
	Description *string `json:"description,omitzero"`
	Fields      Record  `json:"fields" rules:"required"`
}
