package archive

import (
	"context"
	"time"

	"entgo.io/ent/dialect/sql"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/ent/environment"
	"slipway/ent/moduleinstance"
	"slipway/ent/predicate"
	"slipway/ent/project"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/data/store"
	"slipway/internal/service/access"
)

// ArchiveProject archives a project with its environments and their instances. It fails with ProjectNotFound, and where
// something is active or live there, or others refer to it, with DeploymentInProgress, ModuleInstanceStillLive and
// ModuleInstanceInUse.
func (s *Service) ArchiveProject(ctx context.Context, in Request) (*ent.Project, error) {
	return archive(ctx, s, projects, in)
}

// UnarchiveProject takes a project back into use. It fails with ProjectNotFound and ProjectSlugTaken.
func (s *Service) UnarchiveProject(ctx context.Context, projectID string) (*ent.Project, error) {
	return unarchive(ctx, s, projects, projectID)
}

// ArchiveEnvironment archives an environment with its instances. It fails as ArchiveProject does, with
// EnvironmentNotFound.
func (s *Service) ArchiveEnvironment(ctx context.Context, in Request) (*ent.Environment, error) {
	return archive(ctx, s, environments, in)
}

// UnarchiveEnvironment takes an environment back into use. It fails with EnvironmentNotFound, ProjectArchived and
// EnvironmentSlugTaken.
func (s *Service) UnarchiveEnvironment(ctx context.Context, environmentID string) (*ent.Environment, error) {
	return unarchive(ctx, s, environments, environmentID)
}

// ArchiveInstance archives a module instance. It fails as ArchiveProject does, with ModuleInstanceNotFound.
func (s *Service) ArchiveInstance(ctx context.Context, in Request) (*ent.ModuleInstance, error) {
	return archive(ctx, s, instances, in)
}

// UnarchiveInstance takes a module instance back into use. It fails with ModuleInstanceNotFound, EnvironmentArchived
// and ModuleInstanceNameTaken.
func (s *Service) UnarchiveInstance(ctx context.Context, instanceID string) (*ent.ModuleInstance, error) {
	return unarchive(ctx, s, instances, instanceID)
}

var projects = kind[ent.Project]{
	name: "Project", permission: access.ManageWorkspace, forbidden: fault.ProjectForbidden, taken: fault.ProjectSlugTaken,
	deployments: deployment.FieldProjectID, placed: moduleinstance.FieldProjectID,
	find: func(ctx context.Context, tx *ent.Tx, projectID string) (*ent.Project, error) {
		return store.Find(ctx, tx.Project.Get, id.Project, projectID, fault.ProjectNotFound)
	},
	state: func(p *ent.Project) state {
		return state{id: p.ID, name: p.Slug, place: actor.Place{ProjectID: p.ID}, at: p.ArchivedAt, with: p.ArchivedWith}
	},
	countWithin: func(ctx context.Context, tx *ent.Tx, id string) (int, error) {
		in, err := tx.Environment.Query().Where(environment.ProjectID(id)).Count(ctx)
		if err != nil {
			return 0, err
		}
		placed, err := tx.ModuleInstance.Query().Where(moduleinstance.ProjectID(id)).Count(ctx)
		return in + placed, err
	},
	checkAbove: func(context.Context, *ent.Tx, *ent.Project) error { return nil },
	set: func(ctx context.Context, tx *ent.Tx, p *ent.Project, m mark) (*ent.Project, error) {
		if err := m.environments(ctx, tx, environment.ProjectID(p.ID)); err != nil {
			return nil, err
		}
		if err := m.instances(ctx, tx, moduleinstance.ProjectID(p.ID)); err != nil {
			return nil, err
		}
		return marked(p.Update(), m).Save(ctx)
	},
}

var environments = kind[ent.Environment]{
	name: "Environment", permission: access.ManageWorkspace, forbidden: fault.EnvironmentForbidden,
	taken:       fault.EnvironmentSlugTaken,
	deployments: deployment.FieldEnvironmentID, placed: moduleinstance.FieldEnvironmentID,
	find: func(ctx context.Context, tx *ent.Tx, environmentID string) (*ent.Environment, error) {
		return store.Find(ctx, tx.Environment.Get, id.Environment, environmentID, fault.EnvironmentNotFound)
	},
	state: func(e *ent.Environment) state {
		return state{
			id: e.ID, name: e.Slug, place: actor.Place{ProjectID: e.ProjectID, EnvironmentID: e.ID}, at: e.ArchivedAt,
			with: e.ArchivedWith,
		}
	},
	countWithin: func(ctx context.Context, tx *ent.Tx, id string) (int, error) {
		return tx.ModuleInstance.Query().Where(moduleinstance.EnvironmentID(id)).Count(ctx)
	},
	checkAbove: func(ctx context.Context, tx *ent.Tx, e *ent.Environment) error {
		p, err := tx.Project.Get(ctx, e.ProjectID)
		if err == nil && p.ArchivedAt != nil {
			err = fault.New(fault.ProjectArchived, "The project %q, which the environment is in, is archived.", p.Slug)
		}
		return err
	},
	set: func(ctx context.Context, tx *ent.Tx, e *ent.Environment, m mark) (*ent.Environment, error) {
		if err := m.instances(ctx, tx, moduleinstance.EnvironmentID(e.ID)); err != nil {
			return nil, err
		}
		return marked(e.Update(), m).Save(ctx)
	},
}

var instances = kind[ent.ModuleInstance]{
	name: "ModuleInstance", permission: access.ManageInstances, forbidden: fault.ModuleInstanceForbidden,
	taken:       fault.ModuleInstanceNameTaken,
	deployments: deployment.FieldModuleInstanceID, placed: moduleinstance.FieldID,
	find: func(ctx context.Context, tx *ent.Tx, instanceID string) (*ent.ModuleInstance, error) {
		return store.Find(ctx, tx.ModuleInstance.Get, id.ModuleInstance, instanceID, fault.ModuleInstanceNotFound)
	},
	state: func(i *ent.ModuleInstance) state {
		return state{
			id: i.ID, name: i.Name, place: actor.Place{ProjectID: i.ProjectID, EnvironmentID: i.EnvironmentID}, at: i.ArchivedAt,
			with: i.ArchivedWith,
		}
	},
	checkAbove: func(ctx context.Context, tx *ent.Tx, i *ent.ModuleInstance) error {
		e, err := tx.Environment.Get(ctx, i.EnvironmentID)
		if err == nil && e.ArchivedAt != nil {
			err = fault.New(
				fault.EnvironmentArchived, "The environment %q, which the module instance is in, is archived.", e.Slug,
			)
		}
		return err
	},
	set: func(ctx context.Context, _ *ent.Tx, i *ent.ModuleInstance, m mark) (*ent.ModuleInstance, error) {
		return marked(i.Update(), m).Save(ctx)
	},
}

// update is an update of records that can be archived.
type update[U any] interface {
	SetUpdatedAt(time.Time) U
	SetArchivedAt(time.Time) U
	SetArchivedWith(string) U
	ClearArchivedAt() U
	ClearArchivedWith() U
}

// marked sets in an update that records are archived, or no longer are.
func marked[U update[U]](u U, m mark) U {
	u = u.SetUpdatedAt(m.now)
	if m.at == nil {
		return u.ClearArchivedAt().ClearArchivedWith()
	}
	return u.SetArchivedAt(*m.at).SetArchivedWith(m.with)
}

// environments marks environments: those that nothing has archived, or that were archived with the record until now,
// and to unarchive those that were archived with it.
func (m mark) environments(ctx context.Context, tx *ent.Tx, in predicate.Environment) error {
	return markWithin(tx.Environment.Update(), in, m).Exec(ctx)
}

// instances is environments for module instances.
func (m mark) instances(ctx context.Context, tx *ent.Tx, in predicate.ModuleInstance) error {
	return markWithin(tx.ModuleInstance.Update(), in, m).Exec(ctx)
}

// manyUpdate is an update of those of many records that meet conditions.
type manyUpdate[U, P any] interface {
	update[U]
	Where(...P) U
}

func markWithin[U manyUpdate[U, P], P ~func(*sql.Selector)](u U, in P, m mark) U {
	switch {
	case m.at == nil:
		return marked(u.Where(in, P(sql.FieldEQ(project.FieldArchivedWith, m.with))), m)
	case m.former != "":
		// It stays archived since it was, from now on with another.
		return u.Where(in, P(sql.FieldEQ(project.FieldArchivedWith, m.former))).SetUpdatedAt(m.now).SetArchivedWith(m.with)
	}
	return marked(u.Where(in, P(sql.FieldIsNull(project.FieldArchivedAt))), m)
}
