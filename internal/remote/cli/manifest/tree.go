package manifest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
)

// Trees are shared, and so never changed: what changes a value returns another one, with all that did not change.

// withMember returns an object with another value for a key.
func withMember(n *strictjson.Node, key string, value *strictjson.Node) *strictjson.Node {
	changed := &strictjson.Node{Kind: strictjson.Object, Keys: slices.Clone(n.Keys), Items: slices.Clone(n.Items)}
	if i := slices.Index(n.Keys, key); i >= 0 {
		changed.Items[i] = value
	} else {
		changed.Append(key, value)
	}
	return changed
}

// setAt returns a value with another one where the keys of a JSON Pointer lead. Objects on the way are made; the index
// of a list's item may be that behind the last, or "-".
func setAt(n *strictjson.Node, keys []string, value *strictjson.Node) (*strictjson.Node, error) {
	if len(keys) == 0 {
		return value, nil
	}
	if n == nil {
		n = &strictjson.Node{Kind: strictjson.Object}
	}

	key := keys[0]
	switch n.Kind {
	case strictjson.Object:
		inner, err := setAt(n.Get(key), keys[1:], value)
		if err != nil {
			return nil, err
		}
		return withMember(n, key, inner), nil

	case strictjson.Array:
		if key == "-" {
			key = strconv.Itoa(len(n.Items))
		}
		i, ok := indexOf(key, len(n.Items))
		if !ok {
			return nil, fmt.Errorf("must have an index from 0 to %d, or -, in the list before it, found %s",
				len(n.Items), strictjson.Quote(key))
		}

		items := slices.Clone(n.Items)
		if i == len(items) {
			items = append(items, nil)
		}
		inner, err := setAt(items[i], keys[1:], value)
		if err != nil {
			return nil, err
		}
		items[i] = inner
		return &strictjson.Node{Kind: strictjson.Array, Items: items}, nil

	default:
		return nil, fmt.Errorf("must lead through objects and lists, found %s before %s",
			strictjson.Show(n), strictjson.Quote(key))
	}
}

// unsetAt returns a value without what the keys of a JSON Pointer lead to, which must be there.
func unsetAt(n *strictjson.Node, keys []string) (*strictjson.Node, error) {
	i := -1
	switch n.Kind {
	case strictjson.Object:
		i = slices.Index(n.Keys, keys[0])
	case strictjson.Array:
		if at, ok := indexOf(keys[0], len(n.Items)-1); ok {
			i = at
		}
	}

	if i < 0 {
		return nil, fmt.Errorf("must lead to a value that was given, found none at %s%s",
			strictjson.Quote(keys[0]), strictjson.Hint(keys[0], n.Keys))
	}

	changed := &strictjson.Node{Kind: n.Kind, Keys: slices.Clone(n.Keys), Items: slices.Clone(n.Items)}
	if len(keys) > 1 {
		inner, err := unsetAt(n.Items[i], keys[1:])
		changed.Items[i] = inner
		return changed, err
	}

	changed.Items = slices.Delete(changed.Items, i, i+1)
	if n.Kind == strictjson.Object {
		changed.Keys = slices.Delete(changed.Keys, i, i+1)
	}
	return changed, nil
}

// indexOf returns the index of an item that a part of a JSON Pointer names; last is the greatest there may be.
func indexOf(part string, last int) (int, bool) {
	i, err := strconv.Atoi(part)
	return i, err == nil && strconv.Itoa(i) == part && i >= 0 && i <= last
}

// keysOf returns the keys of a JSON Pointer that leads to an input's value, or to something in it.
func keysOf(pointer string) ([]string, error) {
	if !strings.HasPrefix(pointer, "/") {
		return nil, fmt.Errorf("must be a JSON Pointer such as /rules/0/cidr, found %s", strictjson.Quote(pointer))
	}
	keys := fault.Keys(pointer)
	if len(keys) > strictjson.MaxLevels {
		return nil, fmt.Errorf("must be a JSON Pointer of at most %d parts, found %d", strictjson.MaxLevels, len(keys))
	}
	return keys, nil
}
