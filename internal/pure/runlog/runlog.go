// Package runlog has the lines that a program prints while it carries a deployment out: their form and their bounds,
// which a server holds and a runner keeps to. Nobody decides anything by them; they are evidence for people.
package runlog

import (
	"strings"
	"time"
	"unicode/utf8"

	"slipway/internal/base/fault"
)

// MaxText is how many bytes of UTF-8 a line may have. A runner cuts a longer one into several (see Split).
const MaxText = 16 << 10

// MaxReported is how many lines one report may have.
const MaxReported = 500

// How much of a deployment's output is kept: the newest lines, together at most MaxBytes of text and at most MaxLines.
const (
	MaxBytes = 10 << 20
	MaxLines = 200_000
)

// Stream is where a program printed a line.
type Stream string

// The streams.
const (
	Stdout Stream = "STDOUT"
	Stderr Stream = "STDERR"
)

// Values returns the streams, for the column.
func (Stream) Values() []string { return []string{string(Stdout), string(Stderr)} }

// Line is one line, without its end.
type Line struct {
	// At is when it was printed, nil if that is not known.
	At     *time.Time
	Stream Stream
	Text   string
}

// Check returns what is wrong with a line that a runner reports; the pointers start with at.
func (l Line) Check(at string) []fault.Violation {
	var violations fault.Violations
	if n := len(l.Text); n > MaxText {
		violations.Add(at+"/text", "max_length", "must have at most %d bytes, found %d", MaxText, n)
	}
	if n := strings.Count(l.Text, "\n"); n > 0 {
		violations.Add(at+"/text", "pattern", "must be one line, found %d line feeds", n)
	}
	return violations.All("")
}

// Clean returns a text as both databases keep it. The character U+0000, which PostgreSQL does not take, is replaced by
// U+FFFD, and so is what is no UTF-8.
func Clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// Split cuts a line into pieces of at most MaxText bytes, between characters.
func Split(text string) []string {
	var pieces []string
	for len(text) > MaxText {
		cut := MaxText
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		pieces, text = append(pieces, text[:cut]), text[cut:]
	}
	return append(pieces, text)
}
