// Package actor has the caller of a request. It is attached to the context once, where the request comes in, and read
// wherever a decision or a query depends on it.
package actor

import (
	"context"
	"time"
)

// Role is what a token may do; see package access for the decisions.
type Role string

// The roles of tokens. The zero Role is nobody's.
const (
	Viewer     Role = "viewer"
	Developer  Role = "developer"
	Admin      Role = "admin"
	Runner     Role = "runner"
	Superadmin Role = "superadmin"
	System     Role = "system"
)

// Roles are the roles that a token can be given.
var Roles = []Role{Viewer, Developer, Admin, Runner, Superadmin}

// Channel is the surface that a request came in by.
type Channel string

// The channels, as a deployment's data names them.
const (
	GraphQL Channel = "graphql"
	REST    Channel = "rest"
	Server  Channel = "server"
	CLI     Channel = "cli"
)

// Global is the reserved name of what belongs to no organization. A superadmin names it, in the place of an
// organization, to write global records. It is no organization's slug.
const Global = "global"

// Actor is the caller of a request.
type Actor struct {
	// ID is the id of the token, empty for Anonymous.
	ID string
	// Name is the name of the token.
	Name string
	Role Role
	// PrincipalID is who acts, for who may approve what: it is the same for all tokens of a holder, and for a token that
	// was made by another and names no holder. It is empty if no token acts.
	PrincipalID string
	// Holder is whose the token is, as its maker says; empty if nobody was named.
	Holder string
	// OrganizationID is the organization that the actor acts in; empty for Anonymous, for System, and
	// for a superadmin who has not named one.
	OrganizationID string
	// Globally is whether a superadmin has named Global, and so may write global records.
	Globally bool
	// Scope is where in the organization the actor may change something, nil for all of it.
	Scope *Scope
	// ExpiresAt is when the token expires, by the clock that all servers share; nil for never.
	ExpiresAt *time.Time
	Channel   Channel
}

// Anonymous returns the caller without a token.
func Anonymous() *Actor { return &Actor{Name: "anonymous"} }

// IsAnonymous reports whether the caller sent no token.
func (a *Actor) IsAnonymous() bool { return a.Role == "" }

// IsSuperadmin reports whether the caller may act in any organization and on global modules.
func (a *Actor) IsSuperadmin() bool { return a.Role == Superadmin }

// In returns the same actor acting in an organization.
func (a *Actor) In(organizationID string) *Actor {
	b := *a
	b.OrganizationID, b.Globally = organizationID, false
	return &b
}

// InGlobal returns the same actor acting on global records.
func (a *Actor) InGlobal() *Actor {
	b := *a
	b.OrganizationID, b.Globally = "", true
	return &b
}

// Via returns the same actor coming in by a channel.
func (a *Actor) Via(c Channel) *Actor {
	b := *a
	b.Channel = c
	return &b
}

type contextKey int

const (
	actorKey contextKey = iota
	requestIDKey
)

// With attaches the actor to the context.
func With(ctx context.Context, a *Actor) context.Context {
	return context.WithValue(ctx, actorKey, a)
}

// From returns the context's actor, nil if none was attached.
func From(ctx context.Context) *Actor {
	a, _ := ctx.Value(actorKey).(*Actor)
	return a
}

// WithServer attaches the server itself, at work in an organization, or if that is empty for all of them.
func WithServer(ctx context.Context, organizationID string) context.Context {
	return With(ctx, &Actor{Name: serverName, Role: System, OrganizationID: organizationID, Channel: Server})
}

// WithRequestID attaches the id that correlates a request with its log lines.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey, id)
}

// RequestID returns the context's request id, empty if none was attached.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey).(string)
	return id
}
