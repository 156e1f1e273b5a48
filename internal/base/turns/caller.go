package turns

import "slipway/internal/base/actor"

// Caller is who takes turns, and for whom quotas are counted.
type Caller struct {
	// Key tells callers apart: the id of a token, or an address without one.
	Key string
	// Organization is the id of the organization whose callers weigh as one if they take turns or have a limit
	// together. Superadmins weigh as one that is theirs, in whichever they act, so that they come to their turn beside
	// one that asks for much and none pays for what they do. All who have no token weigh as another one.
	Organization string
	// Anonymous callers have no token.
	Anonymous bool
}

// What the organizations are called of callers who are in none.
const (
	superadmins = "superadmins"
	strangers   = "strangers"
)

// CallerOf returns the caller of an actor with a token.
func CallerOf(a *actor.Actor) Caller {
	c := Caller{Key: a.ID, Organization: a.OrganizationID}
	if a.IsSuperadmin() {
		c.Organization = superadmins
	}
	return c
}

// Stranger returns a caller without a token, who is told apart by an address.
func Stranger(address string) Caller {
	return Caller{Key: address, Organization: strangers, Anonymous: true}
}
