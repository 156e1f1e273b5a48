package document

import (
	"fmt"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// source is the text of a file, with LF as its only line break, as YAML has it within scalars.
type source struct {
	file string
	text string
	// lines are the offsets at which lines begin.
	lines []int
	// last is the offset that was asked for last, and lastPlace where it is: the next is most often close to it.
	last      int
	lastPlace Position
}

const byteOrderMark = "\ufeff"

// newSource returns the source of a file, or why it is no text.
func newSource(file string, text []byte) (*source, error) {
	if len(text) > MaxBytes {
		return nil, &Error{File: file, Message: fmt.Sprintf("must have at most %d bytes, found %d", MaxBytes, len(text))}
	}
	s := &source{file: file, text: strings.TrimPrefix(string(text), byteOrderMark)}
	s.text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s.text)
	s.lines = []int{0}
	for i := range len(s.text) {
		if s.text[i] == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	err := s.checkCharacters()
	return s, err
}

// checkCharacters refuses what may not stand in a YAML text, which no printable JSON has either.
func (s *source) checkCharacters() error {
	for i, c := range s.text {
		switch {
		case c == utf8.RuneError && !strings.HasPrefix(s.text[i:], string(utf8.RuneError)):
			return s.fail(i, "must be UTF-8, found the byte 0x%02X", s.text[i])
		case c == '\t' || c == '\n' || c == 0x85:
		case c == 0xFEFF || c == 0xFFFE || c == 0xFFFF || unicode.IsControl(c):
			return s.badCharacter(i)
		}
	}
	return nil
}

func (s *source) badCharacter(offset int) error {
	c, _ := utf8.DecodeRuneInString(s.text[offset:])
	return s.fail(offset, "must not contain the character U+%04X; in double quotes it is written as \\u%04x", c, c)
}

// position returns the place of an offset.
func (s *source) position(offset int) Position {
	line := sort.SearchInts(s.lines, offset+1)
	from, column := s.lines[line-1], 1
	if s.lastPlace.Line == line {
		from, column = s.last, s.lastPlace.Column
	}

	if offset < from {
		column -= utf8.RuneCountInString(s.text[offset:from])
	} else {
		column += utf8.RuneCountInString(s.text[from:offset])
	}
	s.last, s.lastPlace = offset, Position{Line: line, Column: column}
	return s.lastPlace
}

// offset returns the offset of a place, which may be behind the end.
func (s *source) offset(line, column int) int {
	if line > len(s.lines) {
		return len(s.text)
	}
	at, passed := s.lines[line-1], 1
	if s.lastPlace.Line == line && s.lastPlace.Column <= column {
		at, passed = s.last, s.lastPlace.Column
	}

	for ; passed < column && at < len(s.text); passed++ {
		_, size := utf8.DecodeRuneInString(s.text[at:])
		at += size
	}

	s.last, s.lastPlace = at, Position{Line: line, Column: passed}
	return at
}

// fail returns the error of an offset.
func (s *source) fail(offset int, format string, args ...any) error {
	return &Error{File: s.file, Position: s.position(offset), Message: fmt.Sprintf(format, args...)}
}
