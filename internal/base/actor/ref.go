package actor

import "strings"

// Kind is the kind of an actor.
type Kind string

// The kinds of actors.
const (
	// ByToken is a bearer token of Slipway's own.
	ByToken Kind = "token"
	// ByCommand is the command line on the server's machine.
	ByCommand Kind = "command"
	// ByServer is the server itself.
	ByServer Kind = "server"
)

// serverName is the name of the server as an actor. Those of the command line are commandName, or that and a user.
const serverName, commandName = "slipway", "cli"

// Ref is who did something, as the record has it that says so.
type Ref struct {
	// Name is the name of the token.
	Name string
	// TokenID is its id; nil if none acted, or none was noted.
	TokenID *string
	// Role is the role that it acted in, "" if the record does not say.
	Role Role
}

// Kind returns the kind of the actor. Without an id it goes by the name: records from before ids were noted have none.
func (r *Ref) Kind() Kind {
	switch {
	case r.TokenID != nil:
		return ByToken
	case r.Name == serverName:
		return ByServer
	case r.Role == System, r.Name == commandName, strings.HasPrefix(r.Name, commandName+":"):
		return ByCommand
	}
	return ByToken
}
