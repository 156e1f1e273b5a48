package textrules

import (
	"fmt"
	"unicode/utf8"

	"slipway/internal/fault"
)

// Line refuses the characters that a text of one line must not have: those that a terminal obeys, that
// end a line, or that let a text read otherwise than it is.
func Line(pointer, text string) []fault.Violation {
	return withoutControl(pointer, text, isControl,
		"must have no control characters, line separators or bidirectional controls")
}

// Text refuses what Line refuses but line feed and tab.
func Text(pointer, text string) []fault.Violation {
	return withoutControl(pointer, text, func(r rune) bool { return r != '\n' && r != '\t' && isControl(r) },
		"must have no control characters but line feed and tab, no line separators and no bidirectional controls")
}

// withoutControl refuses the first character that is forbidden. The message names it and does not
// repeat it: whoever shows the message would be fooled by it as well.
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
