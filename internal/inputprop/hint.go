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

// listedNames is how many of a list a message names.
const listedNames = 10

// listing names the first of a list, short enough for a message.
func listing(names []string) string {
	var parts []string
	for _, name := range names[:min(len(names), listedNames)] {
		parts = append(parts, short(name))
	}
	if len(names) > listedNames {
		parts = append(parts, "…")
	}
	return strings.Join(parts, ", ")
}

// folded lets camelCase, kebab-case and snake_case meet.
func folded(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}
