package textrules

import (
	"fmt"
	"regexp"

	"slipway/internal/base/fault"
)

// GivenIDForm is in words what IsGivenID accepts.
const GivenIDForm = "1 to 60 letters, digits, underscores and hyphens, the first a letter or digit"

var givenID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,59}$`)

// IsGivenID reports whether a text has the form of a GivenId: of an id, slug or name that people choose and that
// stands in addresses and commands. Letters and digits are those of ASCII.
func IsGivenID(text string) bool { return givenID.MatchString(text) }

// GivenID returns what is wrong with a text that must have the form of a GivenId.
func GivenID(pointer, text string) []fault.Violation {
	if IsGivenID(text) {
		return nil
	}
	return []fault.Violation{{
		Pointer: pointer, Rule: "format", Message: fmt.Sprintf("must be %s, found %.70q", GivenIDForm, text),
	}}
}
