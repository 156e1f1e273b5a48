package document

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator/core"
)

const fieldsMerge = "OverlappingFieldsCanBeMerged"

// fieldsMergeWithin takes the place of the library's rule, which compares all fields of a name in pairs, and
// again for each level of inline fragments around them. Here the fields of a name are compared with
// the first of them and their selections are merged, so that each selection is looked at once, and most
// of them at most.
func fieldsMergeWithin(most int) core.Rule {
	return core.Rule{Name: fieldsMerge, RuleFunc: func(o *core.Events, refuse core.AddErrFunc) {
		m := merging{most: most, refuse: refuse, calls: map[*ast.Field]string{}}
		o.OnOperation(func(w *core.Walker, op *ast.OperationDefinition) {
			m.schema = w.Schema
			set := []ast.SelectionSet{op.SelectionSet}
			if m.merge(set, m.byParent, m.sameCall) {
				m.merge(set, together, m.sameShape)
			}
			if m.left() < 0 && !m.isReported {
				m.isReported = true
				over := limit{"merging", most, "selections to be merged"}.refuse(0, op.Position)
				refuse(func(e *gqlerror.Error) { *e = *over })
			}
		})
	}}
}

type merging struct {
	most       int
	schema     *ast.Schema
	refuse     core.AddErrFunc
	calls      map[*ast.Field]string
	work       int
	isReported bool
}

func (m *merging) left() int { return m.most - m.work }

// merge looks at selections that give one object, and at all below them. split returns which of the
// fields of a name have to agree, and differ why two of them do not.
func (m *merging) merge(
	sets []ast.SelectionSet, split func([]*ast.Field) [][]*ast.Field, differ func(a, b *ast.Field) string,
) bool {
	if len(sets) == 0 {
		return true
	}
	c := collection{merging: m, fields: map[string][]*ast.Field{}, spread: map[string]bool{}}
	for _, set := range sets {
		c.add(set)
	}
	agree := true
	for _, name := range c.names {
		for _, group := range split(c.fields[name]) {
			agree = m.agree(name, group, differ) && m.merge(below(group), split, differ) && agree
		}
	}
	return agree
}

func (m *merging) agree(name string, group []*ast.Field, differ func(a, b *ast.Field) string) bool {
	for _, f := range group[1:] {
		if why := differ(group[0], f); why != "" {
			m.refuse(core.Message("Fields %q cannot be merged: %s. An alias keeps them apart.", name, why),
				core.At(group[0].Position), core.At(f.Position))
			return false
		}
	}
	return true
}

func below(group []*ast.Field) []ast.SelectionSet {
	var sets []ast.SelectionSet
	for _, f := range group {
		if len(f.SelectionSet) > 0 {
			sets = append(sets, f.SelectionSet)
		}
	}
	return sets
}

// collection are the fields of an object by the names that they answer under.
type collection struct {
	*merging
	names  []string
	fields map[string][]*ast.Field
	spread map[string]bool
}

func (c *collection) add(set ast.SelectionSet) {
	for _, selection := range set {
		if c.work++; c.left() < 0 {
			return
		}

		switch node := selection.(type) {
		case *ast.Field:
			if node.ObjectDefinition == nil {
				continue // the type is unknown, which another rule refuses
			}
			if c.fields[node.Alias] == nil {
				c.names = append(c.names, node.Alias)
			}
			c.fields[node.Alias] = append(c.fields[node.Alias], node)
		case *ast.InlineFragment:
			c.add(node.SelectionSet)
		case *ast.FragmentSpread:
			if node.Definition != nil && !c.spread[node.Name] {
				c.spread[node.Name] = true
				c.add(node.Definition.SelectionSet)
			}
		}
	}
}

// together: whatever the object turns out to be, a caller can tell the shape of a field by its name.
func together(fields []*ast.Field) [][]*ast.Field { return [][]*ast.Field{fields} }

// byParent: fields of two object types never answer for the same object. Unknown fields are no type's.
func (m *merging) byParent(fields []*ast.Field) [][]*ast.Field {
	var types []string
	var abstract []*ast.Field
	byType := map[string][]*ast.Field{}
	for _, f := range fields {
		parent := f.ObjectDefinition
		if parent.Kind != ast.Object || f.Definition == nil {
			abstract = append(abstract, f)
			continue
		}

		if byType[parent.Name] == nil {
			types = append(types, parent.Name)
		}
		byType[parent.Name] = append(byType[parent.Name], f)
	}

	if len(types) == 0 {
		return together(abstract)
	}

	groups := make([][]*ast.Field, len(types))
	for i, name := range types {
		groups[i] = slices.Concat(abstract, byType[name])
		m.work += len(abstract)
	}
	return groups
}

func (m *merging) sameCall(a, b *ast.Field) string {
	if a.Name != b.Name {
		return fmt.Sprintf("%q and %q are different fields", a.Name, b.Name)
	}
	if m.call(a) != m.call(b) {
		return "their arguments differ"
	}
	return ""
}

func (m *merging) sameShape(a, b *ast.Field) string {
	if a.Definition == nil || b.Definition == nil {
		return "" // the field is unknown, which another rule refuses
	}
	x, y := typeOf(a), typeOf(b)
	for s, t := x, y; ; s, t = s.Elem, t.Elem {
		if s.NonNull != t.NonNull || (s.Elem == nil) != (t.Elem == nil) {
			return fmt.Sprintf("their types %s and %s differ", x, y)
		}
		if s.Elem != nil {
			continue
		}
		if s.NamedType != t.NamedType &&
			(m.schema.Types[s.NamedType].IsLeafType() || m.schema.Types[t.NamedType].IsLeafType()) {
			return fmt.Sprintf("their types %s and %s differ", x, y)
		}
		return ""
	}
}

var typenameType = ast.NonNullNamedType("String", nil)

// typeOf is the type of a known field. The library takes __typename to be nullable.
func typeOf(f *ast.Field) *ast.Type {
	if f.Name == "__typename" {
		return typenameType
	}
	return f.Definition.Type
}

// call is the arguments of a field in a form that is the same for the same arguments.
func (m *merging) call(f *ast.Field) string {
	if len(f.Arguments) == 0 {
		return ""
	}
	text, ok := m.calls[f]
	if !ok {
		args := make([]string, len(f.Arguments))
		for i, arg := range f.Arguments {
			args[i] = arg.Name + canonical(arg.Value)
		}
		slices.Sort(args)
		text = strings.Join(args, "")
		m.calls[f] = text
	}
	return text
}

func canonical(v *ast.Value) string {
	members := make([]string, len(v.Children))
	for i, child := range v.Children {
		members[i] = child.Name + canonical(child.Value)
	}
	if v.Kind == ast.ObjectValue {
		slices.Sort(members)
	}
	return strconv.Itoa(int(v.Kind)) + strconv.Quote(v.Raw) + "(" + strings.Join(members, "") + ")"
}
