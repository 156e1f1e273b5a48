package inputprop

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"slipway/internal/strictjson"
)

// start is what an input begins with where no value is given: a literal, which may hold templates, or
// the first of its values. The zero value is nothing.
type start struct {
	node  *strictjson.Node
	first bool
}

func (v *Default[T]) start() start {
	switch {
	case v == nil:
		return start{}
	case v.First:
		return start{first: true}
	case v.Reference != "":
		return start{node: nodeOf(v.Reference)}
	default:
		return start{node: nodeOf(v.Literal)}
	}
}

func startOf(p Property) start {
	switch p := p.(type) {
	case *StringProperty:
		return p.Default.start()
	case *TextProperty:
		return p.Default.start()
	case *ObjectProperty:
		return p.Default.start()
	case *ObjectMapProperty:
		return p.Default.start()
	case *ObjectArrayProperty:
		return p.Default.start()
	case *ArrayProperty:
		return p.Default.start()
	case *StringArrayProperty:
		return p.Default.start()
	case *NumberProperty:
		return p.Default.start()
	case *BooleanProperty:
		return p.Default.start()
	case *CompoundProperty:
		return p.Default.start()
	case *GitRepoProperty:
		return p.Default.start()
	case *KeyValueProperty:
		return p.Default.start()
	default:
		return start{}
	}
}

// nodeOf is the tree of a value that this package decoded, which always has one.
func nodeOf(v any) *strictjson.Node {
	switch v := v.(type) {
	case string:
		return &strictjson.Node{Kind: strictjson.String, Text: v}
	case *strictjson.Node:
		return v
	case []*strictjson.Node:
		return &strictjson.Node{Kind: strictjson.Array, Items: v}
	case bool:
		return &strictjson.Node{Kind: strictjson.Bool, Bool: v}
	case int32:
		return &strictjson.Node{Kind: strictjson.Number, Text: strconv.Itoa(int(v))}
	case []string:
		list := &strictjson.Node{Kind: strictjson.Array}
		for _, text := range v {
			list.Items = append(list.Items, nodeOf(text))
		}
		return list
	case Record:
		return membersOf(v)
	case map[string]string:
		return membersOf(v)
	default:
		panic(fmt.Sprintf("inputprop: a value of the Go type %T", v))
	}
}

// membersOf is the tree of a map, by its sorted keys.
func membersOf[T any](members map[string]T) *strictjson.Node {
	n := &strictjson.Node{Kind: strictjson.Object}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		n.Append(key, nodeOf(members[key]))
	}
	return n
}
