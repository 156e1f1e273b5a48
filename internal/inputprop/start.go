package inputprop

import (
	"fmt"

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
	case Record:
		return converted(map[string]any(v))
	case map[string]string:
		members := make(map[string]any, len(v))
		for key, text := range v {
			members[key] = text
		}
		return converted(members)
	default:
		return converted(v)
	}
}

func converted(v any) *strictjson.Node {
	n, err := strictjson.FromValue(v)
	if err != nil {
		panic(fmt.Sprintf("inputprop: %v", err))
	}
	return n
}
