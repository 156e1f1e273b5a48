// Package account is the service for organizations, their tokens and their audit events.
package account

import (
	"log/slog"
	"time"

	"slipway/internal/data/journal"
	"slipway/internal/data/store"
)

// Service reads and writes organizations and tokens.
type Service struct {
	Store   *store.Store
	Journal *journal.Journal
	Now     func() time.Time
	Log     *slog.Logger
	// Revoked is called with the hash of every token that is revoked here; nil if nobody caches tokens.
	Revoked func(hash string)

	uses uses
}
