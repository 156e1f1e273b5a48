// Package account has organizations and the tokens that act for them.
package account

import (
	"log/slog"
	"time"

	"slipway/internal/journal"
	"slipway/internal/store"
)

// Service reads and writes organizations and tokens.
type Service struct {
	Store   *store.Store
	Journal *journal.Journal
	Now     func() time.Time
	Log     *slog.Logger
}
