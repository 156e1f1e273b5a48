package textrules

import (
	"unicode/utf8"

	"slipway/internal/base/fault"
)

// maxSearch bounds the text that is searched for, in characters.
const maxSearch = 100

// CheckSearch returns RequestInvalid for a text that is not searched for because of its length.
func CheckSearch(text string) error {
	if n := utf8.RuneCountInString(text); n < 1 || n > maxSearch {
		return fault.New(fault.RequestInvalid, "search must have 1 to %d characters, got %d.", maxSearch, n)
	}
	return nil
}
