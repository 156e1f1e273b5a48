package keeper

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

const (
	// When the program has ended, a process that has left its group may still write. drainTimeout is how long to
	// wait for more output then, and maxDrain how many bytes of it are read.
	drainTimeout = time.Second
	maxDrain     = 1 << 20
)

// pipe is a pipe to or from a program.
type pipe struct {
	r, w *os.File
	// ended is whether the program has ended, left how many bytes are read after that.
	ended atomic.Bool
	left  int
}

// pipes has a program's standard streams.
type pipes struct{ stdin, stdout, stderr pipe }

func newPipes() (*pipes, error) {
	p := &pipes{}
	for _, one := range []*pipe{&p.stdin, &p.stdout, &p.stderr} {
		var err error
		if one.r, one.w, err = os.Pipe(); err != nil {
			p.close()
			return nil, err
		}
		one.left = maxDrain
	}
	return p, nil
}

// closeChildEnds closes the program's ends of the pipes, which the program has inherited.
func (p *pipes) closeChildEnds() {
	_ = p.stdin.r.Close()
	_ = p.stdout.w.Close()
	_ = p.stderr.w.Close()
}

// writeInput writes the program's input. A program need not read it.
func (p *pipes) writeInput(input []byte) {
	_, _ = p.stdin.w.Write(input)
	_ = p.stdin.w.Close()
}

// drain makes reading end soon: what is in the pipes is read, but no other process is waited for.
func (p *pipes) drain() {
	_ = p.stdin.w.Close()
	for _, one := range []*pipe{&p.stdout, &p.stderr} {
		one.ended.Store(true)
		_ = one.r.SetReadDeadline(time.Now().Add(drainTimeout))
	}
}

// close closes what is still open.
func (p *pipes) close() {
	for _, one := range []*pipe{&p.stdin, &p.stdout, &p.stderr} {
		_ = one.r.Close() // of a nil or closed file this is an error, which means nothing
		_ = one.w.Close()
	}
}

// Read implements io.Reader.
func (p *pipe) Read(into []byte) (int, error) {
	if !p.ended.Load() {
		return p.r.Read(into)
	}
	if p.left <= 0 {
		return 0, os.ErrDeadlineExceeded
	}
	// The time that the reader took for the line before does not count.
	_ = p.r.SetReadDeadline(time.Now().Add(drainTimeout))
	n, err := p.r.Read(into)
	p.left -= n
	return n, err
}

// maxLine is the longest line, in bytes; the rest of a longer one is dropped.
const maxLine = 128 << 10

// readLines calls f with each line of r, without its end and without what exceeds maxLine, until r ends or fails.
func readLines(r io.Reader, f func(Record)) {
	in := bufio.NewReaderSize(r, 16<<10)
	var line []byte
	length := 0 // of the line without its end

	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part[:min(len(part), maxLine-len(line))]...)
		length += len(part)

		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == nil:
			f(newRecord(line, length-1))
		case length > 0:
			f(newRecord(line, length))
		}

		if err != nil {
			return
		}
		line, length = line[:0], 0
	}
}

// newRecord returns a line as a record. If it is only the first part of a line of the length, it is cut before a
// character that is not whole.
func newRecord(line []byte, length int) Record {
	if length > len(line) {
		for range utf8.UTFMax - 1 {
			if r, size := utf8.DecodeLastRune(line); r != utf8.RuneError || size != 1 {
				break
			}
			line = line[:len(line)-1]
		}
		return Record{Line: validText(line), Cut: length - len(line)}
	}
	return Record{Line: validText(bytes.TrimRight(line, "\r\n"))}
}

// validText replaces the bytes of a line that databases and JSON do not accept.
func validText(line []byte) string {
	return strings.ReplaceAll(strings.ToValidUTF8(string(line), "\uFFFD"), "\x00", "\uFFFD")
}

// tail has the last lines that were added to it.
type tail struct{ lines []string }

// The size of a tail, in lines and in bytes with the ends of the lines.
const (
	tailLines = 20
	tailBytes = 4 << 10
)

func (t *tail) add(line string) {
	if len(line) > tailBytes-1 {
		line = strings.ToValidUTF8(line[:tailBytes-1], "")
	}
	t.lines = append(t.lines, line)
	size := 0
	for _, l := range t.lines {
		size += len(l) + 1
	}
	for len(t.lines) > tailLines || size > tailBytes {
		size -= len(t.lines[0]) + 1
		t.lines = t.lines[1:]
	}
}

func (t *tail) text() string { return strings.Join(t.lines, "\n") }
