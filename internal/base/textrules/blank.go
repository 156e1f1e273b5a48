package textrules

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"slipway/internal/base/fault"
)

// Visible returns a violation for a text of which nothing is seen if it is shown. An empty text is none: whether
// there must be a text at all is for another rule to say.
func Visible(pointer, text string) []fault.Violation {
	for _, r := range text {
		if !isBlank(r) {
			return nil
		}
	}
	if text == "" {
		return nil
	}
	return []fault.Violation{{Pointer: pointer, Rule: "blank",
		Message: fmt.Sprintf("must have a character that is seen, found %d that are not", utf8.RuneCountInString(text))}}
}

// isBlank reports whether a character leaves no mark of its own: white space, a control or format character, one that
// Unicode has shown as nothing by default (as a filler or a variation selector), or the Braille pattern without dots.
func isBlank(r rune) bool {
	return r == 0x2800 || unicode.IsSpace(r) || unicode.In(r, unicode.Z, unicode.Cc, unicode.Cf,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
