package document

import (
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/token"

	"slipway/internal/base/strictjson"
)

// extent is the part of a text that a token is.
type extent struct {
	start, end int
	// inFlow is set within brackets and braces.
	inFlow bool
	// indent is by how many spaces the block collection around the token is indented.
	indent int
}

// maxTokens bounds the tokens of a document: no document of MaxNodes has more, but for its comments.
const maxTokens = 8 * MaxNodes

// maxEmpty bounds the values without a text times the tokens: for each such value the parser moves the tokens behind it.
const maxEmpty = 1 << 29

// placer finds the tokens of the lexer in the text, and refuses what the parser would take though it is no YAML, or would
// take for something else.
type placer struct {
	*source
	extents map[*token.Token]extent
	levels  levels
	// before is the token before the one at hand that is no comment, nil for none, and at the offset behind the last.
	before *token.Token
	at     int
	// begun is set behind the first token that is no comment, ended behind the end of the document.
	begun, ended bool
}

// place returns the extents of tokens, which must make up the text without a gap, and be nested no deeper than a document
// may be: the parser calls itself for each level, and makes a path for each value.
func (s *source) place(tokens token.Tokens) (map[*token.Token]extent, error) {
	p := &placer{source: s, extents: make(map[*token.Token]extent, len(tokens))}
	for i, t := range tokens {
		if t.Type == token.InvalidType {
			return nil, s.fail(p.invalid(t), "cannot be read: %s", t.Error)
		}
		if i == maxTokens || p.levels.empty*len(tokens) > maxEmpty {
			return nil, s.fail(p.at, "has too many parts, or too many values that are left empty")
		}
		isKey := i+1 < len(tokens) && tokens[i+1].Type == token.MappingValueType
		if err := p.next(t, isKey); err != nil {
			return nil, err
		}
	}
	if rest := p.skipSpace(p.at); rest < len(s.text) {
		return nil, s.unread(rest)
	}
	return p.extents, nil
}

// indentingTab is a tab that indents a line.
var indentingTab = regexp.MustCompile(`(?m)^ *\t`)

// invalid returns where the text is that the lexer did not understand, which has no token of its own.
func (p *placer) invalid(t *token.Token) int {
	start := p.skipSpace(p.at)
	line := strings.LastIndexByte(p.text[:p.at], '\n') + 1
	if tab := indentingTab.FindStringIndex(p.text[line:]); tab != nil && strings.ContainsAny(t.Origin, "\t") {
		return line + tab[1] - 1
	}
	return start
}

// next finds the next token, which may have no text.
func (p *placer) next(t *token.Token, isKey bool) error {
	start := p.skipSpace(p.at)
	end := 0
	switch t.Type {
	case token.DoubleQuoteType, token.SingleQuoteType:
		end = p.quoteEnd(start)
	default:
		end = p.match(start, t.Origin)
	}
	switch {
	case end < 0:
		return p.unread(start)
	case end == start:
		start, end = p.at, p.at
	}
	e := extent{start: start, end: end, inFlow: p.levels.flow > 0, indent: p.levels.indent()}
	flaw := p.flaw(t, e)
	if flaw == "" {
		flaw = p.levels.add(token.Tokens{p.before, t}, e, isKey, p.source)
	}
	if flaw != "" {
		return p.fail(start, "%s", flaw)
	}
	if t.Type != token.CommentType {
		p.before = t
	}
	p.at, p.extents[t] = end, e
	return nil
}

// anchorName is what the name of an anchor may be; goccy/go-yaml takes any, and drops tabs out of it.
var anchorName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// flaw returns what is wrong with a token beside the one before it.
func (p *placer) flaw(t *token.Token, e extent) string {
	if t.Type == token.CommentType {
		if e.start > 0 && !isSpace(p.text[e.start-1]) {
			return "must have a space before a comment"
		}
		return ""
	}
	if p.ended || t.Type == token.DocumentHeaderType && p.begun {
		return "begins a second document; there may be one in a file"
	}
	p.begun, p.ended = true, t.Type == token.DocumentEndType
	isName := p.before != nil && (p.before.Type == token.AnchorType || p.before.Type == token.AliasType)
	switch {
	case isName && (e.start != p.at || !anchorName.MatchString(p.text[e.start:e.end])):
		return "must be the name of an anchor, of letters, digits, underscores and hyphens"
	case t.Type == token.DirectiveType:
		return "must not be a directive"
	case e.inFlow && (t.Type == token.LiteralType || t.Type == token.FoldedType):
		return "must not be a block of text within [] and {}"
	case t.Type == token.MappingKeyType:
		return "must not be an explicit key; write it before its colon, without the question mark"
	case t.Type == token.MappingValueType:
		return p.colonFlaw(e)
	}
	return ""
}

// colonFlaw returns what is wrong with a colon behind a key.
func (p *placer) colonFlaw(e extent) string {
	if p.before == nil || strings.Contains(p.text[p.at:e.start], "\n") {
		return "must have a key before the colon, on the same line"
	}
	if p.extents[p.before].end-p.extents[p.before].start > maxKey {
		return "is the colon of a key that is too long; it may have 1,024 bytes"
	}
	isJSON := e.inFlow && (p.before.Type == token.DoubleQuoteType || p.before.Type == token.SingleQuoteType)
	if !isJSON && e.end < len(p.text) && !isSpace(p.text[e.end]) && (!e.inFlow || strings.IndexByte(",[]{}", p.text[e.end]) < 0) {
		return "must have a space behind the colon, or the text be quoted"
	}
	return ""
}

func (s *source) unread(offset int) error {
	line, _, _ := strings.Cut(s.text[offset:], "\n")
	return s.fail(offset, "cannot be read: %s", strictjson.ShowText(line))
}

func (s *source) skipSpace(at int) int {
	for at < len(s.text) && isSpace(s.text[at]) {
		at++
	}
	return at
}

// match returns the offset behind a text that begins at an offset, where spaces do not count; -1 where it does not.
func (s *source) match(at int, text string) int {
	end := at
	for i := range len(text) {
		if isSpace(text[i]) {
			continue
		}
		at = s.skipSpace(at)
		if at == len(s.text) || s.text[at] != text[i] {
			return -1
		}
		at++
		end = at
	}
	return end
}

// quoteEnd returns the offset behind the quoted scalar that begins at an offset, -1 where none does.
func (s *source) quoteEnd(at int) int {
	if at == len(s.text) || s.text[at] != '"' && s.text[at] != '\'' {
		return -1
	}
	quote := s.text[at]
	for at++; at < len(s.text); at++ {
		switch c := s.text[at]; {
		case c == '\\' && quote == '"':
			at++
		case c == quote && quote == '\'' && at+1 < len(s.text) && s.text[at+1] == quote:
			at++
		case c == quote:
			return at + 1
		}
	}
	return -1
}
