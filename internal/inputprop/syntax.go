package inputprop

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// What a property's JSON may have at most.
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
	// Offset is the place in bytes; Line and Column count characters from 1. All are zero where the
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
		Pointer: p.at.pointer(""),
		Offset:  p.pos,
		Line:    bytes.Count(before, []byte("\n")) + 1,
		Column:  utf8.RuneCount(line) + 1,
		Message: fmt.Sprintf(format, args...),
	}
}
