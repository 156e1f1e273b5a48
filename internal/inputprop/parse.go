package inputprop

import (
	"bytes"
	"fmt"
)

// Parse reads the JSON of a property: RFC 8259 without its loose ends, so duplicate keys, lone
// surrogates, bad UTF-8 and anything after the value are refused, and the default limits hold. The
// error is a *SyntaxError.
func Parse(text []byte) (*Node, error) { return ParseWithin(text, Limits{}) }

// ParseWithin is Parse with limits of the caller, who may hold more than one property.
func ParseWithin(text []byte, limits Limits) (*Node, error) {
	if limits.Depth == 0 {
		limits.Depth = MaxLevels
	}
	if limits.Bytes == 0 {
		limits.Bytes = MaxBytes
	}
	p := parser{text: text, levels: min(limits.Depth, depthCeiling)}
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
	at     trail
	levels int
}

// next skips white space and gives the byte that follows, 0 at the end.
func (p *parser) next() byte {
	for ; p.pos < len(p.text); p.pos++ {
		switch c := p.text[p.pos]; c {
		case ' ', '\n', '\t', '\r':
		default:
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
	var keys keySet
	for more := p.next() != '}'; more; {
		if p.next() != '"' {
			return nil, p.unexpected("a key in double quotes")
		}
		start := p.pos
		key, err := p.string()
		if err != nil {
			return nil, err
		}
		p.at.member(key)
		if !keys.add(n.Keys, key) {
			p.pos = start
			return nil, p.fail("duplicate key %s", quote(key))
		}
		if err := p.take(':'); err != nil {
			return nil, err
		}
		item, err := p.value()
		if err != nil {
			return nil, err
		}
		p.at.up()
		n.Keys, n.Items = append(n.Keys, key), append(n.Items, item)
		if more, err = p.comma('}'); err != nil {
			return nil, err
		}
	}
	return n, p.leave('}')
}

func (p *parser) array() (*Node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	n := &Node{Kind: Array}
	for more := p.next() != ']'; more; {
		p.at.item(len(n.Items))
		item, err := p.value()
		if err != nil {
			return nil, err
		}
		p.at.up()
		n.Items = append(n.Items, item)
		if more, err = p.comma(']'); err != nil {
			return nil, err
		}
	}
	return n, p.leave(']')
}

func (p *parser) enter() error {
	if p.levels == 0 {
		return p.fail("is nested too deep, at most %d levels are allowed", len(p.at))
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

// comma says whether another element follows; it leaves the end to leave.
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
