// Package account is the service for organizations, their tokens and their audit events.
package account

import (
	"log/slog"
	"sync/atomic"
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
	// Revoked is called with the hash of every token that is revoked here; nil if nobody caches tokens.
	Revoked func(hash string)

	// useFailedAt is when the use of a token could not be stored last, in Unix nanoseconds; 0 for never.
	useFailedAt atomic.Int64
}
