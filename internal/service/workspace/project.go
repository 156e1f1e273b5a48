package workspace

import (
	"cmp"
	"context"

	"slipway/ent"
	"slipway/ent/environment"
	"slipway/ent/project"
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

// Project returns one project, or ProjectNotFound.
func (s *Service) Project(ctx context.Context, projectID string) (*record.Project, error) {
	if err := access.Check(actor.From(ctx), access.Read, fault.ProjectForbidden); err != nil {
		return nil, err
	}
	return record.Projects.In(s.Store).ByID(ctx, projectID, fault.ProjectNotFound)
}

// ProjectBySlug returns the project of a slug, archived ones aside, or ProjectNotFound. It fails with RequestInvalid
// for what can be no slug.
func (s *Service) ProjectBySlug(ctx context.Context, slug string) (*record.Project, error) {
	if err := access.Check(actor.From(ctx), access.Read, fault.ProjectForbidden); err != nil {
		return nil, err
	}
	if violations := textrules.GivenID("/slug", slug); len(violations) > 0 {
		return nil, fault.Invalid(fault.RequestInvalid, violations...)
	}
	return record.Projects.In(s.Store).
		Where(record.Equal(project.FieldSlug, slug), record.IsNull(project.FieldArchivedAt)).
		Only(ctx, "slug", slug, fault.ProjectNotFound)
}

// ProjectsByID returns the projects of the ids that there are, in no order.
func (s *Service) ProjectsByID(ctx context.Context, ids []string) ([]*record.Project, error) {
	return record.Projects.In(s.Store).ByIDs(ctx, ids)
}

// ProjectFilter has conditions on projects; nil ones do not count.
type ProjectFilter struct {
	// Archived keeps those that are archived, or else the others.
	Archived bool
	// Search is a text that the name or the slug contains, in any case.
	Search *string
	// ByName has the list in the order of names, and not the newest first.
	ByName bool `json:",omitempty"`
}

// Projects returns a page of the organization's projects.
func (s *Service) Projects(ctx context.Context, f ProjectFilter, args page.Args) (*page.ProjectConnection, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.ProjectForbidden); err != nil {
		return nil, err
	}
	list, err := record.Projects.In(s.Store).Where(record.IsSet(project.FieldArchivedAt, f.Archived)).
		Search(ctx, f.Search)
	if err != nil {
		return nil, err
	}
	if f.ByName {
		list = list.ByName()
	}
	return page.Read(ctx, list, args, page.Scope{List: "projects", Viewer: a.OrganizationID, Filter: f})
}

// NewProject is a project to be created. The slug has the form of a GivenId.
type NewProject struct {
	Name string `json:"name"`
	Slug string `json:"slug"`
}

// CreateProject creates a project. It fails with ProjectSlugTaken if the organization has one of the slug.
func (s *Service) CreateProject(ctx context.Context, in NewProject) (*ent.Project, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.ManageWorkspace, fault.ProjectForbidden); err != nil {
		return nil, err
	}
	if violations := append(
		textrules.Name("/name", in.Name), textrules.GivenID("/slug", in.Slug)...,
	); len(violations) > 0 {
		return nil, fault.Invalid(fault.RequestInvalid, violations...)
	}

	var created *ent.Project
	projectID := s.Journal.NewID(id.Project)
	err := s.Journal.Write(ctx, "createProject", func(ctx context.Context, tx *ent.Tx, e *journal.Entry) (err error) {
		e.ObjectID, e.Changes = projectID, in
		created, err = tx.Project.Create().
			SetID(projectID).SetOrganizationID(a.OrganizationID).SetCreatedAt(e.At).SetUpdatedAt(e.At).
			SetName(in.Name).SetSlug(in.Slug).
			SetNameKey(textrules.NameKey(in.Name)).SetSearchText(textrules.SearchText(in.Name, in.Slug)).
			Save(ctx)
		return err
	})
	if store.IsUniqueViolation(err) {
		return nil, projectSlugTaken(in.Slug).WithCause(err)
	}
	return created, err
}

// ProjectPatch has the fields to change; nil ones stay.
type ProjectPatch struct {
	Name *string `json:"name,omitempty"`
	Slug *string `json:"slug,omitempty"`
	// Violations are what was already found wrong while the input was read.
	Violations []fault.Violation `json:"-"`
}

// UpdateProject changes a project. It fails with ProjectNotFound, and ProjectSlugTaken if another that is not
// archived has the slug.
func (s *Service) UpdateProject(ctx context.Context, projectID string, p ProjectPatch) (*ent.Project, error) {
	if violations := checkPatch(p.Violations, p.Name, p.Slug); len(violations) > 0 {
		return nil, fault.Invalid(fault.RequestInvalid, violations...)
	}
	var updated *ent.Project
	err := s.Journal.Write(ctx, "updateProject", func(ctx context.Context, tx *ent.Tx, e *journal.Entry) (err error) {
		if updated, err = ownProject(ctx, tx, projectID); err != nil {
			return err
		}
		if e.SkipAudit = p.Name == nil && p.Slug == nil; e.SkipAudit {
			return nil
		}
		e.ObjectID, e.Changes = projectID, p
		name, slug := *cmp.Or(p.Name, &updated.Name), *cmp.Or(p.Slug, &updated.Slug)
		updated, err = updated.Update().SetName(name).SetSlug(slug).SetUpdatedAt(e.At).
			SetNameKey(textrules.NameKey(name)).SetSearchText(textrules.SearchText(name, slug)).Save(ctx)
		return err
	})
	if store.IsUniqueViolation(err) {
		return nil, projectSlugTaken(*p.Slug).WithCause(err)
	}
	return updated, err
}

// DeleteProject deletes a project that nothing is in. It fails with ProjectNotFound and ProjectNotEmpty.
func (s *Service) DeleteProject(ctx context.Context, projectID string) (*ent.Project, error) {
	var deleted *ent.Project
	err := s.Journal.Write(store.StoppingCreation(ctx), "deleteProject",
		func(ctx context.Context, tx *ent.Tx, e *journal.Entry) (err error) {
			if deleted, err = ownProject(ctx, tx, projectID); err != nil {
				return err
			}
			inIt, err := tx.Environment.Query().Where(environment.ProjectID(projectID)).Exist(ctx)
			if err != nil {
				return err
			}
			if inIt {
				return fault.New(fault.ProjectNotEmpty, "The project %q has environments.", deleted.Slug)
			}
			if err := rule.EndOf(ctx, tx, e, entrule.ProjectID(projectID)); err != nil {
				return err
			}

			e.ObjectID, e.Changes = projectID, map[string]any{"slug": deleted.Slug}
			return tx.Project.DeleteOne(deleted).Exec(ctx)
		})
	if err != nil {
		return nil, err
	}
	return deleted, nil
}

// ownProject returns a project that the actor may change.
func ownProject(ctx context.Context, tx *ent.Tx, projectID string) (*ent.Project, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.ProjectForbidden); err != nil {
		return nil, err
	}
	p, err := store.Find(ctx, tx.Project.Get, id.Project, projectID, fault.ProjectNotFound)
	if err != nil {
		return nil, err
	}
	return p, access.CheckIn(a, access.ManageWorkspace, actor.Place{ProjectID: p.ID}, fault.ProjectForbidden)
}

func projectSlugTaken(slug string) *fault.Error {
	return fault.New(fault.ProjectSlugTaken, "The organization has a project with the slug %q.", slug)
}
