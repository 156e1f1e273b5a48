package inputprop

import (
	"encoding/json"

	"slipway/internal/base/strictjson"
)

// maxOptions is how many static values a property may have at most.
const maxOptions = 500

// MaxText is how many characters a text may have at most.
const MaxText = 10_000

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
	Source string                    `json:"source" rules:"required,nonempty"`
	Params strictjson.Ordered[Param] `json:"params,omitzero"`
}

func (*StaticValues) values()     {}
func (*DynamicValuesRef) values() {}

// AppendJSON appends the options.
func (v *StaticValues) AppendJSON(b []byte) []byte { return strictjson.Append(b, v.Options) }

// ParamsJSON returns the object of parameters, nil when there is none.
func (v *DynamicValuesRef) ParamsJSON() json.RawMessage {
	if v.Params.Keys == nil {
		return nil
	}
	return strictjson.Encode(v.Params)
}

// Literals returns the parameters that are texts.
func (v *DynamicValuesRef) Literals() map[string]string {
	params := map[string]string{}
	for i, p := range v.Params.Values {
		if p.Input == "" {
			params[v.Params.Keys[i]] = p.Text
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

// ValueJSON returns the value; for compound inputs the object of its fields.
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

// ChosenValue returns the value that an input has once an option is chosen: for compound inputs, the fields of
// the option that they expose.
func ChosenValue(p Property, o Option) *strictjson.Node {
	fields := p.Traits().Fields
	record, ok := o.Value.(Record)
	if !ok || fields == nil {
		return nodeOf(o.Value)
	}
	return projection(record, fields)
}

func projection(record Record, fields []string) *strictjson.Node {
	n := &strictjson.Node{Kind: strictjson.Object}
	for _, name := range fields {
		if value, ok := record.Get(name); ok && n.Get(name) == nil {
			n.Keys, n.Items = append(n.Keys, name), append(n.Items, nodeOf(value))
		}
	}
	return n
}

// decodeValues reads the values of an input.
func decodeValues(d *strictjson.Decoder, n *strictjson.Node, r *strictjson.Rules) Values {
	switch n.Kind {
	case strictjson.Array:
		sort, _ := r.Arg(ruleOptions)
		if static := decodeStatic(d, n, sort); static != nil {
			return static
		}
		return nil
	case strictjson.Object:
		ref := new(DynamicValuesRef)
		d.Object(n, ref, false)
		return ref
	default:
		d.Fail("type", `must be an array of options or an object {"source": name}, found %s`, strictjson.Show(n))
		return nil
	}
}

func decodeStatic(d *strictjson.Decoder, n *strictjson.Node, sort string) *StaticValues {
	if len(n.Items) > maxOptions {
		d.Fail("max_items", "must have at most %d items, found %d", maxOptions, len(n.Items))
		return nil
	}
	v := &StaticValues{Options: make([]Option, len(n.Items))}
	for i, item := range n.Items {
		d.Path.PushIndex(i)
		v.Options[i] = decodeOption(d, item, sort)
		d.Path.Pop()
	}
	return v
}

func decodeOption(d *strictjson.Decoder, n *strictjson.Node, sort string) Option {
	switch sort {
	case "string":
		return decodeSimple[string](d, n, strictjson.String, "a string")
	case "number":
		return decodeSimple[int32](d, n, strictjson.Number, "a whole number")
	default:
		return decodeCompound(d, n)
	}
}

// decodeSimple reads an option that is a value of the kind, which messages call name, or an object around
// one.
func decodeSimple[T any](d *strictjson.Decoder, n *strictjson.Node, kind strictjson.Kind, name string) Option {
	var form labelled[T]
	switch n.Kind {
	case kind:
		d.Into(n, &form.Value, &strictjson.Rules{Max: MaxText})
		return Option{Value: form.Value, Bare: true}
	case strictjson.Object:
		d.Object(n, &form, false)
		return Option{Value: form.Value, Label: form.Label, Description: form.Description}
	default:
		d.Fail("type", `must be %s or an object {"value": %s}, found %s`, name, name, strictjson.Show(n))
		return Option{}
	}
}

func decodeCompound(d *strictjson.Decoder, n *strictjson.Node) Option {
	var form compoundOption
	d.Into(n, &form, &strictjson.Rules{})
	return Option{Value: form.Fields, Label: &form.Label, Description: form.Description}
}

// Record is a value of a compound input: strings, int32 and booleans by the names of its fields.
type Record struct{ strictjson.Ordered[any] }

// Node returns the record as an object.
func (r Record) Node() *strictjson.Node { return nodeOfMembers(r.Keys, r.Values) }

// DecodeJSON implements strictjson.Decodable.
func (r *Record) DecodeJSON(d *strictjson.Decoder, n *strictjson.Node, rules *strictjson.Rules) {
	if !d.Expect(n, strictjson.Object, "", rules) {
		return
	}
	r.Keys, r.Values = n.Keys, make([]any, len(n.Items))
	for i, key := range n.Keys {
		d.Path.PushKey(key)
		r.Values[i] = decodeScalar(d, n.Items[i])
		d.Path.Pop()
	}
}

func decodeScalar(d *strictjson.Decoder, n *strictjson.Node) any {
	switch n.Kind {
	case strictjson.String:
		d.Length(n.Text, MaxText)
		return n.Text
	case strictjson.Bool:
		return n.Bool
	case strictjson.Number:
		number, err := strictjson.ParseInt32(n.Text)
		if err != nil {
			d.Fail("int32", "%v, found %s", err, strictjson.ShowNumber(n.Text))
		}
		return number
	default:
		d.Fail("type", "must be a string, a whole number or a boolean, found %s", strictjson.Show(n))
		return nil
	}
}
