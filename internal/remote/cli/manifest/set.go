package manifest

import (
	"errors"
	"fmt"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/remote/cli/document"
)

// SetByVariant returns the value of a text for the input of an id, read by the input's variant: a text stays as it is,
// and what a collection has is JSON or YAML. Whether the input takes the value is not judged here.
func SetByVariant(inputs []inputprop.Property, id, text string) (*strictjson.Node, error) {
	level := inputprop.NewLevel(inputs)
	in, ok := level.ByID[id]
	if !ok {
		ids := level.ValueIDs()
		return nil, fmt.Errorf("%s is not the id of an input%s; there are %s",
			strictjson.Quote(id), strictjson.Hint(id, ids), strictjson.Listing(ids))
	}

	switch in.Property.(type) {
	case *inputprop.StringProperty, *inputprop.TextProperty, *inputprop.GitRepoProperty, *inputprop.ReferenceProperty:
		return &strictjson.Node{Kind: strictjson.String, Text: text}, nil
	case *inputprop.NumberProperty:
		return scalarOf(text, strictjson.Number, "a number as JSON has it, such as 30 or -1")
	case *inputprop.BooleanProperty:
		return scalarOf(text, strictjson.Bool, "true or false")

	case *inputprop.StringArrayProperty:
		return collectionOf(text, strictjson.Array, "a list of texts, such as [a, b]")
	case *inputprop.ArrayProperty:
		return collectionOf(text, strictjson.Array, "a list, such as [1, [a, b]]")
	case *inputprop.ObjectArrayProperty:
		return collectionOf(text, strictjson.Array, "a list of items, such as [{key: value}]")
	case *inputprop.ObjectProperty:
		return collectionOf(text, strictjson.Object, "an object, such as {key: value}")
	case *inputprop.KeyValueProperty:
		return collectionOf(text, strictjson.Object, "an object of texts, such as {key: value}")
	case *inputprop.ObjectMapProperty:
		return collectionOf(text, strictjson.Object, "an object of items by their keys, such as {name: {key: value}}")
	case *inputprop.CompoundProperty:
		return collectionOf(text, strictjson.Object, "an object of the fields of an option, such as {cpu: 1, memory: 2Gi}")

	case *inputprop.SectionProperty:
		return nil, fmt.Errorf("%s is a section, which has no value", strictjson.Quote(id))
	}

	panic("manifest: a variant without a rule for --set")
}

// scalarOf reads a JSON text of a kind.
func scalarOf(text string, kind strictjson.Kind, expected string) (*strictjson.Node, error) {
	n, err := strictjson.Parse([]byte(text))
	if err != nil || n.Kind != kind {
		return nil, fmt.Errorf("must be %s, found %s", expected, strictjson.ShowText(text))
	}
	return n, nil
}

// collectionOf reads a text of JSON or YAML that is a collection.
func collectionOf(text string, kind strictjson.Kind, expected string) (*strictjson.Node, error) {
	d, err := document.Read("", []byte(text))
	var flaw *document.Error
	switch {
	case errors.As(err, &flaw) && flaw.Line > 0:
		return nil, fmt.Errorf("must be %s, in JSON or YAML: at line %d, column %d, it %s",
			expected, flaw.Line, flaw.Column, flaw.Message)
	case err != nil:
		return nil, fmt.Errorf("must be %s, in JSON or YAML: it %s", expected, flaw.Message)
	case d.Root.Kind != kind:
		return nil, fmt.Errorf("must be %s, found %s", expected, strictjson.Show(d.Root))
	}
	return d.Root, nil
}
