package defaults

import (
	"context"

	"slipway/ent"
	"slipway/ent/definitionuse"
	"slipway/ent/moduleversion"
	"slipway/internal/base/actor"
	"slipway/internal/base/meter"
	"slipway/internal/data/store"
	"slipway/internal/pure/inputprop"
)

// RecordUses records which definitions a version of an organization takes options from, for Delete and for those who
// ask whom a schema concerns. It is for the transaction that publishes the version; the version says by UsesRecorded
// that it was called.
func RecordUses(ctx context.Context, tx *ent.Tx, organizationID, versionID string, inputs []inputprop.Property) error {
	var uses []*ent.DefinitionUseCreate
	for _, givenID := range inputprop.DefinitionsNamed(inputs) {
		uses = append(uses, tx.DefinitionUse.Create().
			SetOrganizationID(organizationID).SetGivenID(givenID).SetModuleVersionID(versionID))
	}
	if len(uses) == 0 {
		return nil
	}
	return tx.DefinitionUse.CreateBulk(uses...).Exec(ctx)
}

// VersionsNaming returns the published module versions of the organization that take options from the definition of a
// givenId, the first most of them by their ids.
func VersionsNaming(ctx context.Context, s *store.Store, givenID string, most int) ([]*ent.ModuleVersion, error) {
	behind, err := unrecorded(ctx, s.Client.ModuleVersion).Exist(ctx)
	if err == nil && behind {
		err = s.Tx(ctx, store.Repeatable, recordLate)
	}
	if err != nil {
		return nil, err
	}
	ids, err := naming(ctx, s.Client.DefinitionUse, givenID, most)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return s.Client.ModuleVersion.Query().Where(moduleversion.IDIn(ids...)).Order(ent.Asc(moduleversion.FieldID)).All(ctx)
}

// naming returns the ids of the versions whose uses are recorded.
func naming(ctx context.Context, uses *ent.DefinitionUseClient, givenID string, most int) ([]string, error) {
	return uses.Query().Where(definitionuse.GivenID(givenID)).
		Order(ent.Asc(definitionuse.FieldModuleVersionID)).Limit(most).
		Select(definitionuse.FieldModuleVersionID).Strings(ctx)
}

// batch is how many versions are read at once to record their uses: their inputs may be large.
const batch = 20

// recordLate records the uses of the organization's versions that a program has published which does not record them:
// one of before, which serves beside this one while both are upgraded. The index is over them alone: to keep the time
// of the migration, and read what was published since, would take longer with history.
func recordLate(ctx context.Context, tx *ent.Tx) error {
	for {
		left, err := unrecorded(ctx, tx.ModuleVersion).Limit(batch).All(ctx)
		if err != nil || len(left) == 0 {
			return err
		}
		for _, v := range left {
			if err := recordVersion(ctx, tx, v); err != nil {
				return err
			}
		}
	}
}

// recordVersion records the uses of a version, unless another transaction has.
func recordVersion(ctx context.Context, tx *ent.Tx, v *ent.ModuleVersion) error {
	n, err := tx.ModuleVersion.Update().Where(moduleversion.ID(v.ID), moduleversion.UsesRecorded(false)).
		SetUsesRecorded(true).Save(ctx)
	if err != nil || n == 0 {
		return err
	}
	inputs, err := v.Inputs.Properties(meter.Without(ctx)) // once for each version, whoever comes first
	if err != nil {
		return err
	}
	return RecordUses(ctx, tx, *v.OrganizationID, v.ID, inputs)
}

// unrecorded returns the organization's versions whose uses are not recorded.
func unrecorded(ctx context.Context, versions *ent.ModuleVersionClient) *ent.ModuleVersionQuery {
	return versions.Query().
		Where(moduleversion.OrganizationID(store.Scope(actor.From(ctx))), moduleversion.UsesRecorded(false))
}
