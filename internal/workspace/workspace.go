// Package workspace has the places that modules are deployed to: projects and their environments.
package workspace

import (
	"slipway/internal/fault"
	"slipway/internal/journal"
	"slipway/internal/store"
)

// Service reads and writes projects and environments.
type Service struct {
	Store   *store.Store
	Journal *journal.Journal
}

// nameOf checks a name for people.
func nameOf(name string) []fault.Violation {
	if name != "" {
		return nil
	}
	return []fault.Violation{{Pointer: "/name", Rule: "min_length", Message: "must have at least 1 character, found none"}}
}
