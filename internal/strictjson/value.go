package strictjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"
)

// FromValue returns the tree of a Go value, as GraphQL libraries hand it over: maps, slices, strings, booleans,
// integers, floats, json.Number, json.RawMessage, Node, and pointers to them. Keys of maps are sorted. The error is a
// *SyntaxError; MaxLevels holds.
func FromValue(v any) (*Node, error) { return FromValueWithin(v, MaxLevels) }

// FromValueWithin is FromValue for a value that may have so many levels.
func FromValueWithin(v any, levels int) (*Node, error) {
	c := converter{levels: levels}
	return c.value(v)
}

type converter struct {
	path   Path
	levels int
}

func (c *converter) value(v any) (*Node, error) {
	switch v := v.(type) {
	case nil:
		return &Node{Kind: Null}, nil
	case json.Number:
		return c.literal(v.String())
	case json.RawMessage:
		return c.parse(v)
	case Node:
		return c.fits(&v)
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.String:
		return c.text(r.String())
	case reflect.Bool:
		return &Node{Kind: Bool, Bool: r.Bool()}, nil
	case reflect.Int, reflect.Int32, reflect.Int64:
		return &Node{Kind: Number, Text: strconv.FormatInt(r.Int(), 10)}, nil
	case reflect.Float64:
		return c.float(r.Float())
	case reflect.Pointer:
		if r.IsNil() {
			return &Node{Kind: Null}, nil
		}
		return c.value(r.Elem().Interface())
	case reflect.Slice:
		return c.array(r)
	case reflect.Map:
		return c.object(r)
	default:
		return nil, c.fail("has no JSON form, found the Go type %T", v)
	}
}

func (c *converter) text(text string) (*Node, error) {
	if !utf8.ValidString(text) {
		return nil, c.fail("is not UTF-8, found %s", Quote(text))
	}
	return &Node{Kind: String, Text: text}, nil
}

func (c *converter) float(f float64) (*Node, error) {
	literal, err := json.Marshal(f)
	if err != nil {
		return nil, c.fail("must be a finite number, found %v", f)
	}
	return &Node{Kind: Number, Text: string(literal)}, nil
}

func (c *converter) literal(literal string) (*Node, error) {
	n, err := c.parse([]byte(literal))
	if err == nil && (n.Kind != Number || n.Text != literal) {
		err = c.fail("must be a number, found %s", Quote(literal))
	}
	return n, err
}

// parse takes JSON text into the tree, as deep as its place leaves room for.
func (c *converter) parse(text []byte) (*Node, error) {
	n, err := ParseWithin(text, Limits{})
	var syntax *SyntaxError
	if errors.As(err, &syntax) {
		syntax.Pointer = c.path.Pointer("") + syntax.Pointer
		return nil, syntax
	}
	return c.fits(n)
}

// fits takes a tree that is there already.
func (c *converter) fits(n *Node) (*Node, error) {
	if n.Levels() > c.levels {
		return nil, c.tooDeep()
	}
	return n, nil
}

// anyList is the type that a GraphQL library gives literals; [] is nil in it, which is not null.
var anyList = reflect.TypeFor[[]any]()

func (c *converter) array(r reflect.Value) (*Node, error) {
	if r.IsNil() && r.Type() != anyList {
		return &Node{Kind: Null}, nil
	}
	if err := c.enter(); err != nil {
		return nil, err
	}
	n := &Node{Kind: Array, Items: make([]*Node, 0, r.Len())}
	for i := range r.Len() {
		c.path.PushIndex(i)
		item, err := c.value(r.Index(i).Interface())
		if err != nil {
			return nil, err
		}
		c.path.Pop()
		n.Items = append(n.Items, item)
	}
	c.levels++
	return n, nil
}

func (c *converter) object(r reflect.Value) (*Node, error) {
	if r.IsNil() {
		return &Node{Kind: Null}, nil
	}
	values, ok := r.Interface().(map[string]any)
	if !ok {
		return nil, c.fail("has no JSON form, found the Go type %s", r.Type())
	}
	if err := c.enter(); err != nil {
		return nil, err
	}
	keys := slices.AppendSeq(make([]string, 0, len(values)), maps.Keys(values))
	slices.Sort(keys)
	n := &Node{Kind: Object, Keys: keys, Items: make([]*Node, 0, len(keys))}
	for _, key := range keys {
		if !utf8.ValidString(key) {
			return nil, c.fail("has a key that is not UTF-8, found %s", Quote(key))
		}
		c.path.PushKey(key)
		item, err := c.value(values[key])
		if err != nil {
			return nil, err
		}
		c.path.Pop()
		n.Items = append(n.Items, item)
	}
	c.levels++
	return n, nil
}

func (c *converter) enter() error {
	if c.levels == 0 {
		return c.tooDeep()
	}
	c.levels--
	return nil
}

func (c *converter) tooDeep() error {
	return c.fail("is nested too deep, at most %d levels are allowed", MaxLevels)
}

func (c *converter) fail(format string, args ...any) error {
	return &SyntaxError{Pointer: c.path.Pointer(""), Message: fmt.Sprintf(format, args...)}
}
