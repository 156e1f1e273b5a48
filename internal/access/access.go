// Package access says who may do what. Its table is the only place that does; whether a thing exists,
// and for whom, is not decided here.
package access

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"slipway/internal/actor"
	"slipway/internal/fault"
)

// Action is something that a caller may be allowed to do. Its text reads on after "may".
type Action string

// Every action there is.
const (
	ListCatalog       Action = "list module definitions"
	Read              Action = "read"
	CreateInstance    Action = "create module instances"
	Deploy            Action = "deploy, roll back, redeploy or cancel"
	ForceCancel       Action = "cancel by force"
	RunDeployments    Action = "claim, report or complete deployments"
	EditDefaults      Action = "change default value definitions"
	EditModules       Action = "change module definitions"
	EditGlobalModules Action = "change global module definitions"
	EditWorkspace     Action = "change projects and environments"
	QuarantineRelease Action = "quarantine releases"
	ManageTokens      Action = "manage tokens"
	ReadAudit         Action = "read audit events"
)

// rule is who may take an action, and where.
type rule struct {
	roles []actor.Role
	// anywhere marks the actions that a superadmin may take who has named nothing: reading what is global.
	anywhere bool
	// global marks those on what is everybody's, for which a superadmin has to have named that.
	global bool
	// public marks the actions that need no token.
	public bool
}

// The groups of roles that the table is written in. A superadmin who acts in an organization may do
// what its admins may.
var (
	readers    = []actor.Role{actor.Viewer, actor.Developer, actor.Admin, actor.Runner, actor.Superadmin}
	developers = []actor.Role{actor.Developer, actor.Admin, actor.Superadmin}
	admins     = []actor.Role{actor.Admin, actor.Superadmin}
)

// table is the whole of who may do what. System, the server itself, is not in it: it may do everything.
var table = map[Action]rule{
	ListCatalog:       {roles: readers, anywhere: true, public: true},
	Read:              {roles: readers},
	CreateInstance:    {roles: developers},
	Deploy:            {roles: developers},
	ForceCancel:       {roles: admins},
	RunDeployments:    {roles: []actor.Role{actor.Runner}},
	EditDefaults:      {roles: admins},
	EditModules:       {roles: admins},
	EditGlobalModules: {roles: []actor.Role{actor.Superadmin}, global: true},
	EditWorkspace:     {roles: admins},
	QuarantineRelease: {roles: admins},
	ManageTokens:      {roles: admins},
	ReadAudit:         {roles: admins, anywhere: true},
}

// Check gives nil where the actor may take the action. Otherwise the error is fault's
// RequestUnauthenticated for an anonymous caller, RequestOrganizationNeeded for a superadmin who has not named
// whose things it is about, and an error of the code forbidden for a role that may not. An actor that is nil and
// an action that is not in the table are mistakes of the program, and errors of no code.
func Check(a *actor.Actor, action Action, forbidden fault.Code) error {
	rule, ok := table[action]
	switch {
	case a == nil:
		return errors.New("access: no actor in the context")
	case !ok:
		return fmt.Errorf("access: no rule for action %q", action)
	case a.Role == actor.System, a.IsAnonymous() && rule.public:
		return nil
	case a.IsAnonymous():
		return fault.New(fault.RequestUnauthenticated, "A bearer token is needed here; none was sent.")
	case a.IsSuperadmin() && !rule.isWhere(a):
		return unnamed(a, action)
	case !slices.Contains(rule.roles, a.Role):
		return fault.New(forbidden, "The role %s may not %s; allowed: %s.", a.Role, action, list(rule.roles))
	}
	return nil
}

// isWhere says whether the action is on the things that a superadmin has named.
func (r rule) isWhere(a *actor.Actor) bool {
	if r.global {
		return a.Globally
	}
	return r.anywhere || a.OrganizationID != ""
}

// unnamed refuses an action on the things of nobody knows whom.
func unnamed(a *actor.Actor, action Action) error {
	e := fault.New(fault.RequestOrganizationNeeded, "The role %s acts in no organization by itself; name the one to %s in.", a.Role, action)
	if a.Globally {
		e.Message = fmt.Sprintf("What is global is no organization; name the one to %s in.", action)
	}
	if table[action].global {
		e.Message = fmt.Sprintf("To %s, name %s; otherwise name the organization that it is about.", action, actor.Global)
	}
	e.Description = "Send Slipway-Organization with the id or slug of an organization; for a socket, organization in connection_init."
	return e
}

func list(roles []actor.Role) string {
	names := make([]string, len(roles))
	for i, role := range roles {
		names[i] = string(role)
	}
	return strings.Join(names, ", ")
}
