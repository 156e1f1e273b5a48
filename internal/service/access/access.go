// Package access decides who may do what, and where. All permissions are in one table of actions and roles, and its
// decisions need no database. Whether a record exists for the caller is decided by package store, which hides those of
// other organizations.
package access

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
)

// Action is something that a caller may be allowed to do. Its text completes a sentence after "may".
type Action string

// The actions.
const (
	ReadCatalog         Action = "read the module catalogue"
	Read                Action = "read"
	CreateInstances     Action = "create module instances"
	Deploy              Action = "deploy, promote, roll back, redeploy, approve or cancel"
	OverrideRules       Action = "go past rules"
	ManageRules         Action = "make, change or end rules"
	ForceCancel         Action = "cancel by force"
	DestroyInstances    Action = "destroy module instances"
	RunDeployments      Action = "claim, report or complete deployments"
	ManageDefaults      Action = "change default value definitions"
	PublishModules      Action = "publish versions of module definitions"
	ManageModules       Action = "change module definitions"
	ManageGlobalModules Action = "change global module definitions"
	ManageWorkspace     Action = "change projects and environments"
	ManageInstances     Action = "change module instances"
	QuarantineReleases  Action = "quarantine releases"
	MoveServices        Action = "move services"
	ReadTokens          Action = "read tokens"
	ManageTokens        Action = "create or revoke tokens"
	ManageOrganizations Action = "list or create organizations"
	ReadAudit           Action = "read audit events"
)

// rule is who may take an action, and where.
type rule struct {
	roles []actor.Role
	// anywhere is whether a superadmin may take the action without naming an organization: it reads global records.
	anywhere bool
	// global is whether the action is on global records: a superadmin must name actor.Global for it.
	global bool
	// either is whether the action is on records of an organization or of superadmins, which are global ones.
	either bool
	// public is whether the action needs no token.
	public bool
	// reads is whether the action changes nothing. A token's scope does not limit it then.
	reads bool
	// whole is whether the action is on what the whole organization shares, which is within no scope: a published version
	// or a changed default changes what is deployed elsewhere next.
	whole bool
	// on is what the action is on, 0 for what belongs neither to a project nor to a module definition. A scope allows an
	// action on places within those that it names, and one on modules for the definitions that it names.
	on subject
	// scoped are the roles that may take the action only with a scope.
	scoped []actor.Role
}

// subject is what an action is on.
type subject int

const (
	// places are projects and environments, with all that is in them.
	places subject = 1 + iota
	// modules are module definitions with their versions.
	modules
)

// The groups of roles in the table. A superadmin who acts in an organization may do what its admins may.
var (
	readers     = []actor.Role{actor.Viewer, actor.Developer, actor.Admin, actor.Runner, actor.Superadmin}
	developers  = []actor.Role{actor.Developer, actor.Admin, actor.Superadmin}
	admins      = []actor.Role{actor.Admin, actor.Superadmin}
	superadmins = []actor.Role{actor.Superadmin}
)

// table has the rule of every action. The role System, the server itself, is not in it: it may do everything.
var table = map[Action]rule{
	ReadCatalog:         {on: modules, roles: readers, reads: true, anywhere: true, public: true},
	Read:                {on: places, roles: readers, reads: true},
	CreateInstances:     {on: places, roles: developers},
	Deploy:              {on: places, roles: developers},
	OverrideRules:       {on: places, roles: admins},
	ManageRules:         {on: places, roles: admins},
	ForceCancel:         {on: places, roles: admins},
	DestroyInstances:    {on: places, roles: admins},
	RunDeployments:      {on: places, roles: []actor.Role{actor.Runner}},
	ManageDefaults:      {roles: admins, whole: true},
	PublishModules:      {on: modules, roles: developers, scoped: []actor.Role{actor.Developer}},
	ManageModules:       {on: modules, roles: admins, whole: true},
	ManageGlobalModules: {on: modules, roles: superadmins, whole: true, global: true},
	ManageWorkspace:     {on: places, roles: admins},
	ManageInstances:     {on: places, roles: admins},
	QuarantineReleases:  {on: places, roles: admins},
	MoveServices:        {on: places, roles: admins},
	ReadTokens:          {roles: admins, reads: true, anywhere: true},
	ManageTokens:        {roles: admins, either: true},
	ManageOrganizations: {roles: superadmins, whole: true, global: true},
	ReadAudit:           {roles: admins, reads: true, anywhere: true},
}

// grantable has the roles that a role may give to the tokens that it creates.
var grantable = map[actor.Role][]actor.Role{
	actor.Viewer:     nil,
	actor.Developer:  nil,
	actor.Runner:     nil,
	actor.Admin:      {actor.Viewer, actor.Developer, actor.Admin, actor.Runner},
	actor.Superadmin: actor.Roles,
	actor.System:     actor.Roles,
}

// Check is CheckIn for what the whole organization shares.
func Check(a *actor.Actor, action Action, forbidden fault.Code) error {
	return CheckIn(a, action, actor.Place{}, forbidden)
}

// CheckIn returns nil if the actor may take the action in a place. Otherwise the error is that of CheckRole, or one of
// the code forbidden if the action changes something and the place is not within the actor's scope.
func CheckIn(a *actor.Actor, action Action, in actor.Place, forbidden fault.Code) error {
	if err := CheckRole(a, action, forbidden); err != nil {
		return err
	}
	rule := table[action]
	in = rule.bounds(in)
	if rule.reads || a.Scope.Has(in) {
		return nil
	}
	return outOfScope(a, action, in, forbidden)
}

// CheckRole returns nil if the actor may take the action in some place; the caller has to check which one. Otherwise
// the error is fault's RequestUnauthenticated for an anonymous caller, RequestOrganizationNeeded for a superadmin who
// has not named an organization, and an error of the code forbidden for a role that may not take the action. A nil
// actor and an action that is not in the table are mistakes of the program; their errors have no code.
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
	case a.IsSuperadmin() && !rule.appliesWhere(a):
		return organizationNeeded(a, action)
	case !slices.Contains(rule.roles, a.Role), a.Scope == nil && slices.Contains(rule.scoped, a.Role):
		return fault.New(forbidden, "The role %s cannot %s; allowed: %s.", a.Role, action, rule.allowed())
	}
	return nil
}

// CheckGiven returns nil if the actor may create tokens of a role, otherwise an error of the code forbidden.
func CheckGiven(a *actor.Actor, role actor.Role, forbidden fault.Code) error {
	if may := grantable[a.Role]; !slices.Contains(may, role) {
		return fault.New(forbidden, "The role %s cannot create tokens with the role %s; allowed: %s.",
			a.Role, role, List(may))
	}
	return nil
}

// Permissions returns the actions that the actor may take somewhere, in the order of their texts.
func Permissions(a *actor.Actor) []Action {
	var may []Action
	for action, rule := range table {
		if CheckRole(a, action, fault.RequestForbidden) == nil && rule.reaches(a.Scope) {
			may = append(may, action)
		}
	}
	slices.Sort(may)
	return may
}

// PermissionsIn returns the actions that the actor may take in all of a project or an environment, in the order of
// their texts.
func PermissionsIn(a *actor.Actor, in actor.Place) []Action {
	return permitted(a, in, func(r rule) bool { return r.on == places })
}

// PermissionsOn returns the actions that the actor may take on a module definition, which is a global one or the
// organization's, in the order of their texts.
func PermissionsOn(a *actor.Actor, definitionID string, isGlobal bool) []Action {
	return permitted(a, actor.Place{ModuleDefinitionID: definitionID}, func(r rule) bool {
		return r.on == modules && (r.reads || r.global == isGlobal)
	})
}

// permitted returns the actions in a place that the actor may take, of those whose rules are wanted.
func permitted(a *actor.Actor, in actor.Place, wanted func(rule) bool) []Action {
	var may []Action
	for action, rule := range table {
		if wanted(rule) && CheckIn(a, action, in, fault.RequestForbidden) == nil {
			may = append(may, action)
		}
	}
	slices.Sort(may)
	return may
}

// bounds returns what a scope has to have of a place for the action, so that a scope that names a module allows nothing
// but to publish it.
func (r rule) bounds(in actor.Place) actor.Place {
	switch {
	case r.whole:
		return actor.Place{}
	case r.on == places:
		return actor.Place{ProjectID: in.ProjectID, EnvironmentID: in.EnvironmentID}
	case r.on == modules:
		return actor.Place{ModuleDefinitionID: in.ModuleDefinitionID}
	}
	return in
}

// reaches reports whether the action can be taken somewhere within a scope, which is nil for the whole organization.
func (r rule) reaches(s *actor.Scope) bool {
	switch {
	case s == nil || r.reads:
		return true
	case r.whole:
		return false
	case r.on == places:
		return len(s.Projects)+len(s.Environments) > 0
	case r.on == modules:
		return len(s.ModuleDefinitions) > 0
	}
	return true
}

// maxNamed is how much of a scope a message names; the details have all of it.
const maxNamed = 3

// outOfScope returns the error for a place that is not within the actor's scope. It names the scope.
func outOfScope(a *actor.Actor, action Action, in actor.Place, forbidden fault.Code) error {
	all := a.Scope.IDs()
	named, more := strings.Join(all[:min(len(all), maxNamed)], ", "), ""
	if n := len(all) - maxNamed; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	f := fault.New(
		forbidden, "The token may %s only within its scope, %s%s; %s not within it.", action, named, more, describe(in),
	)
	f.Details = []fault.Section{{Title: "Scope of the token", Render: fault.RenderList, Items: all}}
	scope := map[string]any{"projects": a.Scope.Projects, "environments": a.Scope.Environments}
	if len(a.Scope.ModuleDefinitions) > 0 {
		scope["moduleDefinitions"] = a.Scope.ModuleDefinitions
	}
	f.Metadata = map[string]any{"scope": scope}
	return f
}

// describe returns the subject and the verb of a sentence about a place.
func describe(in actor.Place) string {
	switch {
	case in.EnvironmentID != "":
		return fmt.Sprintf("the environment %s of the project %s is", in.EnvironmentID, in.ProjectID)
	case in.ProjectID != "":
		return fmt.Sprintf("the project %s is", in.ProjectID)
	case in.ModuleDefinitionID != "":
		return fmt.Sprintf("the module definition %s is", in.ModuleDefinitionID)
	}
	return "the whole organization is"
}

// allowed lists the roles that may take the action, and those that may take it with a scope.
func (r rule) allowed() string {
	var always, scoped []actor.Role
	for _, role := range r.roles {
		if slices.Contains(r.scoped, role) {
			scoped = append(scoped, role)
		} else {
			always = append(always, role)
		}
	}
	if scoped == nil {
		return List(always)
	}
	return List(always) + "; with a scope that names them: " + List(scoped)
}

// appliesWhere reports whether a superadmin has named an organization, or actor.Global, that the action can be in.
func (r rule) appliesWhere(a *actor.Actor) bool {
	return r.anywhere || !r.global && a.OrganizationID != "" || (r.global || r.either) && a.Globally
}

// organizationNeeded returns the error for a superadmin who has not named where to act.
func organizationNeeded(a *actor.Actor, action Action) error {
	e := fault.New(fault.RequestOrganizationNeeded, "The role %s acts in no organization by itself; name the one to %s "+
		"in.", a.Role, action)
	if a.Globally {
		e.Message = fmt.Sprintf("Global is not an organization; name the one to %s in.", action)
	}
	if table[action].global {
		e.Message = fmt.Sprintf("To %s, name %s; otherwise name the organization that it is about.", action, actor.Global)
	}
	if table[action].either {
		e.Message = fmt.Sprintf("To %s, name their organization, or %s for superadmins' own.", action, actor.Global)
	}
	e.Description = "Send Slipway-Organization with the id or slug of an organization; for a socket, organization in " +
		"connection_init."
	return e
}

// List returns the names of roles with commas between them.
func List(roles []actor.Role) string {
	names := make([]string, len(roles))
	for i, role := range roles {
		names[i] = string(role)
	}
	return strings.Join(names, ", ")
}
