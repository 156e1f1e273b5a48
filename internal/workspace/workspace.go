// Package workspace has the places that modules are deployed to: projects and their environments.
package workspace

import (
	"slipway/internal/journal"
	"slipway/internal/store"
)

// Service reads and writes projects and environments.
type Service struct {
	Store   *store.Store
	Journal *journal.Journal
}
