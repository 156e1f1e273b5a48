package httpx

import (
	"context"

	"slipway/internal/base/actor"
	"slipway/internal/base/turns"
)

// Caller returns whom a request counts for where each caller has a limit: the actor that it was
// authenticated as, or the network that it comes from.
func Caller(ctx context.Context) turns.Caller {
	if a := actor.From(ctx); a != nil && a.ID != "" {
		return turns.CallerOf(a)
	}
	return turns.Stranger(ClientNetwork(ctx).String())
}
