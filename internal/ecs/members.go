package ecs

import (
	"bytes"
	"slices"
	"strings"
)

// members returns an object with those members of a JSON object that have the names. Package json goes through all of a
// text twice, whatever little of it is asked for; members only looks for where values end. Of what is no object, or has
// escapes in its names, it returns the whole text, for package json to judge.
func members(object []byte, names ...string) []byte {
	s := scanner{text: object}
	picked := []byte{'{'}
	for separator := byte('{'); s.take(separator); separator = ',' {
		begin := s.at
		name, ok := s.name()
		if !ok || !s.take(':') || !s.value() {
			return object
		}
		isNamed := func(n string) bool { return strings.EqualFold(n, string(name)) } // as package json takes names
		if slices.ContainsFunc(names, isNamed) {
			if len(picked) > 1 {
				picked = append(picked, ',')
			}
			picked = append(picked, object[begin:s.at]...)
		}
	}
	if !s.take('}') {
		return object
	}
	return append(picked, '}')
}

// scanner goes through a JSON text.
type scanner struct {
	text []byte
	at   int
}

// take goes over white space and a character, and reports whether that is the next.
func (s *scanner) take(c byte) bool {
	for s.at < len(s.text) && bytes.IndexByte([]byte(" \t\r\n"), s.text[s.at]) >= 0 {
		s.at++
	}
	if s.at == len(s.text) || s.text[s.at] != c {
		return false
	}
	s.at++
	return true
}

// name goes over a name and returns it. It reports false where there is none, or none without escapes.
func (s *scanner) name() ([]byte, bool) {
	if !s.take('"') {
		return nil, false
	}
	begin := s.at
	if !s.string() {
		return nil, false
	}
	name := s.text[begin : s.at-1]
	return name, bytes.IndexByte(name, '\\') < 0
}

// string goes over the rest of a string, and reports whether it ends.
func (s *scanner) string() bool {
	for {
		end := bytes.IndexByte(s.text[s.at:], '"')
		if end < 0 {
			return false
		}
		text := s.text[s.at : s.at+end]
		s.at += end + 1
		if escapes := len(text) - len(bytes.TrimRight(text, `\`)); escapes%2 == 0 {
			return true
		}
	}
}

// value goes over a value, up to the comma or the bracket behind it, and reports whether there is one.
func (s *scanner) value() bool {
	for depth := 0; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '"':
			s.at++
			if !s.string() {
				return false
			}
			s.at--
		case '{', '[':
			depth++
		case '}', ']', ',':
			switch {
			case depth == 0:
				return true
			case s.text[s.at] != ',':
				depth--
			}
		}
	}
	return false
}
