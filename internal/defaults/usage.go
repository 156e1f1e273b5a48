package defaults

import (
	"context"

	"entgo.io/ent/dialect/sql"

	"slipway/ent"
	"slipway/ent/moduleversion"
	"slipway/ent/predicate"
	"slipway/internal/inputprop"
)

// batch is how many module versions are looked at in one statement: their inputs may be large.
const batch = 20

// VersionsNaming returns the published module versions of the organization that take options from the
// definition of a givenId, the first most of them. Their inputs are JSON as inputprop writes it, so the
// database leaves out those that do not have the givenId anywhere.
func VersionsNaming(ctx context.Context, c *ent.ModuleVersionClient, givenID string, most int) ([]*ent.ModuleVersion, error) {
	mentions := predicate.ModuleVersion(func(s *sql.Selector) {
		s.Where(sql.P(func(b *sql.Builder) {
			b.WriteString("CAST(").Ident(s.C(moduleversion.FieldInputs)).WriteString(" AS TEXT) LIKE ").
				Arg(`%"` + inputprop.ParamGivenID + `":"` + givenID + `"%`)
		}))
	})
	var naming []*ent.ModuleVersion
	for after := ""; ; {
		versions, err := c.Query().
			Where(moduleversion.IDGT(after), moduleversion.OrganizationIDNotNil(), mentions).
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
			if len(naming) == most {
				return naming, nil
			}
		}
		if len(versions) < batch {
			return naming, nil
		}
		after = versions[len(versions)-1].ID
	}
}
