// Package workspace has the places that modules are deployed to: projects and their environments.
package workspace

import (
	"slipway/internal/base/fault"
	"slipway/internal/base/textrules"
	"slipway/internal/data/journal"
	"slipway/internal/data/store"
)

// Service reads and writes projects and environments.
type Service struct {
	Store   *store.Store
	Journal *journal.Journal
}

// archivedList returns the name of a list, or of that of the archived among it: a cursor of one is none of the other.
func archivedList(name string, archived bool) string {
	if archived {
		return name + ".archived"
	}
	return name
}

// checkPatch returns what is wrong with a new name and a new slug, nil ones aside, after what was found before.
func checkPatch(violations []fault.Violation, name, slug *string) []fault.Violation {
	if name != nil {
		violations = append(violations, textrules.Name("/name", *name)...)
	}
	if slug != nil {
		violations = append(violations, textrules.GivenID("/slug", *slug)...)
	}
	return violations
}
