package catalog

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"slipway/ent"
	"slipway/ent/cloudservice"
	"slipway/ent/deployment"
	"slipway/ent/moduleinstance"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/meter"
	"slipway/internal/base/textrules"
	"slipway/internal/data/journal"
	"slipway/internal/data/page"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
	"slipway/internal/service/access"
	"slipway/internal/service/dependency"
)

// Instance returns one module instance, or ModuleInstanceNotFound.
func (s *Service) Instance(ctx context.Context, instanceID string) (*record.ModuleInstance, error) {
	if err := access.Check(actor.From(ctx), access.Read, fault.ModuleInstanceForbidden); err != nil {
		return nil, err
	}
	return record.ModuleInstances.In(s.Store).ByID(ctx, instanceID, fault.ModuleInstanceNotFound)
}

// InstanceByPath returns the module instance of a path, archived ones aside, or ModuleInstanceNotFound. It fails with
// RequestInvalid for a text of another form.
func (s *Service) InstanceByPath(ctx context.Context, path string) (*record.ModuleInstance, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.ModuleInstanceForbidden); err != nil {
		return nil, err
	}
	names, violations := textrules.Path("/path", path, "project", "environment", "instance")
	if len(violations) > 0 {
		return nil, fault.Invalid(fault.RequestInvalid, violations...)
	}
	return record.ModuleInstances.In(s.Store).
		Where(record.Equal(moduleinstance.FieldName, names[2]), record.IsNull(moduleinstance.FieldArchivedAt),
			inEnvironment(names[0], names[1], a.OrganizationID)).
		Only(ctx, "path", path, fault.ModuleInstanceNotFound)
}

// inEnvironment keeps the instances in the environment of the slugs of its project and its own.
func inEnvironment(project, environment, organizationID string) record.Condition {
	return record.Where(`"environment_id" = (SELECT "e"."id" FROM "environments" AS "e"
		JOIN "projects" AS "p" ON "p"."id" = "e"."project_id" AND "p"."organization_id" = ? AND "p"."archived_at" IS NULL
		WHERE "p"."slug" = ? AND "e"."slug" = ? AND "e"."organization_id" = ? AND "e"."archived_at" IS NULL)`,
		organizationID, project, environment, organizationID)
}

// InstancesByID returns the instances of the ids that there are, in no order.
func (s *Service) InstancesByID(ctx context.Context, ids []string) ([]*record.ModuleInstance, error) {
	return record.ModuleInstances.In(s.Store).ByIDs(ctx, ids)
}

// InstanceFilter has conditions on module instances; nil ones do not count.
type InstanceFilter struct {
	ProjectID          *string
	EnvironmentID      *string
	ModuleDefinitionID *string
	// Type is the type of the module.
	Type *string
	// Drift is the kind of its drift.
	Drift *moduleinstance.DriftKind `json:",omitempty"`
	// Search is a text that the name contains, in any case.
	Search *string `json:",omitempty"`
	// Archived has those kept that are archived, true, or those that are not.
	Archived bool `json:",omitempty"` // of which a cursor without it knows nothing
	// LiveModuleVersionID is the version whose release is live.
	LiveModuleVersionID *string `json:",omitempty"`
	// ByName has the list in the order of names, and not the newest first.
	ByName bool `json:",omitempty"`
}

// Instances returns a page of the organization's module instances.
func (s *Service) Instances(
	ctx context.Context, f InstanceFilter, args page.Args,
) (*page.ModuleInstanceConnection, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.ModuleInstanceForbidden); err != nil {
		return nil, err
	}
	list, err := s.instances(ctx, f)
	if err != nil {
		return nil, err
	}
	if list, err = list.Search(ctx, f.Search); err != nil {
		return nil, err
	}
	scope := page.Scope{List: "moduleInstances", Viewer: a.OrganizationID, Filter: f}
	return page.Read(ctx, list, args, scope)
}

// instances returns the instances that meet a filter, but for what it searches for, in its order.
func (s *Service) instances(
	ctx context.Context, f InstanceFilter,
) (list record.Query[record.ModuleInstance], err error) {
	list = record.ModuleInstances.In(s.Store).Where(f.conditions(actor.From(ctx).OrganizationID)...)
	if f.LiveModuleVersionID != nil {
		if list, err = s.liveOf(ctx, list, *f.LiveModuleVersionID); err != nil {
			return list, err
		}
	}
	if f.ByName {
		return list.ByName(), nil
	}
	return list, nil
}

// liveOf keeps the instances of a version's module in which a release of the version is live. To look at what is live
// in each instance of the module is work of the context's request.
func (s *Service) liveOf(
	ctx context.Context, list record.Query[record.ModuleInstance], versionID string,
) (record.Query[record.ModuleInstance], error) {
	own := actor.From(ctx).OrganizationID
	list = list.Where(
		record.Where(`"module_definition_id" = (SELECT "v"."module_definition_id" FROM "module_versions" AS "v"
			WHERE "v"."id" = ? AND ("v"."organization_id" = ? OR "v"."organization_id" IS NULL))`, versionID, own),
		record.IsSet(moduleinstance.FieldLiveDeploymentID, true),
	)
	n, err := list.Count(ctx)
	if err == nil {
		err = meter.Spend(ctx, meter.Surveyed, n)
	}
	return list.Where(record.Where(`EXISTS (SELECT 1 FROM "deployments" AS "d" WHERE "d"."id" = "live_deployment_id"
		AND "d"."organization_id" = ? AND "d"."module_version_id" = ?)`, own, versionID)), err
}

// InstanceParent is a kind of record that has a list of instances.
type InstanceParent struct {
	list, column string
	of           func(*record.ModuleInstance) string
}

// The parents of instances.
var (
	InEnvironment = InstanceParent{"environment.moduleInstances", moduleinstance.FieldEnvironmentID,
		func(i *record.ModuleInstance) string { return i.EnvironmentID }}
	OfDefinition = InstanceParent{"moduleDefinition.moduleInstances", moduleinstance.FieldModuleDefinitionID,
		func(i *record.ModuleInstance) string { return i.ModuleDefinitionID }}
)

// InstancesOf returns a page of the instances of each record of a kind, as a filter has them.
func (s *Service) InstancesOf(
	ctx context.Context, p InstanceParent, ids []string, f InstanceFilter, args page.Args,
) (map[string]*page.ModuleInstanceConnection, error) {
	list, err := s.instances(ctx, f)
	if err != nil {
		return nil, err
	}
	name := p.list
	if f.Archived {
		name += ".archived" // whose cursors are none of the other list
		f.Archived = false
	}
	return page.ReadEach(ctx, list, page.Parents{
		List: name, Viewer: actor.From(ctx).OrganizationID, Column: p.column, IDs: ids, Filter: page.FilterText(f),
		Search: f.Search,
	}, args, p.of)
}

func (f InstanceFilter) conditions(organizationID string) []record.Condition {
	list := record.All(slices.Concat(
		record.Given(record.Equal, moduleinstance.FieldProjectID, f.ProjectID),
		record.Given(record.Equal, moduleinstance.FieldEnvironmentID, f.EnvironmentID),
		record.Given(record.Equal, moduleinstance.FieldModuleDefinitionID, f.ModuleDefinitionID),
		record.Given(record.Equal, moduleinstance.FieldDriftKind, (*string)(f.Drift)),
	))
	list = append(list, record.IsSet(moduleinstance.FieldArchivedAt, f.Archived))
	if f.Type != nil {
		list = append(list, ofType(*f.Type, organizationID))
	}
	return list
}

// ofType keeps the instances of the module that a type stands for: the organization's own of that type, and the
// global one if it has none.
func ofType(moduleType, organizationID string) record.Condition {
	return record.Where(`"module_definition_id" IN (SELECT "t"."id" FROM "module_definitions" AS "t" WHERE "t"."type" = ?
		AND ("t"."organization_id" = ? OR "t"."organization_id" IS NULL AND NOT EXISTS (
			SELECT 1 FROM "module_definitions" AS "own" WHERE "own"."type" = ? AND "own"."organization_id" = ?)))`,
		moduleType, organizationID, moduleType, organizationID)
}

// NewInstance is a module instance to be created. The name has the form of a GivenId.
type NewInstance struct {
	EnvironmentID string `json:"environmentId"`
	DefinitionID  string `json:"moduleDefinitionId"`
	Name          string `json:"name"`
}

// CreateInstance creates an instance of a module in an environment. It fails with EnvironmentNotFound,
// EnvironmentArchived, ModuleDefinitionNotFound and, where the environment has an instance of the name,
// ModuleInstanceNameTaken.
func (s *Service) CreateInstance(ctx context.Context, in NewInstance) (*ent.ModuleInstance, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.ModuleInstanceForbidden); err != nil {
		return nil, err
	}
	if violations := textrules.GivenID("/name", in.Name); len(violations) > 0 {
		return nil, fault.Invalid(fault.RequestInvalid, violations...)
	}
	if _, err := s.Definition(ctx, in.DefinitionID); err != nil {
		return nil, err
	}

	var created *ent.ModuleInstance
	instanceID := s.Journal.NewID(id.ModuleInstance)
	err := s.Journal.Write(store.Creating(ctx), "createModuleInstance",
		func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
			environment, err := store.Find(ctx, tx.Environment.Get, id.Environment, in.EnvironmentID, fault.EnvironmentNotFound)
			if err != nil {
				return err
			}
			place := actor.Place{ProjectID: environment.ProjectID, EnvironmentID: in.EnvironmentID}
			if err := access.CheckIn(a, access.CreateInstances, place, fault.ModuleInstanceForbidden); err != nil {
				return err
			}
			if environment.ArchivedAt != nil {
				return fault.New(fault.EnvironmentArchived, "The environment %q is archived.", environment.Slug)
			}

			e.ObjectID, e.Changes = instanceID, in
			created, err = tx.ModuleInstance.Create().
				SetID(instanceID).SetOrganizationID(a.OrganizationID).SetCreatedAt(e.At).SetUpdatedAt(e.At).
				SetProjectID(environment.ProjectID).SetEnvironmentID(in.EnvironmentID).
				SetModuleDefinitionID(in.DefinitionID).SetName(in.Name).
				SetNameKey(textrules.NameKey(in.Name)).SetSearchText(textrules.SearchText(in.Name)).
				Save(ctx)

			return err
		})
	if store.IsUniqueViolation(err) {
		return nil, nameTaken(in.Name).WithCause(err)
	}
	return created, err
}

func nameTaken(name string) *fault.Error {
	return fault.New(fault.ModuleInstanceNameTaken, "The environment has an instance with the name %q.", name)
}

// InstancePatch has the fields to change; nil ones stay.
type InstancePatch struct {
	Name *string `json:"name,omitempty"`
	// OwnInputs are the ids of the inputs, and "artifact", that a promotion leaves as they are.
	OwnInputs *[]string `json:"ownInputs,omitempty"`
	// OnFailure is what happens when a deployment fails.
	OnFailure *moduleinstance.OnFailure `json:"onFailure,omitempty"`
	// Violations are what was already found wrong while the input was read.
	Violations []fault.Violation `json:"-"`
}

// UpdateInstance changes an instance. It fails with ModuleInstanceNotFound, and ModuleInstanceNameTaken if another
// of its environment that is not archived has the name.
func (s *Service) UpdateInstance(ctx context.Context, instanceID string, p InstancePatch) (*ent.ModuleInstance, error) {
	violations := p.Violations
	if p.Name != nil {
		violations = append(violations, textrules.GivenID("/name", *p.Name)...)
	}
	violations = append(violations, p.checkOwnInputs()...)
	if len(violations) > 0 {
		return nil, fault.Invalid(fault.RequestInvalid, violations...)
	}

	var updated *ent.ModuleInstance
	err := s.Journal.Write(ctx, "updateModuleInstance",
		func(ctx context.Context, tx *ent.Tx, e *journal.Entry) (err error) {
			if updated, err = ownInstance(ctx, tx, instanceID); err != nil {
				return err
			}
			if e.SkipAudit = p.Name == nil && p.OwnInputs == nil && p.OnFailure == nil; e.SkipAudit {
				return nil
			}

			if p.OnFailure != nil && *p.OnFailure != moduleinstance.OnFailureNOTHING {
				if err := store.RequireProgram(ctx, tx, store.ReleaseControl); err != nil {
					return err
				}
			}

			e.ObjectID, e.Changes = instanceID, p
			name := *cmp.Or(p.Name, &updated.Name)
			u := updated.Update().SetName(name).SetNameKey(textrules.NameKey(name)).
				SetSearchText(textrules.SearchText(name)).SetNillableOnFailure(p.OnFailure).SetUpdatedAt(e.At)
			if p.OwnInputs != nil {
				u.SetOwnInputs(*p.OwnInputs)
			}
			updated, err = u.Save(ctx)

			return err
		})
	if store.IsUniqueViolation(err) {
		return nil, nameTaken(*p.Name).WithCause(err)
	}
	return updated, err
}

// maxOwnInputs is how many inputs an instance may keep of its own.
const maxOwnInputs = 1000

// checkOwnInputs returns what is wrong with the ids of an instance's own inputs. Which there are depends on the version
// that is promoted.
func (p InstancePatch) checkOwnInputs() (violations []fault.Violation) {
	if p.OwnInputs == nil {
		return nil
	}
	list := *p.OwnInputs
	if len(list) > maxOwnInputs {
		return []fault.Violation{
			{
				Pointer: "/ownInputs", Rule: "max_items",
				Message: fmt.Sprintf("must name at most %d inputs, found %d", maxOwnInputs, len(list)),
			},
		}
	}

	seen := map[string]bool{}
	for i, name := range list {
		at := fmt.Sprintf("/ownInputs/%d", i)
		violations = append(violations, textrules.Name(at, name)...)
		if seen[name] {
			violations = append(
				violations,
				fault.Violation{Pointer: at, Rule: "unique", Message: fmt.Sprintf("must be named once, found %.80q again", name)},
			)
		}
		seen[name] = true
	}

	return violations
}

// DeleteInstance deletes an instance that never had a deployment. It fails with ModuleInstanceNotFound,
// ModuleInstanceHasDeployments, if a service of the cloud belongs to it with ModuleInstanceNotEmpty, and where
// others refer to it with ModuleInstanceInUse.
func (s *Service) DeleteInstance(ctx context.Context, instanceID string) (*ent.ModuleInstance, error) {
	var deleted *ent.ModuleInstance
	err := s.Journal.Write(store.StoppingCreation(ctx), "deleteModuleInstance",
		func(ctx context.Context, tx *ent.Tx, e *journal.Entry) (err error) {
			if deleted, err = ownInstance(ctx, tx, instanceID); err != nil {
				return err
			}
			deployed, err := tx.Deployment.Query().Where(deployment.ModuleInstanceID(instanceID)).Exist(ctx)
			if err != nil {
				return err
			}
			if deployed {
				return fault.New(
					fault.ModuleInstanceHasDeployments, "The module instance %q has had deployments; archive it instead.",
					deleted.Name,
				)
			}

			services, err := tx.CloudService.Query().Where(cloudservice.ModuleInstanceID(instanceID)).
				Limit(1).Select(cloudservice.FieldServiceArn).Strings(ctx)
			if err != nil {
				return err
			}

			if len(services) > 0 {
				f := fault.New(
					fault.ModuleInstanceNotEmpty, "The service %.200q belongs to the module instance %q.", services[0], deleted.Name,
				)
				f.Metadata = map[string]any{"serviceArn": services[0]}
				return f
			}

			if err := dependency.CheckUnused(ctx, s.Store, tx, []string{instanceID}); err != nil {
				return err
			}
			e.ObjectID, e.Changes = instanceID, map[string]any{"name": deleted.Name}
			return tx.ModuleInstance.DeleteOne(deleted).Exec(ctx)
		})
	if err != nil {
		return nil, err
	}
	return deleted, nil
}

// ownInstance returns an instance that the actor may change.
func ownInstance(ctx context.Context, tx *ent.Tx, instanceID string) (*ent.ModuleInstance, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.ModuleInstanceForbidden); err != nil {
		return nil, err
	}
	i, err := store.Find(ctx, tx.ModuleInstance.Get, id.ModuleInstance, instanceID, fault.ModuleInstanceNotFound)
	if err != nil {
		return nil, err
	}
	place := actor.Place{ProjectID: i.ProjectID, EnvironmentID: i.EnvironmentID}
	return i, access.CheckIn(a, access.ManageInstances, place, fault.ModuleInstanceForbidden)
}
