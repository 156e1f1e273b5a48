package inputprop

import (
	"strconv"

	"slipway/internal/secret"
)

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
	// Text is the value of a string, or the literal of a number.
	Text string
	// Keys are the names of an object's members; Items has their values at the same places.
	Keys []string
	// Items are the items of an array, or the values of an object's members.
	Items []*Node
}

// Get gives the value of an object's member, nil when there is none.
func (n *Node) Get(key string) *Node {
	for i, k := range n.Keys {
		if k == key {
			return n.Items[i]
		}
	}
	return nil
}

// text returns the text that a member has, "" where it has none.
func (n *Node) text(key string) string {
	if member := n.Get(key); member != nil && member.Kind == String {
		return member.Text
	}
	return ""
}

// levels counts the arrays and objects on the longest way down: 0 for a scalar.
func (n *Node) levels() int {
	if n.Kind != Array && n.Kind != Object {
		return 0
	}
	deepest := 0
	for _, item := range n.Items {
		deepest = max(deepest, item.levels())
	}
	return deepest + 1
}

// found describes the value after "found", short enough for a message.
func (n *Node) found() repeated {
	switch n.Kind {
	case Bool:
		return repeated(strconv.FormatBool(n.Bool))
	case Number:
		return repeated("the number " + short(n.Text))
	case String:
		if secret.IsText(n.Text) {
			return concealed
		}
		return repeated("the string " + quote(n.Text))
	default:
		return repeated(n.Kind.String())
	}
}

// shown is how many characters of a found text a message repeats.
const shown = 60

func short(text string) string {
	count := 0
	for i := range text {
		if count == shown {
			return text[:i] + "…"
		}
		count++
	}
	return text
}

func quote(text string) string { return strconv.Quote(short(text)) }
