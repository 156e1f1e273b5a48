package document

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/token"
)

// levels follows how deep tokens are nested: in flow collections by their brackets, in block collections by the columns
// of their entries and keys.
type levels struct {
	open []open
	flow int
	// line is the one on which the last token ended, first the column where what may be a key began on it, and column
	// that of the last token.
	line, first, column int
	// properties is how many anchors and tags precede the next value, length how long the last token was.
	properties, length int
	// paths is how long the paths come to that the parser makes.
	paths int
	// empty counts the values that have no text.
	empty int
}

// open is a collection that is not closed yet, with the length of the key at hand.
type open struct {
	column int
	kind   token.Type
	key    int
	// hasColon is set behind the colon of an entry of a flow collection.
	hasColon bool
}

// maxKey is how long a key may be, in bytes; YAML itself allows no more characters than that before a colon.
const maxKey = 1024

// indent returns by how many spaces the block collection around the next token is indented.
func (l *levels) indent() int {
	if len(l.open) == 0 {
		return 0
	}
	return max(0, l.open[len(l.open)-1].column-1)
}

// add takes the next token, the second of the two, and returns what is wrong with it.
func (l *levels) add(pair token.Tokens, e extent, isKey bool, s *source) (flaw string) {
	before, t := pair[0], pair[1]
	if t.Type == token.CommentType {
		return ""
	}
	place := s.position(e.start)
	if place.Line != l.line {
		l.first = place.Column
	}
	if l.flow == 0 && !l.isInside(before, t, e, place.Column, isKey) {
		return "must be indented further than what it belongs to"
	}
	if l.isEmpty(before, t, place.Column) {
		l.empty++
	}
	switch t.Type {
	case token.SequenceStartType, token.MappingStartType:
		l.flow++
		l.open = append(l.open, open{kind: t.Type})
	case token.SequenceEndType, token.MappingEndType:
		if l.flow > 0 {
			l.flow--
			l.open = l.open[:len(l.open)-1]
		}
	case token.CollectEntryType:
		if l.flow > 0 {
			l.open[len(l.open)-1].hasColon = false
		}
	case token.SequenceEntryType:
		if l.flow == 0 {
			l.enter(open{column: place.Column, kind: t.Type})
		}
		rest := s.text[e.end:]
		l.first = place.Column + 1 + len(rest) - len(strings.TrimLeft(rest, " \t"))
	case token.MappingValueType:
		if flaw := l.colon(); flaw != "" {
			return flaw
		}
	}
	l.count(before, t)
	l.length, l.column, l.line = e.end-e.start, place.Column, s.position(e.end).Line
	if len(l.open)+l.properties > MaxLevels {
		return "must be nested at most 64 levels deep"
	}
	if l.paths > maxPointers {
		return "has too many values under long keys"
	}
	return ""
}

// isInside reports whether a token stands where it may in a block collection: to the right of it, but for the next key or
// entry of it, or the entry of a list that is the value of a key.
func (l *levels) isInside(before, t *token.Token, e extent, column int, isKey bool) bool {
	if len(l.open) == 0 || e.start == e.end || column > l.open[len(l.open)-1].column {
		return true
	}
	if before.Type == token.LiteralType || before.Type == token.FoldedType {
		return true
	}
	switch t.Type {
	case token.MappingValueType, token.DocumentHeaderType, token.DocumentEndType:
		return true
	case token.SequenceEntryType:
		last := l.open[len(l.open)-1]
		isValue := last.column == column && last.kind == token.MappingValueType
		return isValue || l.properties == 0 && l.has(token.SequenceEntryType, column)
	}
	return isKey && l.properties == 0 && l.has(token.MappingValueType, column)
}

// has reports whether a block collection is open at a column: of entries or of keys, by their tokens.
func (l *levels) has(kind token.Type, column int) bool {
	return slices.ContainsFunc(l.open, func(o open) bool { return o.kind == kind && o.column == column })
}

// isEmpty reports whether the value before a token has no text.
func (l *levels) isEmpty(before, t *token.Token, column int) bool {
	if len(l.open) == 0 {
		return false
	}
	last := l.open[len(l.open)-1]
	hasNone := before.Type == token.MappingValueType || before.Type == token.SequenceEntryType
	if l.flow == 0 {
		isList := t.Type == token.SequenceEntryType && last.kind == token.MappingValueType && last.column == column
		return hasNone && column <= last.column && !isList
	}
	isEnd := t.Type == token.CollectEntryType || t.Type == token.MappingEndType || t.Type == token.SequenceEndType
	return isEnd && (hasNone || last.kind == token.MappingStartType && !last.hasColon)
}

// colon takes the colon behind a key, which is the last token.
func (l *levels) colon() string {
	if l.flow > 0 {
		last := &l.open[len(l.open)-1]
		if last.hasColon {
			return "must have a comma before the next key"
		}
		last.key, last.hasColon = l.length, true
		return ""
	}
	if l.column != l.first {
		return "must follow a key that begins its line"
	}
	l.enter(open{column: l.first, kind: token.MappingValueType, key: l.length})
	return ""
}

// enter notes an entry of a block collection: those that stand further to the right are over.
func (l *levels) enter(entry open) {
	for len(l.open) > 0 {
		last := l.open[len(l.open)-1]
		if last.column < entry.column || last.column == entry.column && last.kind == token.MappingValueType && entry.kind == token.SequenceEntryType {
			break
		}
		l.open = l.open[:len(l.open)-1]
	}
	l.open = append(l.open, entry)
}

// count counts the anchors and tags in a row, and the path of the token.
func (l *levels) count(before, t *token.Token) {
	switch {
	case t.Type == token.AnchorType || t.Type == token.TagType:
		l.properties++
	case before == nil || before.Type != token.AnchorType:
		l.properties = 0
	}
	for _, o := range l.open {
		l.paths += o.key + len("[0].")
	}
}
