package inputprop

import (
	"slipway/internal/strictjson"
)

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
		return simple[string](d, n, strictjson.String, "a string")
	case "number":
		return simple[int32](d, n, strictjson.Number, "a whole number")
	default:
		return compound(d, n)
	}
}

// simple reads an option that is a value of the kind, which messages call name, or an object around
// one.
func simple[T any](d *strictjson.Decoder, n *strictjson.Node, kind strictjson.Kind, name string) Option {
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

func compound(d *strictjson.Decoder, n *strictjson.Node) Option {
	var form compoundOption
	d.Into(n, &form, &strictjson.Rules{})
	return Option{Value: form.Fields, Label: &form.Label, Description: form.Description}
}

// Record is a value of a compound input: strings, int32 and booleans by the names of its fields.
type Record map[string]any

// DecodeJSON implements strictjson.Decodable.
func (r *Record) DecodeJSON(d *strictjson.Decoder, n *strictjson.Node, rules *strictjson.Rules) {
	if !d.Expect(n, strictjson.Object, "", rules) {
		return
	}
	*r = make(Record, len(n.Keys))
	for i, key := range n.Keys {
		d.Path.PushKey(key)
		(*r)[key] = decodeScalar(d, n.Items[i])
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
