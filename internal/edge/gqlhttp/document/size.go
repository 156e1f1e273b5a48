package document

import (
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// documentSize counts what a document selects, with its fragments put in the place of their spreads.
type documentSize struct {
	Limits
	fragments map[string]*ast.FragmentDefinition
	// open are the fragments that the walk is inside of, seen those that it has been in.
	open, seen          map[string]bool
	selections, aliases int
	reached             int
	// isCyclic reports whether a fragment spreads itself. The walk leaves that out.
	isCyclic bool
}

// checkSize walks every operation, and the fragments that none of them spreads, and reports whether fragments spread
// themselves. It ends once they are too much, so that the limits bound its work whatever the fragments multiply to.
func (l Limits) checkSize(doc *ast.QueryDocument) (isCyclic bool, refused *gqlerror.Error) {
	s := documentSize{
		Limits: l, fragments: map[string]*ast.FragmentDefinition{},
		open: map[string]bool{}, seen: map[string]bool{},
	}
	for _, f := range doc.Fragments {
		s.fragments[f.Name] = f
	}

	for _, op := range doc.Operations {
		if refused := s.walk(op.SelectionSet, 1, false); refused != nil {
			return s.isCyclic, refused
		}
	}

	for _, f := range doc.Fragments {
		if s.reach(f.SelectionSet, map[string]bool{f.Name: true}); s.reached > s.Fragments {
			return s.isCyclic, limit{"fragments", l.Fragments, "selections below fragments"}.refuse(0, f.Position)
		}
		if s.seen[f.Name] {
			continue
		}
		if refused := s.within(f, 1); refused != nil {
			return s.isCyclic, refused
		}
	}

	return s.isCyclic, nil
}

// reach counts what a fragment selects, with every fragment that it comes to once. That is what
// validation looks at for each fragment, so that many that spread one another in a row are slow.
func (s *documentSize) reach(set ast.SelectionSet, spread map[string]bool) {
	for _, selection := range set {
		if s.reached++; s.reached > s.Fragments {
			return
		}
		switch node := selection.(type) {
		case *ast.Field:
			s.reach(node.SelectionSet, spread)
		case *ast.InlineFragment:
			s.reach(node.SelectionSet, spread)
		case *ast.FragmentSpread:
			if f := s.fragments[node.Name]; f != nil && !spread[node.Name] {
				spread[node.Name] = true
				s.reach(f.SelectionSet, spread)
			}
		}
	}
}

// walk looks at selections whose fields are at a depth. Aliases that were seen before are not counted.
func (s *documentSize) walk(set ast.SelectionSet, depth int, before bool) *gqlerror.Error {
	for _, selection := range set {
		if s.selections++; s.selections > s.Selections {
			return limit{"selections", s.Selections, "selections"}.refuse(0, selection.GetPosition())
		}

		var refused *gqlerror.Error
		switch node := selection.(type) {
		case *ast.Field:
			refused = s.field(node, depth, before)
		case *ast.InlineFragment:
			refused = s.walk(node.SelectionSet, depth, before)
		case *ast.FragmentSpread:
			if f := s.fragments[node.Name]; f != nil {
				refused = s.within(f, depth)
			}
		}

		if refused != nil {
			return refused
		}
	}
	return nil
}

func (s *documentSize) field(f *ast.Field, depth int, before bool) *gqlerror.Error {
	if depth > s.Depth {
		return limit{"depth", s.Depth, "levels of fields"}.refuse(depth, f.Position)
	}
	if f.Alias != f.Name && !before {
		if s.aliases++; s.aliases > s.Aliases {
			return limit{"aliases", s.Aliases, "aliases"}.refuse(0, f.Position)
		}
	}
	below := depth + 1
	if introspects(f) {
		below = -1 << 20 // brackets bound it
	}
	return s.walk(f.SelectionSet, below, before)
}

func (s *documentSize) within(f *ast.FragmentDefinition, depth int) *gqlerror.Error {
	if s.open[f.Name] {
		s.isCyclic = true
		return nil
	}
	before := s.seen[f.Name]
	s.open[f.Name], s.seen[f.Name] = true, true
	defer delete(s.open, f.Name)
	return s.walk(f.SelectionSet, depth, before)
}

// introspects reports whether a field asks for the schema.
func introspects(f *ast.Field) bool { return f.Name == "__schema" || f.Name == "__type" }
