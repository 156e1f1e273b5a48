package gqlhttp

import (
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/lexer"
)

// extent is how much there is of a text: its tokens, and the bytes of its longest name.
type extent struct {
	tokens, longest int
	// wrong is the first error of the tokens.
	wrong *gqlerror.Error
	// empty are the closing tokens of () and {}.
	empty []lexer.Token
}

// scan counts in the text what the parser's own work depends on, and ends where it is too much. Text
// that is no GraphQL is left to the parser; its errors wait for those of the parser that come before.
func (l Limits) scan(text string) (e extent, refused *gqlerror.Error) {
	brackets, directives := 0, 0
	var before lexer.Token
	lex := lexer.New(&ast.Source{Input: text})
	for {
		token, err := lex.ReadToken()
		e.note(before, token, err)
		if token.Kind == lexer.Invalid || token.Kind == lexer.EOF {
			return e, nil
		}
		if e.tokens++; e.tokens > l.Tokens {
			return e, limit{"tokens", l.Tokens, "tokens"}.refuse(0, &token.Pos)
		}
		if token.Kind != lexer.Comment {
			before = token
		}
		switch token.Kind {
		case lexer.ParenL, lexer.BracketL, lexer.BraceL:
			if brackets++; brackets > l.Brackets {
				return e, limit{"brackets", l.Brackets, "levels of brackets"}.refuse(0, &token.Pos)
			}
		case lexer.ParenR, lexer.BracketR, lexer.BraceR:
			brackets--
		case lexer.At:
			if directives++; directives > l.Directives {
				return e, limit{"directives", l.Directives, "directives"}.refuse(0, &token.Pos)
			}
		case lexer.Name:
			e.longest = max(e.longest, len(token.Value))
		}
	}
}

// shape walks a document with its fragments put in the place of their spreads.
type shape struct {
	Limits
	fragments map[string]*ast.FragmentDefinition
	// open are the fragments that the walk is inside of, seen those that it has been in.
	open, seen          map[string]bool
	selections, aliases int
	reached             int
	// cyclic is whether a fragment spreads itself. The walk leaves that out.
	cyclic bool
}

// measure walks every operation, and the fragments that none of them spreads. It ends where it is too
// much, so that its work is bounded by the limits whatever the fragments multiply to.
func (l Limits) measure(doc *ast.QueryDocument) (cyclic bool, refused *gqlerror.Error) {
	s := shape{Limits: l, fragments: map[string]*ast.FragmentDefinition{}, open: map[string]bool{}, seen: map[string]bool{}}
	for _, f := range doc.Fragments {
		s.fragments[f.Name] = f
	}
	for _, op := range doc.Operations {
		if refused := s.walk(op.SelectionSet, 1, false); refused != nil {
			return s.cyclic, refused
		}
	}
	for _, f := range doc.Fragments {
		if s.reach(f.SelectionSet, map[string]bool{f.Name: true}); s.reached > s.Fragments {
			return s.cyclic, limit{"fragments", l.Fragments, "selections below fragments"}.refuse(0, f.Position)
		}
		if s.seen[f.Name] {
			continue
		}
		if refused := s.within(f, 1); refused != nil {
			return s.cyclic, refused
		}
	}
	return s.cyclic, nil
}

// reach counts what a fragment selects, with every fragment that it comes to once. That is what
// validation looks at for each fragment, so that many that spread one another in a row are slow.
func (s *shape) reach(set ast.SelectionSet, spread map[string]bool) {
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
func (s *shape) walk(set ast.SelectionSet, depth int, before bool) *gqlerror.Error {
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

func (s *shape) field(f *ast.Field, depth int, before bool) *gqlerror.Error {
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

func (s *shape) within(f *ast.FragmentDefinition, depth int) *gqlerror.Error {
	if s.open[f.Name] {
		s.cyclic = true
		return nil
	}
	before := s.seen[f.Name]
	s.open[f.Name], s.seen[f.Name] = true, true
	defer delete(s.open, f.Name)
	return s.walk(f.SelectionSet, depth, before)
}

func introspects(f *ast.Field) bool { return f.Name == "__schema" || f.Name == "__type" }
