package defaults

import (
	"context"

	"slipway/ent"
	"slipway/ent/moduleversion"
	"slipway/internal/inputprop"
)

// batch is how many module versions are looked at in one statement.
const batch = 200

// VersionsNaming gives the published module versions of the organization that take options from the
// definition of a givenId. Changing one is rare and versions are few, so the inputs are read rather than
// indexed.
func VersionsNaming(ctx context.Context, c *ent.ModuleVersionClient, givenID string) ([]*ent.ModuleVersion, error) {
	var naming []*ent.ModuleVersion
	for after := ""; ; {
		versions, err := c.Query().
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
				naming = append(naming, v)
			}
		}
		if len(versions) < batch {
			return naming, nil
		}
		after = versions[len(versions)-1].ID
	}
}
