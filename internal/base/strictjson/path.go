package strictjson

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"slipway/internal/base/fault"
)

// Path leads from the root of a tree to one of its values. It becomes a JSON Pointer only when something is to be
// said of that value, so that a good input pays nothing for it.
type Path []pathElem

// pathElem leads to the member of a key, or to the item of an index if that is not negative.
type pathElem struct {
	key   string
	index int
}

// PushKey goes on to the member of an object.
func (p *Path) PushKey(key string) { *p = append(*p, pathElem{key: key, index: -1}) }

// PushIndex goes on to the item of an array.
func (p *Path) PushIndex(index int) { *p = append(*p, pathElem{index: index}) }

// Push goes on to the item of a node, or to the value of its member, of that index.
func (p *Path) Push(n *Node, index int) {
	if n.Kind == Object {
		p.PushKey(n.Keys[index])
	} else {
		p.PushIndex(index)
	}
}

// Pop goes back to where the last Push came from.
func (p *Path) Pop() { *p = (*p)[:len(*p)-1] }

// Pointer returns the path as a JSON Pointer (RFC 6901) that starts with root.
func (p Path) Pointer(root string) string {
	var b strings.Builder
	b.WriteString(root)
	for _, e := range p {
		if e.index >= 0 {
			b.WriteByte('/')
			b.WriteString(strconv.Itoa(e.index))
		} else {
			b.WriteString(fault.Pointer(e.key))
		}
	}
	return b.String()
}

// Compare orders paths: a path before those below it, members by their keys, items by their indexes. It returns -1, 0
// or +1.
func (p Path) Compare(other Path) int {
	return slices.CompareFunc(p, other, func(a, b pathElem) int {
		return cmp.Or(cmp.Compare(max(a.index, 0), max(b.index, 0)), cmp.Compare(a.key, b.key))
	})
}
