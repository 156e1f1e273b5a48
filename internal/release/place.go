package release

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"slipway/internal/secret"
)

// place is where a value is, and what the names on the way say of it.
type place struct {
	// above is the place of what it is in, nil for the whole.
	above *place
	step  step
	// name is that of the innermost member.
	name string
	// secret says that all there is here belongs to something that has the name of a secret.
	secret bool
}

// step leads to a member of an object, or to an item of an array.
type step struct {
	member string
	index  int
	isItem bool
}

// member is the place of a member of objects, which are those of the two sides. Everything under a
// secret's name is secret, and so is the value of an entry {name, value} that is named so; what an entry refers
// to is not, nor is its name.
func (p *place) member(name string, owners ...map[string]any) *place {
	hidden := p.secret || secret.IsGroup(name) || p.above == nil && secret.IsName(name)
	switch name {
	case secret.ReferenceMember:
		hidden = false
	case secret.NameMember:
		hidden = hidden && !slices.ContainsFunc(owners, isEntry)
	case secret.ValueMember:
		hidden = hidden || slices.ContainsFunc(owners, entryNamesSecret)
	}
	return &place{p, step{member: name}, name, hidden}
}

// item is the place of an item of an array; its value may follow an option of a command that names a secret.
func (p *place) item(index int, follows bool) *place {
	return &place{p, step{index: index, isItem: true}, p.name, p.secret || follows}
}

// path is the way from the whole to the place.
func (p *place) path() []step {
	var path []step
	for ; p.above != nil; p = p.above {
		path = append(path, p.step)
	}
	slices.Reverse(path)
	return path
}

func pointer(path []step) string {
	var b strings.Builder
	for _, s := range path {
		b.WriteByte('/')
		if s.isItem {
			b.WriteString(strconv.Itoa(s.index))
		} else {
			b.WriteString(escapes.Replace(s.member))
		}
	}
	return b.String()
}

var escapes = strings.NewReplacer("~", "~0", "/", "~1")

func comparePaths(a, b []step) int {
	return slices.CompareFunc(a, b, func(a, b step) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.member, b.member))
	})
}
