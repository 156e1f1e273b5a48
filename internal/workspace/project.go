package workspace

import (
	"context"

	"slipway/ent"
	"slipway/ent/project"
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

// Project returns one project, or ProjectNotFound.
func (s *Service) Project(ctx context.Context, projectID string) (*record.Project, error) {
	if err := access.Check(actor.From(ctx), access.Read, fault.ProjectForbidden); err != nil {
		return nil, err
	}
	return record.Projects.In(s.Store).ByID(ctx, projectID, fault.ProjectNotFound)
}

// ProjectBySlug returns the project of a slug, or ProjectNotFound. It fails with RequestInvalid for what can be no slug.
func (s *Service) ProjectBySlug(ctx context.Context, slug string) (*record.Project, error) {
	if err := access.Check(actor.From(ctx), access.Read, fault.ProjectForbidden); err != nil {
		return nil, err
	}
	if violations := textrules.GivenID("/slug", slug); len(violations) > 0 {
		return nil, fault.Invalid(fault.RequestInvalid, violations...)
	}
	return record.Projects.In(s.Store).Where(record.Equal(project.FieldSlug, slug)).Only(ctx, "slug", slug, fault.ProjectNotFound)
}

// ProjectsByID returns the projects of the ids that there are, in no order.
func (s *Service) ProjectsByID(ctx context.Context, ids []string) ([]*record.Project, error) {
	return record.Projects.In(s.Store).ByIDs(ctx, ids)
}

// Projects returns a page of the organization's projects.
func (s *Service) Projects(ctx context.Context, args page.Args) (*page.ProjectConnection, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.ProjectForbidden); err != nil {
		return nil, err
	}
	scope := page.Scope{List: "projects", Viewer: a.OrganizationID}
	return page.Read(ctx, record.Projects.In(s.Store), args, scope)
}

// NewProject is a project to be created. The slug has the form of a GivenId.
type NewProject struct {
	Name string `json:"name"`
	Slug string `json:"slug"`
}

// CreateProject creates a project. It fails with ProjectSlugTaken where the organization has one of the slug.
func (s *Service) CreateProject(ctx context.Context, in NewProject) (*ent.Project, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.EditWorkspace, fault.ProjectForbidden); err != nil {
		return nil, err
	}
	if violations := append(textrules.Name("/name", in.Name), textrules.GivenID("/slug", in.Slug)...); len(violations) > 0 {
		return nil, fault.Invalid(fault.RequestInvalid, violations...)
	}
	var created *ent.Project
	projectID := s.Journal.NewID(id.Project)
	err := s.Journal.Write(ctx, "createProject", func(ctx context.Context, tx *ent.Tx, e *journal.Entry) (err error) {
		e.ObjectID, e.Changes = projectID, in
		created, err = tx.Project.Create().
			SetID(projectID).SetOrganizationID(a.OrganizationID).SetCreatedAt(e.At).SetUpdatedAt(e.At).
			SetName(in.Name).SetSlug(in.Slug).
			Save(ctx)
		return err
	})
	if store.IsUniqueViolation(err) {
		return nil, fault.New(fault.ProjectSlugTaken, "The organization has a project with the slug %q.", in.Slug).WithCause(err)
	}
	return created, err
}
