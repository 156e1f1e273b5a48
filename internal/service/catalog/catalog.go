// Package catalog has what can be deployed and where it is: module definitions, their published versions
// and their instances.
package catalog

import (
	"context"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/journal"
	"slipway/internal/data/store"
	"slipway/internal/pure/inputprop"
	"slipway/internal/service/access"
)

// Service reads and writes module definitions, versions and instances.
type Service struct {
	Store   *store.Store
	Journal *journal.Journal
	Schemas SchemaChecker
}

// SchemaChecker checks the inputs of a module version before it is published, and what instances remember of values.
type SchemaChecker interface {
	// Check returns every violation of the rules that take several fields, a pattern or a template, and
	// warnings; pointers start with at. The error is that of a look-up.
	Check(ctx context.Context, list []inputprop.Property, at string) ([]fault.Violation, []inputprop.Warning, error)
	// CheckRemembered warns of the inputs of another version of a module that refuse what its instances remember, so
	// that it binds nothing any more; pointers start with at.
	CheckRemembered(
		ctx context.Context, definitionID string, list []inputprop.Property, at string,
	) ([]inputprop.Warning, error)
	// CheckShadowed warns where instances remember that they choose instances of the global module of a type, which
	// one of the organization goes before; at is the pointer of the type.
	CheckShadowed(ctx context.Context, moduleType, at string) ([]inputprop.Warning, error)
}

// editing is the action of changing the modules of an owner: global ones if the actor acts in no
// organization.
func editing(a *actor.Actor) access.Action {
	if a != nil && a.OrganizationID == "" {
		return access.ManageGlobalModules
	}
	return access.ManageModules
}

// publishing is the action of publishing versions of the modules of an owner: global ones if the actor acts in no
// organization.
func publishing(a *actor.Actor) access.Action {
	if action := editing(a); action == access.ManageGlobalModules {
		return action
	}
	return access.PublishModules
}
