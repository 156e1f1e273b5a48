package textrules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/fault"
	"slipway/internal/base/textrules"
)

// refused reports whether a single line must not have a character.
func refused(r rune) bool {
	for _, span := range [][2]rune{{0x00, 0x1f}, {0x7f, 0x9f}, {0x2028, 0x2029}, {0x202a, 0x202e}, {0x2066, 0x2069}} {
		if r >= span[0] && r <= span[1] {
			return true
		}
	}
	return false
}

func TestEveryCharacterIsTakenOrRefusedByItsCodePoint(t *testing.T) {
	t.Parallel()
	for r := range rune(0x110000) {
		if r >= 0xd800 && r <= 0xdfff {
			continue // no text has them
		}
		text := "aé" + string(r)
		for form, check := range map[string]func(string, string) []fault.Violation{"line": textrules.Line, "text": textrules.Text} {
			want := refused(r) && (form == "line" || r != '\n' && r != '\t')
			found := check("/x", text)
			if (len(found) > 0) != want {
				t.Errorf("%s with U+%04X: %v, want it refused: %t", form, r, found, want)
				continue
			}
			if want && (found[0].Rule != "control_character" || !strings.HasSuffix(found[0].Message, fmt.Sprintf("found U+%04X at character 3", r))) {
				t.Errorf("%s with U+%04X: %v", form, r, found)
			}
			if want && strings.ContainsRune(found[0].Message, r) {
				t.Errorf("%s with U+%04X: the message has the character itself", form, r)
			}
		}
	}
}

func TestLengthsAreCountedInCharacters(t *testing.T) {
	t.Parallel()
	description := func(text string) []fault.Violation { return textrules.Description("/x", &text) }
	identifier := func(text string) []fault.Violation { return textrules.Identifier("/x", &text) }
	name := func(text string) []fault.Violation { return textrules.Name("/x", text) }
	for what, c := range map[string]struct {
		limit int
		check func(string) []fault.Violation
	}{"name": {200, name}, "description": {10_000, description}, "identifier": {2_048, identifier}} {
		for _, character := range []string{"x", "é", "€", "🚀"} {
			if found := c.check(strings.Repeat(character, c.limit)); len(found) > 0 {
				t.Errorf("%s of %d times %s: %v", what, c.limit, character, found)
			}
			want := []fault.Violation{{Pointer: "/x", Rule: "max_length",
				Message: fmt.Sprintf("must have at most %d characters, found %d", c.limit, c.limit+1)}}
			if diff := cmp.Diff(want, c.check(strings.Repeat(character, c.limit+1))); diff != "" {
				t.Errorf("%s: %s", what, diff)
			}
		}
	}
}

func TestATextThatBreaksTwoRulesIsToldBoth(t *testing.T) {
	t.Parallel()
	var rules []string
	for _, v := range textrules.Name("/name", strings.Repeat("x", 300)+"\u202e") {
		rules = append(rules, v.Pointer+" "+v.Rule)
	}
	if diff := cmp.Diff([]string{"/name max_length", "/name control_character"}, rules); diff != "" {
		t.Error(diff)
	}
}

func TestOnlyANameMustNotBeEmpty(t *testing.T) {
	t.Parallel()
	empty := ""
	for what, found := range map[string][]fault.Violation{
		"empty description": textrules.Description("/x", &empty), "no description": textrules.Description("/x", nil),
		"empty identifier": textrules.Identifier("/x", &empty), "no identifier": textrules.Identifier("/x", nil),
	} {
		if len(found) > 0 {
			t.Errorf("%s: %v", what, found)
		}
	}
	want := []fault.Violation{{Pointer: "/x", Rule: "min_length", Message: "must have at least 1 character, found none"}}
	if diff := cmp.Diff(want, textrules.Name("/x", "")); diff != "" {
		t.Error(diff)
	}
}

func TestBytesThatAreNoTextAreRefused(t *testing.T) {
	t.Parallel()
	want := []fault.Violation{{Pointer: "/x", Rule: "encoding", Message: "must be valid UTF-8"}}
	if diff := cmp.Diff(want, textrules.Name("/x", "a\xffb")); diff != "" {
		t.Error(diff)
	}
}

func TestAGivenIDIsOfItsForm(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"a": true, "7": true, "Web-2_b": true, strings.Repeat("x", 60): true,
		"": false, "-a": false, "_a": false, "a b": false, "a.b": false, "é": false, "a\n": false, strings.Repeat("x", 61): false,
	} {
		found := textrules.GivenID("/slug", text)
		if textrules.IsGivenID(text) != want || (len(found) == 0) != want {
			t.Errorf("%q: %t, %v", text, textrules.IsGivenID(text), found)
		}
	}
	want := []fault.Violation{{Pointer: "/slug", Rule: "format",
		Message: `must be 1 to 60 letters, digits, underscores and hyphens, the first a letter or digit, found "a b"`}}
	if diff := cmp.Diff(want, textrules.GivenID("/slug", "a b")); diff != "" {
		t.Error(diff)
	}
}
