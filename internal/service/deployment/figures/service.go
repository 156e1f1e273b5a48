// Package figures counts instances by their state, and deployments by how they ended and how long they took.
package figures

import (
	"slipway/internal/data/journal"
	"slipway/internal/data/store"
)

// Service counts.
type Service struct {
	Store   *store.Store
	Journal *journal.Journal
}
