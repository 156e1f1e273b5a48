package workspace

import (
	"cmp"
	"context"

	"slipway/ent"
	"slipway/ent/environment"
	"slipway/ent/moduleinstance"
	entrule "slipway/ent/rule"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/textrules"
	"slipway/internal/data/journal"
	"slipway/internal/data/page"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
	"slipway/internal/service/access"
	"slipway/internal/service/rule"
)

// Environment returns one environment, or EnvironmentNotFound.
func (s *Service) Environment(ctx context.Context, environmentID string) (*record.Environment, error) {
	if err := access.Check(actor.From(ctx), access.Read, fault.EnvironmentForbidden); err != nil {
		return nil, err
	}
	return record.Environments.In(s.Store).ByID(ctx, environmentID, fault.EnvironmentNotFound)
}

// EnvironmentByPath returns the environment of a path, archived ones aside, or EnvironmentNotFound. It fails with
// RequestInvalid for a text of another form.
func (s *Service) EnvironmentByPath(ctx context.Context, path string) (*record.Environment, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.EnvironmentForbidden); err != nil {
		return nil, err
	}
	slugs, violations := textrules.Path("/path", path, "project", "environment")
	if len(violations) > 0 {
		return nil, fault.Invalid(fault.RequestInvalid, violations...)
	}
	return record.Environments.In(s.Store).
		Where(record.Equal(environment.FieldSlug, slugs[1]), unarchived, inProject(slugs[0], a.OrganizationID)).
		Only(ctx, "path", path, fault.EnvironmentNotFound)
}

// unarchived keeps what is not archived.
var unarchived = record.IsNull(environment.FieldArchivedAt)

// inProject keeps the environments of the project of a slug.
func inProject(slug, organizationID string) record.Condition {
	return record.Where(`"project_id" = (SELECT "p"."id" FROM "projects" AS "p" WHERE "p"."organization_id" = ? AND
"p"."slug" = ? AND "p"."archived_at" IS NULL)`,
		organizationID, slug)
}

// EnvironmentsByID returns the environments of the ids that there are, in no order.
func (s *Service) EnvironmentsByID(ctx context.Context, ids []string) ([]*record.Environment, error) {
	return record.Environments.In(s.Store).ByIDs(ctx, ids)
}

// EnvironmentFilter has conditions on environments, and their order; nil ones do not count.
type EnvironmentFilter struct {
	ProjectID *string
	// Archived keeps those that are archived, or else the others.
	Archived bool
	// Search is a text that the name or the slug contains, in any case.
	Search *string
	// ByName has the list in the order of names, and not the newest first.
	ByName bool `json:",omitempty"`
}

// list returns the environments that meet the filter, but for what it searches for, in its order.
func (f EnvironmentFilter) list(s *store.Store) record.Query[record.Environment] {
	list := record.Environments.In(s).Where(record.IsSet(environment.FieldArchivedAt, f.Archived)).
		Where(record.All(record.Given(record.Equal, environment.FieldProjectID, f.ProjectID))...)
	if f.ByName {
		return list.ByName()
	}
	return list
}

// Environments returns a page of the organization's environments.
func (s *Service) Environments(
	ctx context.Context, f EnvironmentFilter, args page.Args,
) (*page.EnvironmentConnection, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.EnvironmentForbidden); err != nil {
		return nil, err
	}
	list, err := f.list(s.Store).Search(ctx, f.Search)
	if err != nil {
		return nil, err
	}

	scope := page.Scope{List: archivedList("environments", f.Archived), Viewer: a.OrganizationID, Filter: f.ProjectID}
	if f.Search != nil || f.ByName {
		scope.Filter = f
	}
	return page.Read(ctx, list, args, scope)
}

// EnvironmentsOf returns a page of the environments of each project, as a filter has them.
func (s *Service) EnvironmentsOf(
	ctx context.Context, projectIDs []string, f EnvironmentFilter, args page.Args,
) (map[string]*page.EnvironmentConnection, error) {
	named := archivedList("environments", f.Archived)
	list := f.list(s.Store)
	f.Archived = false // which the name of the list tells
	return page.ReadEach(ctx, list, page.Parents{
		List: named, Viewer: actor.From(ctx).OrganizationID, Column: environment.FieldProjectID, IDs: projectIDs,
		Filter: page.FilterText(f), Search: f.Search,
	}, args, func(e *record.Environment) string { return e.ProjectID })
}

// NewEnvironment is an environment to be created. The slug has the form of a GivenId.
type NewEnvironment struct {
	ProjectID string `json:"projectId"`
	Name      string `json:"name"`
	Slug      string `json:"slug"`
}

// CreateEnvironment creates an environment of a project. It fails with ProjectNotFound if there is no such
// project, ProjectArchived, and EnvironmentSlugTaken if the project has an environment of the slug.
func (s *Service) CreateEnvironment(ctx context.Context, in NewEnvironment) (*ent.Environment, error) {
	a := actor.From(ctx)
	if violations := append(
		textrules.Name("/name", in.Name), textrules.GivenID("/slug", in.Slug)...,
	); len(violations) > 0 {
		return nil, fault.Invalid(fault.RequestInvalid, violations...)
	}
	if err := access.Check(a, access.Read, fault.EnvironmentForbidden); err != nil {
		return nil, err
	}

	var created *ent.Environment
	environmentID := s.Journal.NewID(id.Environment)
	err := s.Journal.Write(store.Creating(ctx), "createEnvironment",
		func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
			project, err := store.Find(ctx, tx.Project.Get, id.Project, in.ProjectID, fault.ProjectNotFound)
			if err != nil {
				return err
			}
			if err := access.CheckIn(
				a, access.ManageWorkspace, actor.Place{ProjectID: project.ID}, fault.EnvironmentForbidden,
			); err != nil {
				return err
			}
			if project.ArchivedAt != nil {
				return fault.New(fault.ProjectArchived, "The project %q is archived.", project.Slug)
			}

			e.ObjectID, e.Changes = environmentID, in
			created, err = tx.Environment.Create().
				SetID(environmentID).SetOrganizationID(a.OrganizationID).SetCreatedAt(e.At).SetUpdatedAt(e.At).
				SetProjectID(in.ProjectID).SetName(in.Name).SetSlug(in.Slug).
				SetNameKey(textrules.NameKey(in.Name)).SetSearchText(textrules.SearchText(in.Name, in.Slug)).
				Save(ctx)

			return err
		})
	if store.IsUniqueViolation(err) {
		return nil, environmentSlugTaken(in.Slug).WithCause(err)
	}
	return created, err
}

// EnvironmentPatch has the fields to change; nil ones stay.
type EnvironmentPatch struct {
	Name *string `json:"name,omitempty"`
	Slug *string `json:"slug,omitempty"`
	// Violations are what was already found wrong while the input was read.
	Violations []fault.Violation `json:"-"`
}

// UpdateEnvironment changes an environment. It fails with EnvironmentNotFound, and EnvironmentSlugTaken if another
// of its project that is not archived has the slug.
func (s *Service) UpdateEnvironment(
	ctx context.Context, environmentID string, p EnvironmentPatch,
) (*ent.Environment, error) {
	if violations := checkPatch(p.Violations, p.Name, p.Slug); len(violations) > 0 {
		return nil, fault.Invalid(fault.RequestInvalid, violations...)
	}
	var updated *ent.Environment
	err := s.Journal.Write(ctx, "updateEnvironment", func(ctx context.Context, tx *ent.Tx, e *journal.Entry) (err error) {
		if updated, err = ownEnvironment(ctx, tx, environmentID); err != nil {
			return err
		}
		if e.SkipAudit = p.Name == nil && p.Slug == nil; e.SkipAudit {
			return nil
		}
		e.ObjectID, e.Changes = environmentID, p
		name, slug := *cmp.Or(p.Name, &updated.Name), *cmp.Or(p.Slug, &updated.Slug)
		updated, err = updated.Update().SetName(name).SetSlug(slug).SetUpdatedAt(e.At).
			SetNameKey(textrules.NameKey(name)).SetSearchText(textrules.SearchText(name, slug)).Save(ctx)
		return err
	})
	if store.IsUniqueViolation(err) {
		return nil, environmentSlugTaken(*p.Slug).WithCause(err)
	}
	return updated, err
}

// DeleteEnvironment deletes an environment that nothing is in. It fails with EnvironmentNotFound and
// EnvironmentNotEmpty.
func (s *Service) DeleteEnvironment(ctx context.Context, environmentID string) (*ent.Environment, error) {
	var deleted *ent.Environment
	err := s.Journal.Write(store.StoppingCreation(ctx), "deleteEnvironment",
		func(ctx context.Context, tx *ent.Tx, e *journal.Entry) (err error) {
			if deleted, err = ownEnvironment(ctx, tx, environmentID); err != nil {
				return err
			}
			inIt, err := tx.ModuleInstance.Query().Where(moduleinstance.EnvironmentID(environmentID)).Exist(ctx)
			if err != nil {
				return err
			}
			if inIt {
				return fault.New(fault.EnvironmentNotEmpty, "The environment %q has module instances.", deleted.Slug)
			}
			if err := rule.EndOf(ctx, tx, e, entrule.EnvironmentID(environmentID)); err != nil {
				return err
			}

			e.ObjectID, e.Changes = environmentID, map[string]any{"slug": deleted.Slug}
			return tx.Environment.DeleteOne(deleted).Exec(ctx)
		})
	if err != nil {
		return nil, err
	}
	return deleted, nil
}

// ownEnvironment returns an environment that the actor may change.
func ownEnvironment(ctx context.Context, tx *ent.Tx, environmentID string) (*ent.Environment, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.EnvironmentForbidden); err != nil {
		return nil, err
	}
	found, err := store.Find(ctx, tx.Environment.Get, id.Environment, environmentID, fault.EnvironmentNotFound)
	if err != nil {
		return nil, err
	}
	place := actor.Place{ProjectID: found.ProjectID, EnvironmentID: found.ID}
	return found, access.CheckIn(a, access.ManageWorkspace, place, fault.EnvironmentForbidden)
}

func environmentSlugTaken(slug string) *fault.Error {
	return fault.New(fault.EnvironmentSlugTaken, "The project has an environment with the slug %q.", slug)
}
