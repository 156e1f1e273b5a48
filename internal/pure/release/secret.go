package release

import (
	"slices"

	"slipway/internal/base/secret"
	"slipway/internal/base/strictjson"
)

// place is what the names on the way to a value say of it.
type place struct {
	// name is that of the innermost member.
	name string
	// secret is set where all that is below belongs to something that has the name of a secret.
	secret bool
}

// member returns the place of a member of objects, which are those of the two sides; atRoot is set if they are the
// whole. Everything under a secret's name is secret, and so is the value of an entry {name, value} that is named so;
// what an entry refers to is not, nor is its name.
func (p place) member(atRoot bool, name string, owners ...*strictjson.Node) place {
	hidden := p.secret || secret.IsGroup(name) || atRoot && secret.IsName(name) || secret.IsNested(p.name, name)
	switch name {
	case secret.ReferenceMember:
		hidden = false
	case secret.NameMember:
		hidden = hidden && !slices.ContainsFunc(owners, isEntry)
	case secret.ValueMember:
		hidden = hidden || slices.ContainsFunc(owners, entryNamesSecret)
	}
	return place{name, hidden}
}

// item returns the place of an item of an array; its value may follow an option of a command that names a secret.
func (p place) item(follows bool) place { return place{p.name, p.secret || follows} }

// hides reports whether a leaf is to be masked: for where it is, or for what either of its values looks like.
func (p place) hides(values ...*strictjson.Node) bool {
	if slices.ContainsFunc(values, looksSecret) {
		return true
	}
	return (p.secret || secret.IsName(p.name)) && slices.ContainsFunc(values, mayBeSecret)
}

func looksSecret(n *strictjson.Node) bool {
	return n != nil && n.Kind == strictjson.String && secret.IsText(n.Text)
}

// mayBeSecret reports whether a value where a secret stands may be the secret: a switch is none.
func mayBeSecret(n *strictjson.Node) bool {
	if n == nil {
		return false
	}
	return n.Kind == strictjson.Number || n.Kind == strictjson.String && secret.IsValue(n.Text)
}

// entryNamesSecret reports whether an entry {name, value}, as of an environment, has the name of a secret.
func entryNamesSecret(entry *strictjson.Node) bool {
	return secret.IsName(entry.GetText(secret.NameMember))
}

// isEntry reports whether an object has a name for the value that it has or refers to.
func isEntry(object *strictjson.Node) bool {
	return object.Get(secret.ValueMember) != nil || object.Get(secret.ReferenceMember) != nil
}

// follows reports whether an item of a list, -1 for one that is not there, comes after an option with the name of a
// secret.
func follows(list *strictjson.Node, index int) bool {
	return list.Kind == strictjson.Array && index >= 0 && len(list.NamesOf(index)) > 0
}
