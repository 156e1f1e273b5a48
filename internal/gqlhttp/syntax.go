package gqlhttp

import (
	"cmp"
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/lexer"
)

// note keeps what the parser does not tell, or not well, of a token behind another one.
func (e *extent) note(before, token lexer.Token, err error) {
	number := before.Kind == lexer.Int || before.Kind == lexer.Float
	switch {
	case e.wrong != nil:
	case err != nil:
		e.wrong = lexical(token, err)
	case number && token.Pos.Start == before.Pos.End && (token.Kind == lexer.Name || token.Kind == lexer.Spread):
		e.wrong = gqlerror.ErrorPosf(&token.Pos, "Invalid number: %s must not be followed directly by %q.",
			shorten(before.Value), shorten(cmp.Or(token.Value, "...")))
	case before.Kind == lexer.BraceL && token.Kind == lexer.BraceR, before.Kind == lexer.ParenL && token.Kind == lexer.ParenR:
		e.empty = append(e.empty, token)
	}
}

// lexical is the lexer's error, which names the first byte alone of a character beyond ASCII.
func lexical(token lexer.Token, err error) *gqlerror.Error {
	failed := gqlError(err)
	at := token.Pos.Start // positions count runes
	if source := []rune(token.Pos.Src.Input); at == token.Pos.End && at < len(source) && source[at] > 0x7f {
		failed.Message = "Cannot parse the unexpected character " + strconv.QuoteRune(source[at]) + "."
	}
	return failed
}

// syntax is why a text that was scanned is no document, nil for one that is: the first of what the
// parser and the scan found.
func (e extent) syntax(doc *ast.QueryDocument, err error) *gqlerror.Error {
	if err == nil {
		if e.wrong != nil {
			return e.wrong
		}
		return parameters(doc)
	}
	failed := gqlError(err)
	if len(failed.Locations) == 0 {
		return failed
	}
	at := failed.Locations[0]
	if e.wrong != nil && !isBefore(at, e.wrong.Locations[0]) {
		return e.wrong
	}
	for _, bracket := range e.empty {
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

// parameters refuses fragments with variables of their own, which only old experiments have.
func parameters(doc *ast.QueryDocument) *gqlerror.Error {
	for _, f := range doc.Fragments {
		if len(f.VariableDefinition) > 0 {
			return gqlerror.ErrorPosf(f.VariableDefinition[0].Position, "Fragment %q must not define variables; operations do.", shorten(f.Name))
		}
	}
	return nil
}
