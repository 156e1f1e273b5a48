package inputprop

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// hint suggests the name that was probably meant, "" when none is near.
func hint(found string, names []string) string {
	if len(found) > shown {
		return ""
	}
	best, distance := "", 3
	for _, name := range names {
		if d := levenshtein.ComputeDistance(folded(found), folded(name)); d < distance && d < len(name)-1 {
			best, distance = name, d
		}
	}
	if best == "" {
		return ""
	}
	return `, did you mean "` + best + `"`
}

// folded lets camelCase, kebab-case and snake_case meet.
func folded(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}
