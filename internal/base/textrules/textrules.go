// Package textrules has the rules for the texts of records: names, descriptions and identifiers of other systems. They
// are checked when a text is written. What is stored is not checked again, so a record that is older than a rule stays
// readable.
package textrules

import (
	"fmt"
	"unicode/utf8"

	"slipway/internal/base/fault"
)

// The longest texts, in characters.
const (
	MaxName        = 200
	MaxDescription = 10_000
	// MaxIdentifier is the length of the longest ARN.
	MaxIdentifier = 2_048
)

// Name returns what is wrong with a name: one line of 1 to MaxName characters that is not blank.
func Name(pointer, name string) []fault.Violation {
	if name == "" {
		return []fault.Violation{{
			Pointer: pointer, Rule: "min_length", Message: "must have at least 1 character, found none",
		}}
	}
	if violations := append(Length(pointer, name, MaxName), Line(pointer, name)...); len(violations) > 0 {
		return violations
	}
	return Visible(pointer, name)
}

// Description returns what is wrong with a description: a text of at most MaxDescription characters. Nil
// is no description, which is allowed.
func Description(pointer string, description *string) []fault.Violation {
	if description == nil {
		return nil
	}
	return append(Length(pointer, *description, MaxDescription), Text(pointer, *description)...)
}

// Identifier returns what is wrong with the identifier, name or address of something in another system:
// one line of at most MaxIdentifier characters. Nil is none, which is allowed.
func Identifier(pointer string, identifier *string) []fault.Violation {
	if identifier == nil {
		return nil
	}
	return append(Length(pointer, *identifier, MaxIdentifier), Line(pointer, *identifier)...)
}

// Length returns a violation for a text of more than limit characters.
func Length(pointer, text string, limit int) []fault.Violation {
	if len(text) <= limit {
		return nil
	}
	count := utf8.RuneCountInString(text)
	if count <= limit {
		return nil
	}
	return []fault.Violation{{Pointer: pointer, Rule: "max_length",
		Message: fmt.Sprintf("must have at most %d characters, found %d", limit, count)}}
}

// Reason returns violations for a reason, which has 1 to limit characters, line breaks among them, and is not blank.
func Reason(pointer, text string, limit int) []fault.Violation {
	var violations []fault.Violation
	if n := utf8.RuneCountInString(text); n < 1 || n > limit {
		violations = append(violations, fault.Violation{Pointer: pointer, Rule: "length",
			Message: fmt.Sprintf("must have 1 to %d characters, found %d", limit, n)})
	}
	violations = append(violations, Text(pointer, text)...)
	if len(violations) == 0 {
		violations = Visible(pointer, text)
	}
	return violations
}
