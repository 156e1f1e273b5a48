// Package catalog has what can be deployed and where it is: module definitions, their published versions
// and their instances.
package catalog

import (
	"context"
	"regexp"

	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/inputprop"
	"slipway/internal/journal"
	"slipway/internal/store"
)

// The kinds of module versions: what carries a deployment of one out.
const (
	KindECS       = "aws:ecs"
	KindTerraform = "terraform"
)

// Kinds are all kinds.
var Kinds = []string{KindECS, KindTerraform}

// Service reads and writes module definitions, versions and instances.
type Service struct {
	Store   *store.Store
	Journal *journal.Journal
	Schemas SchemaChecker
}

// SchemaChecker checks the inputs of a module version before it is published.
type SchemaChecker interface {
	// Check returns every violation of the rules that take several fields, a pattern or a template, and
	// warnings; pointers start with at. The error is that of a look-up.
	Check(ctx context.Context, list []inputprop.Property, at string) ([]fault.Violation, []inputprop.Warning, error)
}

// editing is the action of changing the modules of an owner: global ones where the actor acts in no
// organization.
func editing(a *actor.Actor) access.Action {
	if a != nil && a.OrganizationID == "" {
		return access.EditGlobalModules
	}
	return access.EditModules
}

const maxModuleType = 200 - len("$ref:")

// moduleType is the form of a type, which is what may follow $ref:.
var moduleType = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*([:/.][A-Za-z0-9_-]+)*$`)
