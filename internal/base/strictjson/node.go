// Package strictjson reads JSON strictly, carries it as a tree and writes it as it was.
//
// Parse makes a tree of Nodes out of a text. It takes RFC 8259 without its loose ends: duplicate keys, lone
// surrogates, bad UTF-8 and endless depth are refused, each with its place. The members of objects keep their order
// and numbers their digits, so that Node.JSON writes the same value again, to the digit. A tree is never changed once
// it is made, and may be shared.
//
// Decode fills a Go struct from a tree and collects every violation of the rules in the struct's tags; Encode writes
// what Decode has read. Canonical is the one text that equal values share (RFC 8785), Equal compares values by what
// they are worth.
package strictjson

// Kind is one of JSON's six kinds of value.
type Kind uint8

// The kinds of JSON value.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// String names the kind with its article, as messages need it.
func (k Kind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// Node is a JSON value as it was written: members in order, numbers as their literals.
type Node struct {
	Kind Kind
	// Bool is the value of a boolean.
	Bool bool
	// Text is the value of a string, or a number as it was written.
	Text string
	// Keys are the names of an object's members; Items has their values at the same places.
	Keys []string
	// Items are the items of an array, or the values of an object's members.
	Items []*Node
}

// Get returns the value of an object's member, nil when there is none.
func (n *Node) Get(key string) *Node {
	for i, k := range n.Keys {
		if k == key {
			return n.Items[i]
		}
	}
	return nil
}

// Index returns Get for an object that many members are looked up in.
func (n *Node) Index() func(key string) *Node {
	const few = 8
	if len(n.Keys) <= few {
		return n.Get
	}
	index := make(map[string]*Node, len(n.Keys))
	for i, key := range n.Keys {
		index[key] = n.Items[i]
	}
	return func(key string) *Node { return index[key] }
}

// GetText returns the text of a member that is a string, "" if there is none.
func (n *Node) GetText(key string) string {
	if member := n.Get(key); member != nil && member.Kind == String {
		return member.Text
	}
	return ""
}

// Levels returns how many arrays and objects are inside one another at most: 0 for a scalar.
func (n *Node) Levels() int {
	if n.Kind != Array && n.Kind != Object {
		return 0
	}
	deepest := 0
	for _, item := range n.Items {
		deepest = max(deepest, item.Levels())
	}
	return deepest + 1
}

// Append adds a member to an object that is being made.
func (n *Node) Append(key string, value *Node) {
	n.Keys, n.Items = append(n.Keys, key), append(n.Items, value)
}
