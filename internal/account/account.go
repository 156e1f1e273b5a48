// Package account has organizations and the tokens that act for them.
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
	// Revoked is told the hash of every token that was revoked here; nil where nobody remembers tokens.
	Revoked func(hash string)

	// unnoted is when the use of a token could not be written down last, in nanoseconds; 0 for never.
	unnoted atomic.Int64
}
