package jsregexp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"unicode/utf16"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

// compilerMemory is how much memory one compiler may use, in bytes.
const compilerMemory = 32 << 20

// compiler is QuickJS's compiler of regular expressions. Only one goroutine may use it at a time.
type compiler struct {
	tls              *libc.TLS
	runtime, context uintptr
}

func newCompiler() (*compiler, error) {
	c := &compiler{tls: libc.NewTLS()}
	if c.runtime = lib.XJS_NewRuntime(c.tls); c.runtime != 0 {
		c.context = lib.XJS_NewContextRaw(c.tls, c.runtime)
	}
	if c.context == 0 {
		c.close()
		return nil, errors.New("jsregexp: no memory for a compiler")
	}
	lib.XJS_SetMemoryLimit(c.tls, c.runtime, compilerMemory)
	return c, nil
}

func (c *compiler) close() {
	if c.context != 0 {
		lib.XJS_FreeContext(c.tls, c.context)
	}
	if c.runtime != 0 {
		lib.XJS_FreeRuntime(c.tls, c.runtime)
	}
	c.tls.Close()
}

// compile returns the bytecode of new RegExp(pattern), with the flag u where unicode is true. The errors are
// *SyntaxError and ErrTooSlow.
func (c *compiler) compile(pattern string, unicode bool) ([]byte, error) {
	var flags int32
	if unicode {
		flags = lib.MLRE_FLAG_UNICODE
	} else {
		pattern = inCodeUnits(pattern)
	}

	text, err := libc.CString(pattern)
	if err != nil {
		return nil, fmt.Errorf("jsregexp: no memory for a pattern: %w", err)
	}
	defer libc.Xfree(c.tls, text)

	const length, message = 8, 64 // of what the compiler answers with, in bytes
	answer := c.tls.Alloc(length + message)
	defer c.tls.Free(length + message)
	code := lib.Xlre_compile(c.tls, answer, answer+length, message, text, lib.Tsize_t(len(pattern)), flags, c.context)
	if code == 0 {
		reason := libc.GoString(answer + length)
		if reason == "out of memory" {
			return nil, fmt.Errorf("%w: %s", ErrTooSlow, reason)
		}
		return nil, &SyntaxError{Message: reason}
	}

	defer lib.Xjs_free_rt(c.tls, c.runtime, code)
	size := binary.LittleEndian.Uint32(libc.GoBytes(answer, length))
	return bytes.Clone(libc.GoBytes(code, int(size))), nil
}

// inCodeUnits returns a pattern in which each character beyond U+FFFF is two, as without the flag u: its UTF-16 code
// units, each in three bytes.
func inCodeUnits(pattern string) string {
	written := make([]byte, 0, len(pattern))
	for _, r := range pattern {
		if r <= 0xFFFF {
			written = append(written, string(r)...)
			continue
		}
		high, low := utf16.EncodeRune(r)
		for _, unit := range []rune{high, low} {
			written = append(written, 0xE0|byte(unit>>12), 0x80|byte(unit>>6&0x3F), 0x80|byte(unit&0x3F))
		}
	}
	return string(written)
}

// folded returns the characters that stand for all that differ from them only in case.
var folded = sync.OnceValue(func() *[1 << 16]uint16 {
	tls := libc.NewTLS()
	defer tls.Close()
	var all [1 << 16]uint16
	for c := range all {
		all[c] = uint16(lib.Xlre_canonicalize(tls, uint32(c), 0))
	}
	return &all
})
