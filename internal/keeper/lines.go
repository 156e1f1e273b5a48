package keeper

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// maxLine is how much of a line is kept, in bytes.
const maxLine = 128 << 10

// readLines gives each line of r, without its end and what is over maxLine, until r ends or fails.
func readLines(r io.Reader, each func(line string)) {
	in := bufio.NewReaderSize(r, 16<<10)
	var line []byte
	begun := false
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part[:min(len(part), maxLine-len(line))]...)
		begun = begun || len(part) > 0
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case begun:
			each(clean(bytes.TrimRight(line, "\r\n")))
		}
		if err != nil {
			return
		}
		line, begun = line[:0], false
	}
}

// clean makes text of what may not be: neither databases nor JSON take all bytes.
func clean(line []byte) string {
	return strings.ReplaceAll(strings.ToValidUTF8(string(line), "\uFFFD"), "\x00", "\uFFFD")
}

// tail keeps the last lines that it is given.
type tail struct{ lines []string }

// How much a tail keeps: lines, and bytes with the ends of the lines.
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
