package document

import (
	"cmp"
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/lexer"

	"slipway/internal/edge/gqlhttp/wire"
)

// scan is what the tokens of a text have that the parser does not report, or too late.
type scan struct {
	// tokens and directives are how many there are, and longestName the bytes of the longest name.
	tokens, directives, longestName int
	// brackets is how many are open.
	brackets int
	// err is the first error of the tokens.
	err *gqlerror.Error
	// empty are the closing tokens of () and {}.
	empty []lexer.Token
}

// scan counts in the text what the parser's own work depends on, and ends if it is too much. Text
// that is no GraphQL is left to the parser; its errors wait for those of the parser that come before.
func (l Limits) scan(text string) (s scan, refused *gqlerror.Error) {
	var before lexer.Token
	lex := lexer.New(&ast.Source{Input: text})
	for {
		token, err := lex.ReadToken()
		s.add(before, token, err)
		if token.Kind == lexer.Invalid || token.Kind == lexer.EOF {
			return s, nil
		}
		if refused := s.count(&token, l); refused != nil {
			return s, refused
		}
		if token.Kind != lexer.Comment {
			before = token
		}
	}
}

// count counts a token, and refuses it if it is one too many.
func (s *scan) count(token *lexer.Token, l Limits) *gqlerror.Error {
	s.tokens++
	switch token.Kind {
	case lexer.ParenL, lexer.BracketL, lexer.BraceL:
		s.brackets++
	case lexer.ParenR, lexer.BracketR, lexer.BraceR:
		s.brackets--
	case lexer.At:
		s.directives++
	case lexer.Name:
		s.longestName = max(s.longestName, len(token.Value))
	}

	switch {
	case s.tokens > l.Tokens:
		return limit{"tokens", l.Tokens, "tokens"}.refuse(0, &token.Pos)
	case s.brackets > l.Brackets:
		return limit{"brackets", l.Brackets, "levels of brackets"}.refuse(0, &token.Pos)
	case s.directives > l.Directives:
		return limit{"directives", l.Directives, "directives"}.refuse(0, &token.Pos)
	}

	return nil
}

// add keeps what the parser does not report, or not well, of a token behind another one.
func (s *scan) add(before, token lexer.Token, err error) {
	number := before.Kind == lexer.Int || before.Kind == lexer.Float
	switch {
	case s.err != nil:
	case err != nil:
		s.err = lexicalError(token, err)
	case number && token.Pos.Start == before.Pos.End && (token.Kind == lexer.Name || token.Kind == lexer.Spread):
		s.err = gqlerror.ErrorPosf(&token.Pos, "Invalid number: %s must not be followed directly by %q.",
			wire.Shorten(before.Value), wire.Shorten(cmp.Or(token.Value, "...")))
	case before.Kind == lexer.BraceL && token.Kind == lexer.BraceR,
		before.Kind == lexer.ParenL && token.Kind == lexer.ParenR:
		s.empty = append(s.empty, token)
	}
}

// lexicalError returns the lexer's error, which names the first byte alone of a character beyond ASCII.
func lexicalError(token lexer.Token, err error) *gqlerror.Error {
	failed := wire.AsError(err)
	at := token.Pos.Start // positions count runes
	if source := []rune(token.Pos.Src.Input); at == token.Pos.End && at < len(source) && source[at] > 0x7f {
		failed.Message = "Cannot parse the unexpected character " + strconv.QuoteRune(source[at]) + "."
	}
	return failed
}

// syntaxError returns why a text that was scanned is no document, nil for one that is: the first of what the
// parser and the scan found.
func (s scan) syntaxError(doc *ast.QueryDocument, err error) *gqlerror.Error {
	if err == nil {
		if s.err != nil {
			return s.err
		}
		return checkFragments(doc)
	}

	failed := wire.AsError(err)
	if len(failed.Locations) == 0 {
		return failed
	}
	at := failed.Locations[0]
	if s.err != nil && !isBefore(at, s.err.Locations[0]) {
		return s.err
	}

	for _, bracket := range s.empty {
		if at != (gqlerror.Location{Line: bracket.Pos.Line, Column: bracket.Pos.Column}) {
			continue
		}
		failed.Message = "A selection set must select something, found {}."
		if bracket.Kind == lexer.ParenR {
			failed.Message = "Arguments and variables must be left out with their parentheses, found ()."
		}
	}

	return failed
}

func isBefore(a, b gqlerror.Location) bool {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) < 0
}

// checkFragments refuses fragments with variables of their own, which only old experiments have.
func checkFragments(doc *ast.QueryDocument) *gqlerror.Error {
	for _, f := range doc.Fragments {
		if len(f.VariableDefinition) > 0 {
			return gqlerror.ErrorPosf(f.VariableDefinition[0].Position,
				"Fragment %q must not define variables; operations do.", wire.Shorten(f.Name))
		}
	}
	return nil
}
