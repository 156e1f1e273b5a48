package account

import (
	"context"
	"fmt"
	"slices"

	"slipway/ent"
	"slipway/ent/environment"
	"slipway/ent/moduledefinition"
	"slipway/ent/project"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/data/store"
	"slipway/internal/service/access"
)

// maxScoped is how many projects a scope may name, how many environments and how many module definitions.
const maxScoped = 100

// ScopeOf returns the scope of the given projects, environments and module definitions, each once.
func ScopeOf(projects, environments, definitions []string) *actor.Scope {
	return &actor.Scope{
		Projects: distinct(projects), Environments: distinct(environments), ModuleDefinitions: distinct(definitions),
	}
}

func distinct(ids []string) []string {
	ids = append([]string{}, ids...)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// checkScope returns what is wrong with a scope, as far as that can be said without the database. One that names
// nothing is refused, because its author may mean the whole organization.
func checkScope(scope *actor.Scope) []fault.Violation {
	if scope == nil {
		return nil
	}
	var violations fault.Violations
	if len(scope.IDs()) == 0 {
		violations.Add("/scope", "min_items", "must name at least 1 project, environment or module definition, found "+
			"none; without a scope the token may act in the whole organization")
	}
	for _, list := range []struct {
		pointer string
		ids     []string
	}{
		{"/scope/projectIds", scope.Projects}, {"/scope/environmentIds", scope.Environments},
		{"/scope/moduleDefinitionIds", scope.ModuleDefinitions},
	} {
		if n := len(list.ids); n > maxScoped {
			violations.Add(list.pointer, "max_items", "must have at most %d items, found %d", maxScoped, n)
		}
	}
	return violations.All("")
}

// checkNewScope returns an error if the scope of a new token names what does not exist, or is not within the actor's.
func checkNewScope(ctx context.Context, tx *ent.Tx, scope *actor.Scope) error {
	if scope == nil {
		return access.Check(actor.From(ctx), access.ManageTokens, fault.TokenForbidden)
	}

	for _, e := range scope.Environments {
		if err := store.CheckID(id.Environment, e, fault.EnvironmentNotFound); err != nil {
			return err
		}
	}

	for _, p := range scope.Projects {
		if err := store.CheckID(id.Project, p, fault.ProjectNotFound); err != nil {
			return err
		}
	}

	if err := checkModules(ctx, tx, scope.ModuleDefinitions); err != nil {
		return err
	}

	known, err := tx.Project.Query().Where(project.IDIn(scope.Projects...)).IDs(ctx)
	if err != nil {
		return err
	}

	for _, p := range scope.Projects {
		if !slices.Contains(known, p) {
			return store.NotFound(p, fault.ProjectNotFound)
		}
	}

	places, err := environments(ctx, tx, scope)
	if err != nil {
		return err
	}

	for _, in := range places {
		if in.ProjectID == "" {
			return store.NotFound(in.EnvironmentID, fault.EnvironmentNotFound)
		}
	}

	return checkWithin(actor.From(ctx), scope, places)
}

// checkModules returns an error if one of the ids is not that of a module definition of the organization.
func checkModules(ctx context.Context, tx *ent.Tx, ids []string) error {
	for _, m := range ids {
		if err := store.CheckID(id.ModuleDefinition, m, fault.ModuleDefinitionNotFound); err != nil {
			return err
		}
	}
	if len(ids) == 0 {
		return nil
	}

	found, err := tx.ModuleDefinition.Query().Where(moduledefinition.IDIn(ids...)).All(ctx)
	if err != nil {
		return fmt.Errorf("module definitions of a scope: %w", err)
	}
	owners := make(map[string]*string, len(found))
	for _, d := range found {
		owners[d.ID] = d.OrganizationID
	}

	for _, m := range ids {
		owner, ok := owners[m]
		if !ok {
			return store.NotFound(m, fault.ModuleDefinitionNotFound)
		}
		if owner == nil {
			return fault.Invalid(fault.RequestInvalid, fault.Violation{
				Pointer: "/scope/moduleDefinitionIds", Rule: "global",
				Message: fmt.Sprintf("must be the organization's, found %s, which is global: only superadmins publish it", m),
			})
		}
	}
	return nil
}

// checkStoredScope returns an error if the scope of a token is not within the actor's.
func checkStoredScope(ctx context.Context, tx *ent.Tx, scope *actor.Scope) error {
	a := actor.From(ctx)
	if scope == nil || a.Scope == nil {
		return access.Check(a, access.ManageTokens, fault.TokenForbidden)
	}
	places, err := environments(ctx, tx, scope)
	if err != nil {
		return err
	}
	return checkWithin(a, scope, places)
}

// environments returns the places of the environments of a scope. An environment that does not exist has no project.
func environments(ctx context.Context, tx *ent.Tx, scope *actor.Scope) ([]actor.Place, error) {
	found, err := tx.Environment.Query().Where(environment.IDIn(scope.Environments...)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("environments of a scope: %w", err)
	}
	projects := make(map[string]string, len(found))
	for _, e := range found {
		projects[e.ID] = e.ProjectID
	}
	places := make([]actor.Place, len(scope.Environments))
	for i, e := range scope.Environments {
		places[i] = actor.Place{ProjectID: projects[e], EnvironmentID: e}
	}
	return places, nil
}

// checkWithin returns an error if a project of the scope, one of the environments or one of the module definitions is
// not within the actor's scope.
func checkWithin(a *actor.Actor, scope *actor.Scope, environments []actor.Place) error {
	places := environments
	for _, p := range scope.Projects {
		places = append(places, actor.Place{ProjectID: p})
	}
	for _, m := range scope.ModuleDefinitions {
		places = append(places, actor.Place{ModuleDefinitionID: m})
	}
	for _, in := range places {
		if err := access.CheckIn(a, access.ManageTokens, in, fault.TokenForbidden); err != nil {
			return err
		}
	}
	return nil
}
