// Package access says who may do what, and where. Its table is the only place that does; whether a thing
// exists, and for whom, is not decided here.
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
	ReadCatalog         Action = "read the module catalogue"
	Read                Action = "read"
	CreateInstance      Action = "create module instances"
	Deploy              Action = "deploy, roll back, redeploy or cancel"
	ForceCancel         Action = "cancel by force"
	RunDeployments      Action = "claim, report or complete deployments"
	EditDefaults        Action = "change default value definitions"
	EditModules         Action = "change module definitions"
	EditGlobalModules   Action = "change global module definitions"
	EditWorkspace       Action = "change projects and environments"
	QuarantineRelease   Action = "quarantine releases"
	ReadTokens          Action = "read tokens"
	ManageTokens        Action = "create or revoke tokens"
	ManageOrganizations Action = "list or create organizations"
	ReadAudit           Action = "read audit events"
)

// rule is who may take an action, and where.
type rule struct {
	roles []actor.Role
	// anywhere marks the actions that a superadmin may take who has named nothing: reading what is global.
	anywhere bool
	// global marks those on what is everybody's, for which a superadmin has to have named that.
	global bool
	// either marks those on an organization's things or on superadmins' own, which are among what is everybody's.
	either bool
	// public marks the actions that need no token.
	public bool
	// reads marks the actions that change nothing, which no scope bounds.
	reads bool
	// whole marks the actions on what all of an organization shares, which is within no scope.
	whole bool
}

// The groups of roles that the table is written in. A superadmin who acts in an organization may do
// what its admins may.
var (
	readers     = []actor.Role{actor.Viewer, actor.Developer, actor.Admin, actor.Runner, actor.Superadmin}
	developers  = []actor.Role{actor.Developer, actor.Admin, actor.Superadmin}
	admins      = []actor.Role{actor.Admin, actor.Superadmin}
	superadmins = []actor.Role{actor.Superadmin}
)

// table is the whole of who may do what. System, the server itself, is not in it: it may do everything.
var table = map[Action]rule{
	ReadCatalog:         {roles: readers, reads: true, anywhere: true, public: true},
	Read:                {roles: readers, reads: true},
	CreateInstance:      {roles: developers},
	Deploy:              {roles: developers},
	ForceCancel:         {roles: admins},
	RunDeployments:      {roles: []actor.Role{actor.Runner}},
	EditDefaults:        {roles: admins, whole: true},
	EditModules:         {roles: admins, whole: true},
	EditGlobalModules:   {roles: superadmins, whole: true, global: true},
	EditWorkspace:       {roles: admins},
	QuarantineRelease:   {roles: admins},
	ReadTokens:          {roles: admins, reads: true, anywhere: true},
	ManageTokens:        {roles: admins, either: true},
	ManageOrganizations: {roles: superadmins, whole: true, global: true},
	ReadAudit:           {roles: admins, reads: true, anywhere: true},
}

// given are the roles that a role gives to the tokens that it makes.
var given = map[actor.Role][]actor.Role{
	actor.Viewer:     nil,
	actor.Developer:  nil,
	actor.Runner:     nil,
	actor.Admin:      {actor.Viewer, actor.Developer, actor.Admin, actor.Runner},
	actor.Superadmin: actor.Roles,
	actor.System:     actor.Roles,
}

// Check is CheckIn for what all of the organization shares.
func Check(a *actor.Actor, action Action, forbidden fault.Code) error {
	return CheckIn(a, action, actor.Place{}, forbidden)
}

// CheckIn returns nil where the actor may take the action in a place. Otherwise the error is that of CheckRole, or one
// of the code forbidden where the action changes something and the place is not within the actor's scope.
func CheckIn(a *actor.Actor, action Action, in actor.Place, forbidden fault.Code) error {
	if err := CheckRole(a, action, forbidden); err != nil {
		return err
	}
	if table[action].reads || a.Scope.Has(in) {
		return nil
	}
	return outOfScope(a, action, in, forbidden)
}

// CheckRole returns nil where the actor may take the action in some place; which one is up to the caller. Otherwise
// the error is fault's RequestUnauthenticated for an anonymous caller, RequestOrganizationNeeded for a superadmin who
// has not named whose things it is about, and an error of the code forbidden for a role that may not. An actor that is
// nil and an action that is not in the table are mistakes of the program, and errors of no code.
func CheckRole(a *actor.Actor, action Action, forbidden fault.Code) error {
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
		return fault.New(forbidden, "The role %s may not %s; allowed: %s.", a.Role, action, List(rule.roles))
	}
	return nil
}

// CheckGiven returns nil where the actor may make tokens of a role, otherwise an error of the code forbidden.
func CheckGiven(a *actor.Actor, role actor.Role, forbidden fault.Code) error {
	if may := given[a.Role]; !slices.Contains(may, role) {
		return fault.New(forbidden, "The role %s may not make tokens of the role %s; allowed: %s.", a.Role, role, List(may))
	}
	return nil
}

// Permissions returns the actions that the actor may take somewhere, in the order of their texts.
func Permissions(a *actor.Actor) []Action {
	var may []Action
	for action, rule := range table {
		if CheckRole(a, action, fault.RequestForbidden) == nil && (a.Scope == nil || !rule.whole) {
			may = append(may, action)
		}
	}
	slices.Sort(may)
	return may
}

// mostNamed is how much of a scope a message names; the details have all of it.
const mostNamed = 3

// outOfScope is the refusal of a place that is not within the actor's scope, which it names.
func outOfScope(a *actor.Actor, action Action, in actor.Place, forbidden fault.Code) error {
	all := append(slices.Clone(a.Scope.Projects), a.Scope.Environments...)
	named, more := strings.Join(all[:min(len(all), mostNamed)], ", "), ""
	if n := len(all) - mostNamed; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	f := fault.New(forbidden, "The token may %s only within its scope, %s%s; %s not within it.", action, named, more, told(in))
	f.Details = []fault.Section{{Title: "Scope of the token", Render: fault.RenderList, Items: all}}
	f.Metadata = map[string]any{"scope": map[string]any{"projects": a.Scope.Projects, "environments": a.Scope.Environments}}
	return f
}

func told(in actor.Place) string {
	switch {
	case in.EnvironmentID != "":
		return fmt.Sprintf("the environment %s of the project %s is", in.EnvironmentID, in.ProjectID)
	case in.ProjectID != "":
		return fmt.Sprintf("the project %s is", in.ProjectID)
	}
	return "the whole organization is"
}

// isWhere says whether the action is on the things that a superadmin has named.
func (r rule) isWhere(a *actor.Actor) bool {
	return r.anywhere || !r.global && a.OrganizationID != "" || (r.global || r.either) && a.Globally
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
	if table[action].either {
		e.Message = fmt.Sprintf("To %s, name their organization, or %s for superadmins' own.", action, actor.Global)
	}
	e.Description = "Send Slipway-Organization with the id or slug of an organization; for a socket, organization in connection_init."
	return e
}

// List returns roles as a sentence has them.
func List(roles []actor.Role) string {
	names := make([]string, len(roles))
	for i, role := range roles {
		names[i] = string(role)
	}
	return strings.Join(names, ", ")
}
