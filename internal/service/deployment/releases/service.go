// Package releases has what deployments ship: the stored releases, the proof that one is what was stored, what differs
// between two, quarantines, and whether a release is good.
package releases

import (
	"slipway/internal/data/journal"
	"slipway/internal/data/store"
)

// Service reads releases, and puts them into quarantine.
type Service struct {
	Store   *store.Store
	Journal *journal.Journal
}
