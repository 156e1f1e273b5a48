package catalog

import (
	"context"

	"github.com/Masterminds/semver/v3"

	"slipway/ent"
	"slipway/ent/moduleversion"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/data/journal"
	"slipway/internal/data/page"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/module"
	"slipway/internal/pure/output"
	"slipway/internal/service/access"
	"slipway/internal/service/defaults"
)

// Version returns one module version, or ModuleVersionNotFound; to anonymous callers those of the public catalogue.
func (s *Service) Version(ctx context.Context, versionID string) (*record.ModuleVersion, error) {
	if err := access.Check(actor.From(ctx), access.ReadCatalog, fault.RequestForbidden); err != nil {
		return nil, err
	}
	return s.versions(ctx).ByID(ctx, versionID, fault.ModuleVersionNotFound)
}

// VersionsByID returns the versions of the ids that there are and that the actor may see, in no order.
func (s *Service) VersionsByID(ctx context.Context, ids []string) ([]*record.ModuleVersion, error) {
	if err := access.Check(actor.From(ctx), access.ReadCatalog, fault.RequestForbidden); err != nil {
		return nil, err
	}
	return s.versions(ctx).ByIDs(ctx, ids)
}

// VersionsOf returns a page of the versions of each definition.
func (s *Service) VersionsOf(
	ctx context.Context, definitionIDs []string, args page.Args,
) (map[string]*page.ModuleVersionConnection, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.ReadCatalog, fault.RequestForbidden); err != nil {
		return nil, err
	}
	return page.ReadEach(ctx, s.versions(ctx), page.Parents{
		List: "versions", Viewer: store.Scope(a),
		Column: moduleversion.FieldModuleDefinitionID, IDs: definitionIDs,
	}, args, func(v *record.ModuleVersion) string { return v.ModuleDefinitionID })
}

// versions returns the versions that the actor may see: anonymous callers those of global ACTIVE definitions.
func (s *Service) versions(ctx context.Context) record.Query[record.ModuleVersion] {
	all := record.ModuleVersions.In(s.Store)
	if actor.From(ctx).IsAnonymous() {
		return all.Where(ofPublic)
	}
	return all
}

// ofPublic keeps the versions of global ACTIVE definitions.
var ofPublic = record.Where(`EXISTS (SELECT 1 FROM "module_definitions" AS "public"
	WHERE "public"."id" = "module_versions"."module_definition_id"
	AND "public"."organization_id" IS NULL AND "public"."status" = 'ACTIVE')`)

// PublishVersion publishes a version of a definition, which may become the latest, and warns of what may
// not be meant. It fails with ModuleVersionRuleBroken, and ModuleVersionTaken if the version was published
// before.
func (s *Service) PublishVersion(
	ctx context.Context, in module.NewVersion,
) (*ent.ModuleVersion, []inputprop.Warning, error) {
	version, inputs, violations := in.Check()
	if len(violations) > 0 {
		return nil, nil, fault.Invalid(fault.RequestInvalid, violations...)
	}
	definition, err := s.ownDefinition(ctx, in.DefinitionID, publishing)
	if err != nil {
		return nil, nil, err
	}

	broken, warnings, err := s.Schemas.Check(ctx, inputs, "/inputs")
	if err != nil {
		return nil, nil, err
	}
	if len(broken) > 0 {
		return nil, nil, fault.Invalid(fault.ModuleVersionRuleBroken, broken...)
	}

	remembered, err := s.Schemas.CheckRemembered(ctx, in.DefinitionID, inputs, "/inputs")
	if err != nil {
		return nil, nil, err
	}

	warnings = append(warnings, remembered...)
	outputs, err := output.NewColumn(in.Outputs)
	if err != nil {
		return nil, nil, err
	}

	var published *ent.ModuleVersion
	versionID := s.Journal.NewID(id.ModuleVersion)
	err = s.Journal.Write(ctx, "publishModuleVersion", func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
		e.ObjectID = versionID
		e.Changes = map[string]any{"moduleDefinitionId": in.DefinitionID, "version": in.Version, "deploymentType": in.Kind}
		// The update comes first: it locks the definition, so that two publishers cannot both read the
		// same latest version.
		d, err := tx.ModuleDefinition.UpdateOneID(in.DefinitionID).SetUpdatedAt(e.At).Save(ctx)
		if err != nil {
			return err
		}
		if published, err = tx.ModuleVersion.Create().
			SetID(versionID).SetNillableOrganizationID(definition.OrganizationID).SetCreatedAt(e.At).SetUpdatedAt(e.At).
			SetModuleDefinitionID(in.DefinitionID).SetVersion(in.Version).SetKind(in.Kind).
			SetInputs(inputprop.NewListColumn(inputs)).SetUsesRecorded(true).SetOutputs(outputs).
			SetNillableSourceURL(in.SourceURL).SetNillableSourceRef(in.SourceRef).SetNillableSourcePath(in.SourcePath).
			Save(ctx); err != nil {
			return err
		}

		if owner := definition.OrganizationID; owner != nil {
			if err := defaults.RecordUses(ctx, tx, *owner, versionID, inputs); err != nil {
				return err
			}
		}

		if !later(version, d.LatestVersion) {
			return nil
		}
		return tx.ModuleDefinition.UpdateOneID(in.DefinitionID).
			SetLatestVersion(in.Version).SetLatestVersionID(versionID).Exec(ctx)
	})
	if store.IsUniqueViolation(err) {
		return nil, nil, fault.New(
			fault.ModuleVersionTaken, "Version %s of the module has been published before.", in.Version,
		).WithCause(err)
	}
	return published, warnings, err
}

// later reports whether a version comes after the latest one: by semantic versioning, but any release
// comes after any pre-release.
func later(v *semver.Version, latest *string) bool {
	if latest == nil {
		return true
	}
	l, err := semver.StrictNewVersion(*latest)
	if err != nil {
		return true
	}
	if release, lastRelease := v.Prerelease() == "", l.Prerelease() == ""; release != lastRelease {
		return release
	}
	return v.GreaterThan(l)
}
