package strictjson

import (
	"slices"
	"strconv"
	"strings"

	"slipway/internal/base/secret"
)

// Shown is a value as a message repeats it: short, and not at all if it looks like a secret.
type Shown string

// concealed is how messages speak of a value that looks like a secret.
const concealed Shown = "a value that looks like a secret"

// shownRunes is how many characters of a text a message repeats.
const shownRunes = 60

// Short returns the beginning of a text, short enough for a message.
func Short(text string) string {
	count := 0
	for i := range text {
		if count == shownRunes {
			return text[:i] + "…"
		}
		count++
	}
	return text
}

// Quote returns the beginning of a text in quotes.
func Quote(text string) string { return strconv.Quote(Short(text)) }

// ShowText returns what somebody entered, in quotes.
func ShowText(text string) Shown {
	if secret.IsText(text) {
		return concealed
	}
	return Shown(Quote(text))
}

// ShowNumber returns a number as it was written.
func ShowNumber(literal string) Shown { return Shown(Short(literal)) }

// ShowJSON returns a value as JSON; nil is nothing.
func ShowJSON(n *Node) Shown {
	switch {
	case n == nil:
		return "nothing"
	case n.hasSecret():
		return concealed
	default:
		return Shown(Short(string(n.JSON())))
	}
}

// Show describes a value after "found": its kind, and what it is where that is short.
func Show(n *Node) Shown {
	switch n.Kind {
	case Bool:
		return Shown(strconv.FormatBool(n.Bool))
	case Number:
		return "the number " + ShowNumber(n.Text)
	case String:
		if secret.IsText(n.Text) {
			return concealed
		}
		return Shown("the string " + Quote(n.Text))
	default:
		return Shown(n.Kind.String())
	}
}

// MaxListed is how many names of a list a message has.
const MaxListed = 10

// Listing returns the first names of a list, separated by commas.
func Listing(names []string) string {
	var parts []string
	for _, name := range names[:min(len(names), MaxListed)] {
		parts = append(parts, Short(name))
	}
	if len(names) > MaxListed {
		parts = append(parts, "…")
	}
	return strings.Join(parts, ", ")
}

// hasSecret reports whether anything in the value looks like a secret, by a name within it or by its form.
func (n *Node) hasSecret() bool {
	if n.Kind == String && secret.IsText(n.Text) {
		return true
	}
	for i, item := range n.Items {
		name := ""
		if n.Kind == Object {
			name = n.Keys[i]
		}
		if secret.IsName(name) || slices.ContainsFunc(n.NamesOf(i), secret.IsName) || item.hasSecret() {
			return true
		}
	}
	return false
}

// NamesOf returns the names that the item of an index has by what stands beside it: the name of an entry {name, value},
// or an option of a command before it.
func (n *Node) NamesOf(index int) []string {
	switch {
	case n.Kind == Object && n.Keys[index] == secret.ValueMember:
		return []string{n.GetText(secret.NameMember)}
	case n.Kind == Array && index > 0 && n.Items[index-1].Kind == String && secret.IsOption(n.Items[index-1].Text):
		return []string{n.Items[index-1].Text}
	default:
		return nil
	}
}
