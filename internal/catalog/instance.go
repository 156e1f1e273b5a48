package catalog

import (
	"context"
	"slices"

	"slipway/ent"
	"slipway/ent/moduleinstance"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/id"
	"slipway/internal/journal"
	"slipway/internal/page"
	"slipway/internal/record"
	"slipway/internal/store"
	"slipway/internal/textrules"
)

// Instance returns one module instance, or ModuleInstanceNotFound.
func (s *Service) Instance(ctx context.Context, instanceID string) (*record.ModuleInstance, error) {
	if err := access.Check(actor.From(ctx), access.Read, fault.ModuleInstanceForbidden); err != nil {
		return nil, err
	}
	return record.ModuleInstances.In(s.Store).ByID(ctx, instanceID, fault.ModuleInstanceNotFound)
}

// InstanceByPath returns the module instance of a path, or ModuleInstanceNotFound. It fails with RequestInvalid for a text
// of another form.
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
		Where(record.Equal(moduleinstance.FieldName, names[2]), inEnvironment(names[0], names[1], a.OrganizationID)).
		Only(ctx, "path", path, fault.ModuleInstanceNotFound)
}

// inEnvironment keeps the instances in the environment of the slugs of its project and its own.
func inEnvironment(project, environment, organizationID string) record.Condition {
	return record.Where(`"environment_id" = (SELECT "e"."id" FROM "environments" AS "e"
		JOIN "projects" AS "p" ON "p"."id" = "e"."project_id" AND "p"."organization_id" = ?
		WHERE "p"."slug" = ? AND "e"."slug" = ? AND "e"."organization_id" = ?)`, organizationID, project, environment, organizationID)
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
	Drift *moduleinstance.DriftKind
}

// Instances returns a page of the organization's module instances.
func (s *Service) Instances(ctx context.Context, f InstanceFilter, args page.Args) (*page.ModuleInstanceConnection, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.ModuleInstanceForbidden); err != nil {
		return nil, err
	}
	list := record.ModuleInstances.In(s.Store).Where(f.conditions(a.OrganizationID)...)
	scope := page.Scope{List: "moduleInstances", Viewer: a.OrganizationID, Filter: f}
	return page.Read(ctx, list, args, scope)
}

// InstancesOf returns a page of the instances in each environment.
func (s *Service) InstancesOf(ctx context.Context, environmentIDs []string, args page.Args) (map[string]*page.ModuleInstanceConnection, error) {
	return page.ReadEach(ctx, record.ModuleInstances.In(s.Store), page.Parents{
		List: "environment.moduleInstances", Viewer: actor.From(ctx).OrganizationID,
		Column: moduleinstance.FieldEnvironmentID, IDs: environmentIDs,
	}, args, func(i *record.ModuleInstance) string { return i.EnvironmentID })
}

func (f InstanceFilter) conditions(organizationID string) []record.Condition {
	list := record.All(slices.Concat(
		record.Given(record.Equal, moduleinstance.FieldProjectID, f.ProjectID),
		record.Given(record.Equal, moduleinstance.FieldEnvironmentID, f.EnvironmentID),
		record.Given(record.Equal, moduleinstance.FieldModuleDefinitionID, f.ModuleDefinitionID),
		record.Given(record.Equal, moduleinstance.FieldDriftKind, (*string)(f.Drift)),
	))
	if f.Type != nil {
		list = append(list, ofType(*f.Type, organizationID))
	}
	return list
}

// ofType keeps the instances of the module that a type stands for: the organization's own of that type, and the
// global one where it has none.
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
// ModuleDefinitionNotFound and, where the environment has an instance of the name,
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
	get := s.Store.Client.Environment.Get
	environment, err := store.Find(ctx, get, id.Environment, in.EnvironmentID, fault.EnvironmentNotFound)
	if err != nil {
		return nil, err
	}
	place := actor.Place{ProjectID: environment.ProjectID, EnvironmentID: in.EnvironmentID}
	if err := access.CheckIn(a, access.CreateInstance, place, fault.ModuleInstanceForbidden); err != nil {
		return nil, err
	}
	var created *ent.ModuleInstance
	instanceID := s.Journal.NewID(id.ModuleInstance)
	err = s.Journal.Write(ctx, "createModuleInstance", func(ctx context.Context, tx *ent.Tx, e *journal.Entry) (err error) {
		e.ObjectID, e.Changes = instanceID, in
		created, err = tx.ModuleInstance.Create().
			SetID(instanceID).SetOrganizationID(a.OrganizationID).SetCreatedAt(e.At).SetUpdatedAt(e.At).
			SetProjectID(environment.ProjectID).SetEnvironmentID(in.EnvironmentID).
			SetModuleDefinitionID(in.DefinitionID).SetName(in.Name).
			Save(ctx)
		return err
	})
	if store.IsUniqueViolation(err) {
		return nil, fault.New(fault.ModuleInstanceNameTaken, "The environment has an instance with the name %q.", in.Name).WithCause(err)
	}
	return created, err
}
