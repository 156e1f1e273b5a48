package catalog

import (
	"context"

	"slipway/ent"
	"slipway/internal/base/fault"
)

// namedUsers is how many of those that use a definition are named if they keep its type from being changed.
const namedUsers = 20

// checkUnused returns ModuleDefinitionInUse where something holds a definition to its type. It comes after the update
// of the definition: that waits for instances that are being created, and lets others wait. No lock holds versions back
// that are published meanwhile: their inputs may refer to a type that is not there, so either order is right.
func (s *Service) checkUnused(ctx context.Context, tx *ent.Tx, d *ent.ModuleDefinition) error {
	users, err := s.Store.ModuleUsers(ctx, tx, d.ID, d.Type, namedUsers+1)
	if err != nil || len(users) == 0 {
		return err
	}

	named := make([]string, 0, len(users))
	for _, u := range users[:min(len(users), namedUsers)] {
		name := u.ID
		if d.OrganizationID == nil {
			name += " of " + u.OrganizationID
		}
		named = append(named, name)
	}

	if len(users) > namedUsers {
		named = append(named, "…")
	}
	f := fault.New(fault.ModuleDefinitionInUse, "The module definition %s has instances, or inputs of published versions "+
		"refer to the type %q.", d.ID, d.Type)
	f.Details = []fault.Section{{Title: "Used by", Render: fault.RenderList, Items: named}}

	return f
}

func typeTaken(moduleType string, cause error) error {
	return fault.New(fault.ModuleDefinitionTypeTaken, "There is a module definition of the type %q already.", moduleType).
		WithCause(cause)
}
