package cli

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"slipway/internal/base/setting"
	"slipway/internal/base/strictjson"
)

// view is how records of a type are shown to people; programs get the whole record.
type view[T any] struct {
	// columns are those of a table, the most important first.
	columns []column
	// sheet is what is shown of one record alone, all of it if it is nil.
	sheet []column
	// name is what a record goes by in commands.
	name func(*T) string
}

// column is a field of a record in a table, or several of them with slashes between.
type column struct{ title, path string }

// isID reports whether the column has ids, which are never cut.
func (c column) isID() bool { return c.path == "id" || strings.HasSuffix(c.path, ".id") }

// entry is a record with its name.
type entry struct {
	*strictjson.Node
	name string
}

// entryOf returns a record as it is shown.
func (v view[T]) entryOf(record *T) (entry, error) {
	node, err := nodeOf(record)
	return entry{node, v.name(record)}, err
}

// shape is what the records of a kind have, each field by its path, such as project.slug, in their order.
type shape struct {
	fields, leaves []string
	times          map[string]bool
	columns, sheet []column
}

func (v view[T]) shape() *shape {
	s := &shape{times: map[string]bool{}, columns: v.columns, sheet: v.sheet}
	s.add(reflect.TypeFor[T](), "")
	if s.sheet == nil {
		s.sheet = columnsOf(s.leaves)
	}
	return s
}

func (s *shape) add(t reflect.Type, prefix string) {
	for i := range t.NumField() {
		if !t.Field(i).IsExported() {
			continue
		}

		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		path, of := prefix+name, t.Field(i).Type
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		if t.Field(i).Anonymous { // its fields are those of the record, as in JSON
			s.add(of, prefix)
			continue
		}
		s.fields = append(s.fields, path)

		switch {
		case of == reflect.TypeFor[time.Time]():
			s.times[path] = true
			fallthrough
		case of.Kind() != reflect.Struct:
			s.leaves = append(s.leaves, path)
		default:
			s.add(of, path+".")
		}
	}
}

// shapeOf returns the shape of a record of which nothing is known but itself.
func shapeOf(n *strictjson.Node) *shape {
	s := &shape{}
	s.addNode(n, "")
	s.columns = columnsOf(s.leaves)
	s.sheet = s.columns
	return s
}

// columnsOf returns fields as columns that have the names of the fields.
func columnsOf(fields []string) []column {
	columns := make([]column, len(fields))
	for i, field := range fields {
		columns[i] = column{field, field}
	}
	return columns
}

func (s *shape) addNode(n *strictjson.Node, prefix string) {
	for i, key := range n.Keys {
		s.fields = append(s.fields, prefix+key)
		if n.Items[i].Kind == strictjson.Object && len(n.Items[i].Keys) > 0 {
			s.addNode(n.Items[i], prefix+key+".")
		} else {
			s.leaves = append(s.leaves, prefix+key)
		}
	}
}

// check returns a usage error if there is no such field.
func (s *shape) check(fields []string) error {
	for _, field := range fields {
		if !slices.Contains(s.fields, field) {
			return setting.Usagef("--fields: want some of %s, found %q", strings.Join(s.fields, ", "), field)
		}
	}
	return nil
}

// maxRecord bounds what a record may be; an answer is bounded already.
var maxRecord = strictjson.Limits{Depth: 1000, Bytes: 64 << 20}

// nodeOf returns a value as JSON, with the digits of its numbers.
func nodeOf(value any) (*strictjson.Node, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	return strictjson.ParseWithin(text.Bytes(), maxRecord)
}

// at returns the value at a path, null if there is none; behind a list, those of all its items.
func at(n *strictjson.Node, path string) *strictjson.Node {
	for n.Get(path) == nil {
		name, rest, more := strings.Cut(path, ".")
		inner := n.Get(name)
		if more && inner != nil && inner.Kind == strictjson.Array {
			each := &strictjson.Node{Kind: strictjson.Array}
			for _, item := range inner.Items {
				each.Items = append(each.Items, at(item, rest))
			}
			return each
		}
		if !more || inner == nil {
			return &strictjson.Node{Kind: strictjson.Null}
		}
		n, path = inner, rest
	}
	return n.Get(path)
}

// pick returns an object of some fields of a record alone, in their order, each at the place that it has in the record.
func pick(n *strictjson.Node, fields []string) *strictjson.Node {
	picked := &strictjson.Node{Kind: strictjson.Object}
	for _, field := range fields {
		to, path := picked, strings.Split(field, ".")
		for _, name := range path[:len(path)-1] {
			if to.Get(name) == nil || to.Get(name).Kind != strictjson.Object {
				to.Append(name, &strictjson.Node{Kind: strictjson.Object})
			}
			to = to.Get(name)
		}
		if last := path[len(path)-1]; to.Get(last) == nil {
			to.Append(last, at(n, field))
		}
	}
	return picked
}

// cell returns a value as text: nothing for null, a text as it is, a list of texts between commas, else its JSON.
func cell(n *strictjson.Node) string {
	switch {
	case n.Kind == strictjson.Null:
		return ""
	case n.Kind == strictjson.String:
		return n.Text
	case n.Kind == strictjson.Array &&
		!slices.ContainsFunc(n.Items, func(item *strictjson.Node) bool { return item.Kind != strictjson.String }):
		texts := make([]string, len(n.Items))
		for i, item := range n.Items {
			texts[i] = item.Text
		}
		return strings.Join(texts, ",")
	}
	return string(n.JSON())
}

// text returns a column of a record as text.
func (e entry) text(c column) string {
	var texts []string
	for path := range strings.SplitSeq(c.path, "/") {
		if text := cell(at(e.Node, path)); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "/")
}

// titleOf makes the head of a column of a field's path: createdAt is CREATED AT.
func titleOf(path string) string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(path, ".", " ") {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return strings.ToUpper(b.String())
}
