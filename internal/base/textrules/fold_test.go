package textrules_test

import (
	"strings"
	"testing"
	"unicode"

	"slipway/internal/base/textrules"
)

func TestFoldedTextsAreEqualIfTheyDifferOnlyInCase(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"Rollback to V2", "rollback TO v2"}, {"Überfällig", "ÜBERFÄLLIG", "überfällig"}, {"ΣΊΣΥΦΟΣ", "σίσυφος"},
		{"Ж", "ж"}, {"Kelvin", "\u212aelvin"}, {"ſet", "Set"}, {"ẞ", "ß"}, {"ǅ", "Ǆ", "ǆ"},
	} {
		for _, text := range same {
			if got, want := textrules.Fold(text), textrules.Fold(same[0]); got != want {
				t.Errorf("%q is folded to %q, %q to %q", text, got, same[0], want)
			}
		}
	}
	if got := textrules.Fold("Hotfix 7: Zähler\n#12"); got != strings.ToLower("hotfix 7: ")+textrules.Fold("ZÄHLER\n#12") {
		t.Errorf("got %q", got)
	}
	for r := range rune(0x20000) {
		if folded := []rune(textrules.Fold(string(r)))[0]; !strings.EqualFold(string(r), string(folded)) {
			t.Fatalf("%q is folded to %q", r, folded)
		}
		if upper := unicode.ToUpper(r); upper != r && strings.EqualFold(string(r), string(upper)) &&
			textrules.Fold(string(r)) != textrules.Fold(string(upper)) {
			t.Fatalf("%q and %q are folded differently", r, upper)
		}
	}
}
