// Package runners knows the runners of an organization: which tokens ask for work, what they can run and where, and
// which of them are busy.
package runners

import (
	"log/slog"

	"slipway/internal/data/journal"
	"slipway/internal/data/store"
)

// Service notes who asks for work, and reads who does.
type Service struct {
	Store   *store.Store
	Journal *journal.Journal
	// Log gets a line if asks cannot be stored.
	Log *slog.Logger

	asks asks
}
