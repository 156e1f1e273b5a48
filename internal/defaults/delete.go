package defaults

import (
	"context"

	"slipway/ent"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/journal"
	"slipway/internal/store"
)

// namedUsers is how many of those that use a definition are named where they keep it from being deleted.
const namedUsers = 100

// Delete deletes a definition and returns it as it was. It fails with DefaultValueDefinitionInUse where a published module version of
// the organization names it.
func (s *Service) Delete(ctx context.Context, definitionID string) (*ent.DefaultValueDefinition, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.DefaultValueDefinitionForbidden); err != nil {
		return nil, err
	}
	var deleted *ent.DefaultValueDefinition
	err := s.Journal.Write(ctx, "deleteDefaultValueDefinition", func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
		d, err := find(ctx, tx.DefaultValueDefinition, definitionID)
		if err != nil {
			return err
		}
		if err := access.Check(a, access.EditDefaults, fault.DefaultValueDefinitionForbidden); err != nil {
			return err
		}
		naming, err := VersionsNaming(ctx, tx.ModuleVersion, d.GivenID, namedUsers)
		if err != nil {
			return err
		}
		if len(naming) > 0 {
			users := make([]string, len(naming))
			for i, v := range naming {
				users[i] = v.ID
			}
			if len(users) == namedUsers {
				users = append(users, "…")
			}
			f := fault.New(fault.DefaultValueDefinitionInUse, "Published module versions name the default value definition %q.", d.GivenID)
			f.Details = []fault.Section{{Title: "Module versions", Render: fault.RenderList, Items: users}}
			return f
		}
		e.ObjectID, e.Changes = definitionID, map[string]any{"givenId": d.GivenID}
		deleted, err = store.NotFoundAs(d, tx.DefaultValueDefinition.DeleteOne(d).Exec(ctx), definitionID, fault.DefaultValueDefinitionNotFound)
		return err
	})
	return deleted, err
}
