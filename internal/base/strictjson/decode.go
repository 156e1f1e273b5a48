package strictjson

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"slipway/internal/base/fault"
)

// Decode fills what v points to from the tree, and returns every violation of its members' rules; v is of use only when
// there are none. The members of a struct are its fields with a `json` tag; what they ask of their values is in the tag
// `rules` (see Rules). Pointers, slices and interfaces stay nil if the member is absent. The violations'
// pointers start with at.
//
// Values may be strings, booleans, int32, structs, free-form JSON as a *Node, or as json.RawMessage if nobody looks
// into it, types that are Decodable or registered, and pointers, slices and Ordered members of them.
func Decode(n *Node, v any, at string) []fault.Violation {
	d := NewDecoder(at)
	d.Into(n, v, &Rules{})
	return d.Violations()
}

// DecodeOpen is Decode for what others may add to: members that are not known are ignored, at every depth.
func DecodeOpen(n *Node, v any, at string) []fault.Violation {
	d := NewDecoder(at)
	d.open = true
	d.Into(n, v, &Rules{})
	return d.Violations()
}

// Decodable types read themselves from a tree.
type Decodable interface {
	// DecodeJSON reads n, which is not null, under the rules of the field that it is for. What is wrong with it is
	// added to d, whose Path leads to n.
	DecodeJSON(d *Decoder, n *Node, r *Rules)
}

// Decoder decodes one tree.
type Decoder struct {
	Collector
	// State is what the types of a package remember while they decode the tree.
	State any
	// open decoders ignore members that are not known.
	open bool
}

// NewDecoder returns a decoder whose pointers start with at.
func NewDecoder(at string) *Decoder { return &Decoder{Collector: Collector{root: at}} }

// types read values of the registered types.
var types = map[reflect.Type]func(d *Decoder, n *Node, v reflect.Value, r *Rules){}

// RegisterType makes Decode read values of an interface by read, which returns nil if there is none to be had. It is
// called when the program starts.
func RegisterType[T any](read func(d *Decoder, n *Node, r *Rules) T) {
	types[reflect.TypeFor[T]()] = func(d *Decoder, n *Node, v reflect.Value, r *Rules) {
		if value := reflect.ValueOf(read(d, n, r)); value.IsValid() {
			v.Set(value)
		}
	}
}

// Format is a form of strings.
type Format struct {
	// Flaw returns what is wrong with a text, "" when nothing is.
	Flaw func(text string) string
	// Message has a place for the text and one for its flaw.
	Message string
}

var formats = map[string]Format{}

// RegisterFormat gives a name to a form of strings, for the rule format. It is called when the program starts.
func RegisterFormat(name string, f Format) { formats[name] = f }

// Into reads n, nil if the value is absent, into what v points to.
func (d *Decoder) Into(n *Node, v any, r *Rules) { d.value(n, reflect.ValueOf(v).Elem(), r) }

// Expect reports whether a value is of the kind, and otherwise adds a violation in which the kind has that name, or its
// own where name is empty.
func (d *Decoder) Expect(n *Node, kind Kind, name string, r *Rules) bool {
	if n.Kind == kind {
		return true
	}
	if name == "" {
		name = kind.String()
	}
	d.Fail("type", "must be %s%s, found %s", name, r.also, Show(n))
	return false
}

// Length adds a violation if a text has more than limit characters; 0 is no limit.
func (d *Decoder) Length(text string, limit int) {
	if limit == 0 || len(text) <= limit {
		return
	}
	if count := utf8.RuneCountInString(text); count > limit {
		d.Fail("max_length", "must have at most %d characters, found %d", limit, count)
	}
}

var (
	nodeType = reflect.TypeFor[*Node]()
	rawType  = reflect.TypeFor[json.RawMessage]()
)

func (d *Decoder) value(n *Node, v reflect.Value, r *Rules) {
	if n == nil {
		d.Fail("required", "is required")
		return
	}
	if n.Kind == Null {
		d.null(r)
		return
	}

	if own, ok := v.Addr().Interface().(Decodable); ok {
		own.DecodeJSON(d, n, r)
		return
	}
	if read, ok := types[v.Type()]; ok {
		read(d, n, v, r)
		return
	}

	switch v.Type() {
	case nodeType:
		if d.freeForm(n, r) {
			v.Set(reflect.ValueOf(n))
		}
	case rawType:
		if d.freeForm(n, r) {
			v.SetBytes(n.JSON())
		}
	default:
		d.plain(n, v, r)
	}
}

func (d *Decoder) null(r *Rules) {
	switch {
	case r.Nullable:
	case r.Required:
		d.Fail("null", "is required and must not be null")
	default:
		d.Fail("null", "must not be null; leave it out instead")
	}
}

func (d *Decoder) plain(n *Node, v reflect.Value, r *Rules) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(n, v.Elem(), r)
	case reflect.String:
		if d.Expect(n, String, "", r) && d.text(n.Text, r) {
			v.SetString(n.Text)
		}
	case reflect.Bool:
		if d.Expect(n, Bool, "", r) {
			v.SetBool(n.Bool)
		}
	case reflect.Int32:
		d.int32(n, v, r)
	case reflect.Slice:
		if d.Expect(n, Array, "", r) {
			d.slice(n, v, r)
		}
	case reflect.Struct:
		if d.Expect(n, Object, "", r) {
			d.object(n, v, d.open)
		}
	default:
		panic("strictjson: cannot decode a " + v.Type().String())
	}
}

// text reports whether the string keeps its rules.
func (d *Decoder) text(text string, r *Rules) bool {
	before := d.Count()
	if r.Nonempty && text == "" {
		d.Fail("min_length", "must have at least 1 character, found none")
	}
	d.Length(text, r.Max)
	if len(r.Enum) > 0 && !slices.Contains(r.Enum, text) {
		d.Fail("enum", "must be one of %s, found %s%s", strings.Join(r.Enum, ", "), ShowText(text), d.Hint(text, r.Enum))
	}
	if r.Format != "" {
		f := formats[r.Format]
		if flaw := f.Flaw(text); flaw != "" {
			d.Fail("format", f.Message, ShowText(text), flaw)
		}
	}
	return d.Count() == before
}

func (d *Decoder) int32(n *Node, v reflect.Value, r *Rules) {
	name := "a whole number"
	if r.Rounded {
		name = ""
	}
	if !d.Expect(n, Number, name, r) {
		return
	}
	literal := n.Text
	if r.Rounded {
		literal = rounded(literal)
	}
	number, err := ParseInt32(literal)
	if err != nil {
		d.Fail("int32", "%v, found %s", err, ShowNumber(n.Text))
		return
	}
	v.SetInt(int64(number))
}

// rounded returns a number as a whole one, or as it is where a double cannot hold it.
func rounded(literal string) string {
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return literal
	}
	return strconv.FormatFloat(math.Round(f), 'f', -1, 64)
}

func (d *Decoder) slice(n *Node, v reflect.Value, r *Rules) {
	if r.Nonempty && len(n.Items) == 0 {
		d.Fail("min_items", "must have at least 1 item, found none")
	}
	if r.Max > 0 && len(n.Items) > r.Max {
		d.Fail("max_items", "must have at most %d items, found %d", r.Max, len(n.Items))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items)))
	for i, item := range n.Items {
		d.Path.PushIndex(i)
		d.value(item, v.Index(i), r.Items())
		d.Path.Pop()
	}
}

// Object reads an object into the struct that v points to. An open one ignores the members that it does not know.
func (d *Decoder) Object(n *Node, v any, open bool) { d.object(n, reflect.ValueOf(v).Elem(), open) }

func (d *Decoder) object(n *Node, v reflect.Value, open bool) {
	l := layoutOf(v.Type())
	seen := make([]bool, len(l.members))

	for i, key := range n.Keys {
		index, ok := l.index[key]
		if !ok {
			if !open {
				d.FailMember(key, "unknown_field",
					"is not a field here%s; allowed are %s", d.Hint(key, l.names), strings.Join(l.names, ", "))
			}
			continue
		}

		seen[index] = true
		d.Path.PushKey(key)
		d.value(n.Items[i], v.FieldByIndex(l.members[index].Path), l.members[index].Rules)
		d.Path.Pop()
	}

	for i, m := range l.members {
		if m.Rules.Required && !seen[i] {
			d.FailMember(m.Name, "required", "is required")
		}
	}
}

// freeForm reports whether free-form JSON keeps its rules.
func (d *Decoder) freeForm(n *Node, r *Rules) bool {
	if r.Shape != Null && !d.Expect(n, r.Shape, "", r) {
		return false
	}
	if r.Max > 0 {
		d.texts(n, r.Max)
	}
	return true
}

// texts bounds every string within free-form JSON.
func (d *Decoder) texts(n *Node, limit int) {
	if n.Kind == String {
		d.Length(n.Text, limit)
	}
	for i, item := range n.Items {
		d.Path.Push(n, i)
		d.texts(item, limit)
		d.Path.Pop()
	}
}
