package httpx

import (
	"context"

	"slipway/internal/actor"
	"slipway/internal/quota"
)

// Caller returns whom a request counts for where each caller has a limit: the actor that it was
// authenticated as, or the network that it comes from.
func Caller(ctx context.Context) quota.Caller {
	if a := actor.From(ctx); a != nil && a.ID != "" {
		return quota.CallerOf(a)
	}
	return quota.Stranger(ClientNetwork(ctx).String())
}
