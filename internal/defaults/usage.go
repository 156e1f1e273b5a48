package defaults

import (
	"context"

	"slipway/ent"
	"slipway/ent/moduleversion"
	"slipway/internal/inputprop"
)

// batch is how many module versions are looked at in one statement.
const batch = 200

// usersOf gives the published module versions of the organization that name the definition of a
// givenId. Deleting is rare and versions are few, so the inputs are read rather than indexed.
func usersOf(ctx context.Context, tx *ent.Tx, givenID string) ([]string, error) {
	var users []string
	for after := ""; ; {
		versions, err := tx.ModuleVersion.Query().
			Where(moduleversion.IDGT(after), moduleversion.OrganizationIDNotNil()).
			Order(ent.Asc(moduleversion.FieldID)).Limit(batch).All(ctx)
		if err != nil {
			return nil, err
		}
		for _, v := range versions {
			inputs, err := v.Inputs.Properties()
			if err != nil {
				return nil, err
			}
			if inputprop.NamesDefinition(inputs, givenID) {
				users = append(users, v.ID)
			}
		}
		if len(versions) < batch {
			return users, nil
		}
		after = versions[len(versions)-1].ID
	}
}
