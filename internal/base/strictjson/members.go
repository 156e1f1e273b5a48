package strictjson

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// EachMember calls visit with each member of a JSON object in order: its name without quotes, and the text of its
// value. It looks for nothing but where values end, which takes a fraction of what package json takes to go through a
// text twice. It is for text that has been stored as JSON, of which little is asked for. It returns the error of visit,
// and an error for a text that cannot be divided into members; the caller finds out whether a value is JSON.
func EachMember(object []byte, visit func(name, value []byte) error) error {
	s := memberScanner{text: object}
	if !s.take('{') {
		return s.fail()
	}
	if s.take('}') {
		return s.end()
	}

	for {
		name, value, err := s.member()
		if err != nil {
			return err
		}
		if err := visit(name, value); err != nil {
			return err
		}

		if s.take('}') {
			return s.end()
		}
		if !s.take(',') {
			return s.fail()
		}
	}
}

// memberScanner goes through the text of an object.
type memberScanner struct {
	text []byte
	at   int
}

func (s *memberScanner) fail() error {
	return fmt.Errorf("strictjson: no object of JSON from byte %d on", s.at)
}

// end returns an error if the text goes on.
func (s *memberScanner) end() error {
	s.space()
	if s.at < len(s.text) {
		return s.fail()
	}
	return nil
}

func (s *memberScanner) space() {
	for s.at < len(s.text) && isSpace(s.text[s.at]) {
		s.at++
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// take goes over white space and a character, and reports whether that is the next.
func (s *memberScanner) take(c byte) bool {
	s.space()
	if s.at == len(s.text) || s.text[s.at] != c {
		return false
	}
	s.at++
	return true
}

// member goes over a member, and returns its name without quotes and the text of its value.
func (s *memberScanner) member() (name, value []byte, err error) {
	if name = s.name(); name == nil || !s.take(':') {
		return nil, nil, s.fail()
	}
	if value = s.value(); len(value) == 0 {
		return nil, nil, s.fail()
	}
	name, err = unquote(name)
	return name, value, err
}

// name goes over a name and returns it in its quotes, nil if there is none.
func (s *memberScanner) name() []byte {
	if !s.take('"') {
		return nil
	}
	begin := s.at - 1
	if !s.string() {
		return nil
	}
	return s.text[begin:s.at]
}

// unquote returns the text of a string of JSON. One without escapes is what is between its quotes.
func unquote(quoted []byte) ([]byte, error) {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1], nil
	}
	var text string
	err := json.Unmarshal(quoted, &text)
	return []byte(text), err
}

// string goes over the rest of a string, and reports whether it ends.
func (s *memberScanner) string() bool {
	for {
		length := bytes.IndexByte(s.text[s.at:], '"')
		if length < 0 {
			return false
		}
		escapes := 0
		for escapes < length && s.text[s.at+length-1-escapes] == '\\' {
			escapes++
		}
		s.at += length + 1
		if escapes%2 == 0 {
			return true
		}
	}
}

// value goes over a value, up to the comma or the bracket behind it, and returns it, nil if there is none.
func (s *memberScanner) value() []byte {
	s.space()
	begin := s.at

	for depth := 0; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '"':
			s.at++
			if !s.string() {
				return nil
			}
			s.at--
		case '{', '[':
			depth++
		case '}', ']', ',':
			switch {
			case depth == 0:
				end := s.at
				for end > begin && isSpace(s.text[end-1]) {
					end--
				}
				return s.text[begin:end:end]
			case s.text[s.at] != ',':
				depth--
			}
		}
	}

	return nil
}
