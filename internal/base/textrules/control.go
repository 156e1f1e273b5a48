package textrules

import (
	"fmt"
	"unicode/utf8"

	"slipway/internal/base/fault"
)

// Line returns a violation for a text of one line with a forbidden character: one that controls a terminal, that ends a
// line, or that makes a text look different from what it is.
func Line(pointer, text string) []fault.Violation {
	return withoutControl(pointer, text, isControl,
		"must have no control characters, line separators or bidirectional controls")
}

// Text returns the violations of Line, except for line feeds and tabs.
func Text(pointer, text string) []fault.Violation {
	return withoutControl(pointer, text, func(r rune) bool { return r != '\n' && r != '\t' && isControl(r) },
		"must have no control characters but line feed and tab, no line separators and no bidirectional controls")
}

// withoutControl returns a violation for the first forbidden character. The message has its number and not the
// character itself, which would do the same harm if the message is shown.
func withoutControl(pointer, text string, forbidden func(rune) bool, rule string) []fault.Violation {
	if !utf8.ValidString(text) {
		return []fault.Violation{{Pointer: pointer, Rule: "encoding", Message: "must be valid UTF-8"}}
	}
	position := 0
	for _, r := range text {
		position++
		if forbidden(r) {
			return []fault.Violation{{Pointer: pointer, Rule: "control_character",
				Message: fmt.Sprintf("%s, found U+%04X at character %d", rule, r, position)}}
		}
	}
	return nil
}

// isControl reports whether a character is a control character (C0, DEL, C1), a line or paragraph
// separator, or one of the embeddings, overrides and isolates of the bidirectional algorithm (UAX #9).
func isControl(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r <= 0x9f:
		return true
	case r == 0x2028, r == 0x2029:
		return true
	}
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
