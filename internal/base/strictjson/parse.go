package strictjson

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// What a text may have at most, if the caller sets no limit of its own.
const (
	MaxBytes  = 256 << 10
	MaxLevels = 64
)

// depthCeiling is what no caller may ask for more than, so that no input can exhaust the stack.
const depthCeiling = 1000

// Limits bound what Parse reads. A zero stands for MaxBytes or MaxLevels.
type Limits struct {
	// Depth is how many levels of arrays and objects may be inside one another, counted from the root;
	// 1,000 at most.
	Depth int
	// Bytes is how long the JSON text may be.
	Bytes int
}

// SyntaxError is why a text is not the JSON that is taken here.
type SyntaxError struct {
	// Pointer is the innermost value around the place, as a JSON Pointer.
	Pointer string
	// Offset is the place in bytes; Line and Column count characters from 1. All are zero if the
	// value never was a text.
	Offset, Line, Column int
	// Message says what is wrong there.
	Message string
}

// Error implements error.
func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("%s (line %d, column %d)", e.Message, e.Line, e.Column)
}

// Parse reads a JSON text: RFC 8259 without its loose ends, so duplicate keys, lone surrogates, bad UTF-8 and anything
// after the value are refused, and the default limits hold. The error is a *SyntaxError.
func Parse(text []byte) (*Node, error) { return ParseWithin(text, Limits{}) }

// MustParse is Parse for a text that the program itself has written: it panics where Parse has an error.
func MustParse(text string) *Node {
	n, err := Parse([]byte(text))
	if err != nil {
		panic(fmt.Sprintf("strictjson: %v", err))
	}
	return n
}

// ParseStored is Parse for values that are stored, with defaults and what was taken over: they may be longer and deeper
// than those that are given.
func ParseStored(text []byte) (*Node, error) {
	return ParseWithin(text, Limits{Depth: 2 * MaxLevels, Bytes: math.MaxInt})
}

// ParseWithin is Parse with the limits of the caller.
func ParseWithin(text []byte, limits Limits) (*Node, error) {
	if limits.Depth == 0 {
		limits.Depth = MaxLevels
	}
	if limits.Bytes == 0 {
		limits.Bytes = MaxBytes
	}
	p := parser{text: text, path: make(Path, 0, 8), levels: min(limits.Depth, depthCeiling)}
	if len(text) > limits.Bytes {
		return nil, &SyntaxError{Message: fmt.Sprintf("is longer than %d bytes, found %d", limits.Bytes, len(text))}
	}
	n, err := p.value()
	if err != nil {
		return nil, err
	}
	if p.next(); p.pos < len(text) {
		return nil, p.unexpected("the end")
	}
	return n, nil
}

type parser struct {
	text   []byte
	pos    int
	path   Path
	levels int
}

// next skips white space and returns the byte that follows, 0 at the end.
func (p *parser) next() byte {
	for ; p.pos < len(p.text); p.pos++ {
		if c := p.text[p.pos]; !isSpace(c) {
			return c
		}
	}
	return 0
}

func (p *parser) value() (*Node, error) {
	switch p.next() {
	case '{':
		return p.object()
	case '[':
		return p.array()
	case '"':
		text, err := p.string()
		return &Node{Kind: String, Text: text}, err
	case 't':
		return &Node{Kind: Bool, Bool: true}, p.word("true")
	case 'f':
		return &Node{Kind: Bool}, p.word("false")
	case 'n':
		return &Node{Kind: Null}, p.word("null")
	default:
		text, err := p.number()
		return &Node{Kind: Number, Text: text}, err
	}
}

func (p *parser) word(word string) error {
	if !bytes.HasPrefix(p.text[p.pos:], []byte(word)) {
		return p.unexpected("a JSON value")
	}
	p.pos += len(word)
	return nil
}

func (p *parser) object() (*Node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}

	n := &Node{Kind: Object}
	var known keySet
	for more := p.next() != '}'; more; {
		key, err := p.key(n.Keys, &known)
		if err != nil {
			return nil, err
		}

		item, err := p.value()
		if err != nil {
			return nil, err
		}
		p.path.Pop()

		if n.Keys == nil { // most objects have some members
			n.Keys, n.Items = make([]string, 0, 4), make([]*Node, 0, 4)
		}
		n.Keys, n.Items = append(n.Keys, key), append(n.Items, item)

		if more, err = p.comma('}'); err != nil {
			return nil, err
		}
	}

	return n, p.leave('}')
}

// key reads a key that is none of those before it, and the colon behind it. The path goes to its value then.
func (p *parser) key(before []string, known *keySet) (string, error) {
	if p.next() != '"' {
		return "", p.unexpected("a key in double quotes")
	}
	start := p.pos
	key, err := p.string()
	if err != nil {
		return "", err
	}
	p.path.PushKey(key)
	if !known.add(before, key) {
		p.pos = start
		return "", p.fail("duplicate key %s", Quote(key))
	}
	return key, p.take(':')
}

func (p *parser) array() (*Node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	n := &Node{Kind: Array}
	for more := p.next() != ']'; more; {
		p.path.PushIndex(len(n.Items))
		item, err := p.value()
		if err != nil {
			return nil, err
		}
		p.path.Pop()
		n.Items = append(n.Items, item)
		if more, err = p.comma(']'); err != nil {
			return nil, err
		}
	}
	return n, p.leave(']')
}

func (p *parser) enter() error {
	if p.levels == 0 {
		return p.fail("is nested too deep, at most %d levels are allowed", len(p.path))
	}
	p.levels--
	p.pos++
	return nil
}

func (p *parser) leave(end byte) error {
	p.levels++
	return p.take(end)
}

func (p *parser) take(c byte) error {
	if p.next() != c {
		return p.unexpected(fmt.Sprintf("%q", c))
	}
	p.pos++
	return nil
}

// comma reports whether another element follows; it leaves the end to leave.
func (p *parser) comma(end byte) (bool, error) {
	switch p.next() {
	case ',':
		p.pos++
		return true, nil
	case end:
		return false, nil
	default:
		return false, p.unexpected(fmt.Sprintf("',' or %q", end))
	}
}

func (p *parser) unexpected(want string) error {
	if p.pos >= len(p.text) {
		return p.fail("expected %s, found the end", want)
	}
	r, size := utf8.DecodeRune(p.text[p.pos:])
	if r == utf8.RuneError && size == 1 {
		return p.fail("expected %s, found the byte 0x%02x", want, p.text[p.pos])
	}
	return p.fail("expected %s, found %q", want, r)
}

func (p *parser) fail(format string, args ...any) error {
	before := p.text[:min(p.pos, len(p.text))]
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	return &SyntaxError{
		Pointer: p.path.Pointer(""),
		Offset:  p.pos,
		Line:    bytes.Count(before, []byte("\n")) + 1,
		Column:  utf8.RuneCount(line) + 1,
		Message: fmt.Sprintf(format, args...),
	}
}

// keySet finds duplicate keys without making many keys cost their square.
type keySet struct{ index map[string]struct{} }

// add reports whether key is new to those before it.
func (s *keySet) add(before []string, key string) bool {
	if len(before) < 16 {
		return !slices.Contains(before, key)
	}
	if s.index == nil {
		s.index = make(map[string]struct{}, 2*len(before))
		for _, k := range before {
			s.index[k] = struct{}{}
		}
	}
	_, known := s.index[key]
	s.index[key] = struct{}{}
	return !known
}
