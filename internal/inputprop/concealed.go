package inputprop

import (
	"slices"
	"strconv"

	"slipway/internal/secret"
)

// repeated is a value as a message repeats it. A report has concealed instead, where the value is a secret by its
// place.
type repeated string

// concealed is how messages speak of a value that looks like a secret.
const concealed repeated = "a value that looks like a secret"

// quoteValue is quote for what somebody entered.
func quoteValue(text string) repeated {
	if secret.IsText(text) {
		return concealed
	}
	return repeated(quote(text))
}

func numberValue(n int32) repeated { return repeated(strconv.Itoa(int(n))) }

// written returns the value as JSON, short enough for a message; nil is nothing.
func written(n *Node) repeated {
	switch {
	case n == nil:
		return "nothing"
	case n.hasSecret():
		return concealed
	default:
		return repeated(short(string(n.JSON())))
	}
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
		if secret.IsName(name) || slices.ContainsFunc(n.namesOf(i), secret.IsName) || item.hasSecret() {
			return true
		}
	}
	return false
}

// namesOf returns the names that the item of an index has by what stands beside it: the name of an entry
// {name, value}, or an option of a command before it.
func (n *Node) namesOf(index int) []string {
	switch {
	case n.Kind == Object && n.Keys[index] == secret.ValueMember:
		return []string{n.text(secret.NameMember)}
	case n.Kind == Array && index > 0 && n.Items[index-1].Kind == String && secret.IsOption(n.Items[index-1].Text):
		return []string{n.Items[index-1].Text}
	default:
		return nil
	}
}

// name adds names that the value at hand has besides those of its place, until rename takes them away.
func (r *report) name(names ...string) { r.names = append(r.names, names...) }

func (r *report) rename(names ...string) { r.names = r.names[:len(r.names)-len(names)] }

// isSecret reports whether the value at hand is a secret by its names.
func (r *report) isSecret() bool {
	last := ""
	for i, s := range r.at {
		if s.index >= 0 {
			continue
		}
		if last = s.key; i == 0 && secret.IsName(last) || secret.IsGroup(last) {
			return true
		}
	}
	return secret.IsName(last) || slices.ContainsFunc(r.names, secret.IsName)
}

// conceal takes the values out of the arguments of a message where the value at hand is a secret.
func (r *report) conceal(args []any) {
	for i, arg := range args {
		if _, ok := arg.(repeated); !ok {
			continue
		}
		if !r.isSecret() {
			return
		}
		args[i] = concealed
	}
}
