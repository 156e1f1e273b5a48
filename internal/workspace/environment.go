package workspace

import (
	"context"

	"slipway/ent"
	"slipway/ent/environment"
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

// Environment returns one environment, or EnvironmentNotFound.
func (s *Service) Environment(ctx context.Context, environmentID string) (*record.Environment, error) {
	if err := access.Check(actor.From(ctx), access.Read, fault.EnvironmentForbidden); err != nil {
		return nil, err
	}
	return record.Environments.In(s.Store).ByID(ctx, environmentID, fault.EnvironmentNotFound)
}

// EnvironmentByPath returns the environment of a path, or EnvironmentNotFound. It fails with RequestInvalid for a text of
// another form.
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
		Where(record.Equal(environment.FieldSlug, slugs[1]), inProject(slugs[0], a.OrganizationID)).
		Only(ctx, "path", path, fault.EnvironmentNotFound)
}

// inProject keeps the environments of the project of a slug.
func inProject(slug, organizationID string) record.Condition {
	return record.Where(`"project_id" = (SELECT "p"."id" FROM "projects" AS "p" WHERE "p"."organization_id" = ? AND "p"."slug" = ?)`,
		organizationID, slug)
}

// EnvironmentsByID returns the environments of the ids that there are, in no order.
func (s *Service) EnvironmentsByID(ctx context.Context, ids []string) ([]*record.Environment, error) {
	return record.Environments.In(s.Store).ByIDs(ctx, ids)
}

// Environments returns a page of the organization's environments, of one project where it is not nil.
func (s *Service) Environments(ctx context.Context, projectID *string, args page.Args) (*page.EnvironmentConnection, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.EnvironmentForbidden); err != nil {
		return nil, err
	}
	list := record.Environments.In(s.Store)
	if projectID != nil {
		list = list.Where(record.Equal(environment.FieldProjectID, *projectID))
	}
	scope := page.Scope{List: "environments", Viewer: a.OrganizationID, Filter: projectID}
	return page.Read(ctx, list, args, scope)
}

// EnvironmentsOf returns a page of the environments of each project.
func (s *Service) EnvironmentsOf(ctx context.Context, projectIDs []string, args page.Args) (map[string]*page.EnvironmentConnection, error) {
	return page.ReadEach(ctx, record.Environments.In(s.Store), page.Parents{
		List: "environments", Viewer: actor.From(ctx).OrganizationID, Column: environment.FieldProjectID, IDs: projectIDs,
	}, args, func(e *record.Environment) string { return e.ProjectID })
}

// NewEnvironment is an environment to be created. The slug has the form of a GivenId.
type NewEnvironment struct {
	ProjectID string `json:"projectId"`
	Name      string `json:"name"`
	Slug      string `json:"slug"`
}

// CreateEnvironment creates an environment of a project. It fails with ProjectNotFound where there is no such
// project, and EnvironmentSlugTaken where the project has an environment of the slug.
func (s *Service) CreateEnvironment(ctx context.Context, in NewEnvironment) (*ent.Environment, error) {
	a := actor.From(ctx)
	if violations := append(textrules.Name("/name", in.Name), textrules.GivenID("/slug", in.Slug)...); len(violations) > 0 {
		return nil, fault.Invalid(fault.RequestInvalid, violations...)
	}
	if _, err := s.Project(ctx, in.ProjectID); err != nil {
		return nil, err
	}
	if err := access.CheckIn(a, access.EditWorkspace, actor.Place{ProjectID: in.ProjectID}, fault.EnvironmentForbidden); err != nil {
		return nil, err
	}
	var created *ent.Environment
	environmentID := s.Journal.NewID(id.Environment)
	err := s.Journal.Write(ctx, "createEnvironment", func(ctx context.Context, tx *ent.Tx, e *journal.Entry) (err error) {
		e.ObjectID, e.Changes = environmentID, in
		created, err = tx.Environment.Create().
			SetID(environmentID).SetOrganizationID(a.OrganizationID).SetCreatedAt(e.At).SetUpdatedAt(e.At).
			SetProjectID(in.ProjectID).SetName(in.Name).SetSlug(in.Slug).
			Save(ctx)
		return err
	})
	if store.IsUniqueViolation(err) {
		return nil, fault.New(fault.EnvironmentSlugTaken, "The project has an environment with the slug %q.", in.Slug).WithCause(err)
	}
	return created, err
}
