package inputprop

import (
	"encoding/json"
	"reflect"

	"slipway/internal/fault"
)

// Decode fills the struct that v points to from the tree, and gives every violation of its members'
// rules; v is of use only when there are none. The members are the struct's fields with a `json` tag;
// their rules are in the tag `ip` (see rules). Pointers, slices, maps and interfaces stay nil where
// the member is absent. The violations' pointers start with at.
//
// Fields may be strings, booleans, int32, structs, json.RawMessage for free-form JSON, Property,
// RawProperty, and pointers, slices and maps of them.
func Decode(n *Node, v any, at string) []fault.Violation {
	d := newDecoder(at)
	d.value(n, reflect.ValueOf(v).Elem(), &rules{})
	return d.violations()
}

type decoder struct {
	report
	// inputs counts the properties so far, and depth those around the place at hand.
	inputs, depth int
	// fallback is set within mapped_inputs.
	fallback bool
}

func newDecoder(at string) *decoder { return &decoder{report: report{root: at}} }

// decodable types read themselves from the tree.
type decodable interface {
	decodeNode(d *decoder, n *Node, r *rules)
}

var (
	propertyType = reflect.TypeFor[Property]()
	valuesType   = reflect.TypeFor[Values]()
	rawType      = reflect.TypeFor[json.RawMessage]()
)

func (d *decoder) value(n *Node, v reflect.Value, r *rules) {
	if n == nil {
		d.fail("required", "is required")
		return
	}
	if n.Kind == Null {
		d.null(r)
		return
	}
	if own, ok := v.Addr().Interface().(decodable); ok {
		own.decodeNode(d, n, r)
		return
	}
	switch v.Type() {
	case propertyType:
		if p := d.property(n); p != nil {
			v.Set(reflect.ValueOf(p))
		}
	case valuesType:
		if values := d.values(n, r.options); values != nil {
			v.Set(reflect.ValueOf(values))
		}
	case rawType:
		d.raw(n, v, r)
	default:
		d.plain(n, v, r)
	}
}

func (d *decoder) null(r *rules) {
	switch {
	case r.nullable:
	case r.required:
		d.fail("null", "is required and must not be null")
	default:
		d.fail("null", "must not be null; leave it out instead")
	}
}

func (d *decoder) plain(n *Node, v reflect.Value, r *rules) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(n, v.Elem(), r)
	case reflect.String:
		if d.expect(n, String, "", r) && d.text(n.Text, r) {
			v.SetString(n.Text)
		}
	case reflect.Bool:
		if d.expect(n, Bool, "", r) {
			v.SetBool(n.Bool)
		}
	case reflect.Int32:
		if d.expect(n, Number, "a whole number", r) {
			d.int32(n.Text, v)
		}
	case reflect.Slice:
		if d.expect(n, Array, "", r) {
			d.slice(n, v, r)
		}
	case reflect.Map:
		if d.expect(n, Object, "", r) {
			d.mapping(n, v, r)
		}
	case reflect.Struct:
		if d.expect(n, Object, "", r) {
			d.object(n, v, false)
		}
	default:
		panic("inputprop: cannot decode a " + v.Type().String())
	}
}

// expect says whether the value is of the kind, which messages call name, if one is given.
func (d *decoder) expect(n *Node, kind Kind, name string, r *rules) bool {
	if n.Kind == kind {
		return true
	}
	if name == "" {
		name = kind.String()
	}
	d.fail("type", "must be %s%s, found %s", name, r.also, n.found())
	return false
}
