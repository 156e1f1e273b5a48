package inputprop

import "reflect"

// values reads the values of an input whose options are of a sort: string, number or compound.
func (d *decoder) values(n *Node, sort string) Values {
	switch n.Kind {
	case Array:
		return d.static(n, sort)
	case Object:
		ref := new(DynamicValuesRef)
		d.object(n, reflect.ValueOf(ref).Elem(), false)
		return ref
	default:
		d.fail("type", `must be an array of options or an object {"source": name}, found %s`, n.found())
		return nil
	}
}

func (d *decoder) static(n *Node, sort string) Values {
	if len(n.Items) > maxOptions {
		d.fail("max_items", "must have at most %d items, found %d", maxOptions, len(n.Items))
		return nil
	}
	v := &StaticValues{Options: make([]Option, len(n.Items))}
	for i, item := range n.Items {
		d.at.item(i)
		v.Options[i] = d.option(item, sort)
		d.at.up()
	}
	return v
}

func (d *decoder) option(n *Node, sort string) Option {
	switch sort {
	case "string":
		return simple[string](d, n, String, "a string")
	case "number":
		return simple[int32](d, n, Number, "a whole number")
	default:
		return compound(d, n)
	}
}

// simple reads an option that is a value of the kind, which messages call name, or an object around
// one.
func simple[T any](d *decoder, n *Node, kind Kind, name string) Option {
	var form labelled[T]
	switch n.Kind {
	case kind:
		d.value(n, reflect.ValueOf(&form.Value).Elem(), &rules{max: maxValue})
		return Option{Value: form.Value, Bare: true}
	case Object:
		d.object(n, reflect.ValueOf(&form).Elem(), false)
		return Option{Value: form.Value, Label: form.Label, Description: form.Description}
	default:
		d.fail("type", `must be %s or an object {"value": %s}, found %s`, name, name, n.found())
		return Option{}
	}
}

func compound(d *decoder, n *Node) Option {
	var form compoundOption
	d.value(n, reflect.ValueOf(&form).Elem(), &rules{})
	return Option{Value: form.Fields, Label: &form.Label, Description: form.Description}
}

// Record is a value of a compound input: strings, int32 and booleans by the names of its fields.
type Record map[string]any

func (r *Record) decodeNode(d *decoder, n *Node, rules *rules) {
	if !d.expect(n, Object, "", rules) {
		return
	}
	*r = make(Record, len(n.Keys))
	for i, key := range n.Keys {
		d.at.member(key)
		(*r)[key] = d.scalar(n.Items[i])
		d.at.up()
	}
}

func (d *decoder) scalar(n *Node) any {
	switch n.Kind {
	case String:
		d.length(n.Text, maxValue)
		return n.Text
	case Bool:
		return n.Bool
	case Number:
		number, err := parseInt32(n.Text)
		if err != nil {
			d.fail("int32", "%v, found %s", err, repeated(short(n.Text)))
		}
		return number
	default:
		d.fail("type", "must be a string, a whole number or a boolean, found %s", n.found())
		return nil
	}
}
