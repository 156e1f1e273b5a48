package strictjson

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// string reads a string literal, whose opening quote is next.
func (p *parser) string() (string, error) {
	p.pos++
	start := p.pos
	p.plain()
	if p.pos < len(p.text) && p.text[p.pos] == '"' {
		p.pos++
		return string(p.text[start : p.pos-1]), nil
	}

	var out strings.Builder
	out.Grow(p.pos - start + max(bytes.IndexByte(p.text[p.pos:], '"'), 0)) // a quote that is escaped is rare
	out.Write(p.text[start:p.pos])

	for p.pos < len(p.text) && p.text[p.pos] != '"' {
		r, err := p.rune()
		if err != nil {
			return "", err
		}
		out.WriteRune(r)
		start = p.pos
		p.plain()
		out.Write(p.text[start:p.pos])
	}

	if p.pos == len(p.text) {
		return "", p.unexpected("the end of a string")
	}
	p.pos++
	return out.String(), nil
}

// plain skips the characters that stand for themselves and are ASCII.
func (p *parser) plain() {
	for ; p.pos < len(p.text); p.pos++ {
		if c := p.text[p.pos]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return
		}
	}
}

// rune reads one character that needs a look: an escape, one beyond ASCII, or one that is not allowed.
func (p *parser) rune() (rune, error) {
	c := p.text[p.pos]
	if c < ' ' {
		return 0, p.fail("control character 0x%02x in a string, write it as an escape", c)
	}
	if c == '\\' {
		return p.escape()
	}
	r, size := utf8.DecodeRune(p.text[p.pos:])
	if r == utf8.RuneError && size == 1 {
		return 0, p.fail("byte 0x%02x in a string is not UTF-8", c)
	}
	p.pos += size
	return r, nil
}

func (p *parser) escape() (rune, error) {
	start := p.pos
	p.pos++
	if p.pos == len(p.text) {
		return 0, p.unexpected("an escape")
	}
	c := p.text[p.pos]
	if c == 'u' {
		return p.unicode(start)
	}
	r := escapes[c]
	if r == 0 {
		return 0, p.unexpected(`one of "\/bfnrtu after a backslash`)
	}
	p.pos++
	return r, nil
}

// escapes are the characters that a letter after a backslash stands for, 0 if it stands for none.
var escapes = [256]rune{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// unicode reads \uXXXX, or two of them that make one character. The first began at start.
func (p *parser) unicode(start int) (rune, error) {
	r, err := p.hex()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if len(p.text)-p.pos > 1 && p.text[p.pos] == '\\' && p.text[p.pos+1] == 'u' {
		p.pos++
		low, err := p.hex()
		if err != nil {
			return 0, err
		}
		if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
			return r, nil
		}
	}
	p.pos = start
	return 0, p.fail("lone surrogate %s in a string", p.text[start:start+6])
}

// hex reads the four digits after a u, which is next.
func (p *parser) hex() (rune, error) {
	p.pos++
	if len(p.text)-p.pos < 4 {
		p.pos = len(p.text)
		return 0, p.unexpected("four hexadecimal digits")
	}
	v, err := strconv.ParseUint(string(p.text[p.pos:p.pos+4]), 16, 16)
	if err != nil {
		return 0, p.fail("expected four hexadecimal digits, found %q", p.text[p.pos:p.pos+4])
	}
	p.pos += 4
	return rune(v), nil
}

// number reads a number and returns its literal.
func (p *parser) number() (string, error) {
	start := p.pos
	p.skip("-")
	if !p.skip("0") && !p.digits() {
		if p.pos == start {
			return "", p.unexpected("a JSON value")
		}
		return "", p.unexpected("a digit")
	}
	if p.skip(".") && !p.digits() {
		return "", p.unexpected("a digit")
	}
	if p.skip("eE") {
		p.skip("+-")
		if !p.digits() {
			return "", p.unexpected("a digit")
		}
	}
	return string(p.text[start:p.pos]), nil
}

// skip goes over one of the characters, if it is next.
func (p *parser) skip(any string) bool {
	if p.pos == len(p.text) {
		return false
	}
	for i := range len(any) {
		if p.text[p.pos] == any[i] {
			p.pos++
			return true
		}
	}
	return false
}

// digits goes over at least one digit.
func (p *parser) digits() bool {
	start := p.pos
	for p.pos < len(p.text) && p.text[p.pos] >= '0' && p.text[p.pos] <= '9' {
		p.pos++
	}
	return p.pos > start
}
