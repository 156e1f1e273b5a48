package cli

import (
	"cmp"
	"context"
	"fmt"

	"github.com/Khan/genqlient/graphql"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slipway/internal/base/fault"
	"slipway/internal/base/setting"
	"slipway/internal/remote/client"
)

var projectView = view[client.ProjectRecord]{
	columns: []column{{"PROJECT", "slug"}, {"NAME", "name"}, {"CREATED", "createdAt"}, {"ID", "id"}},
	sheet: []column{
		{"project", "slug"}, {"id", "id"}, {"name", "name"}, {"created", "createdAt"}, {"archived", "archivedAt"},
	},
	name: func(p *client.ProjectRecord) string { return p.Slug },
}

func (c *Config) projectsCommand() *cobra.Command {
	return resource[client.ProjectRecord]{
		noun: "project", one: "a project", plural: "projects", argument: "PROJECT", example: "shop",
		view: projectView, idOf: func(p *client.ProjectRecord) string { return p.Id },
		find: func(ctx context.Context, s *session, ref string) (*client.ProjectRecord, error) {
			return s.project(ctx, ref)
		},

		notFound: fault.ProjectNotFound,
		pages: func(
			_ context.Context, s *session, _ string, archived *bool, search *string,
		) (pageOf[client.ProjectRecord], error) {
			return func(ctx context.Context, first *int, after *string) ([]client.ProjectRecord, client.PageEnd, error) {
				r, err := client.Projects(ctx, s.conn, archived, search, first, after)
				if err != nil {
					return nil, client.PageEnd{}, err
				}
				return r.Projects.Nodes, r.Projects.PageInfo, nil
			}, nil
		},

		creation: creation[client.ProjectRecord]{"PROJECT", `shop --name "The shop"`, createProject},
		renaming: renaming[client.ProjectRecord]{renameUsage, `--name "The shop"`, renameProject},

		archive: func(
			ctx context.Context, g graphql.Client, id string, live, dependents *bool,
		) (*client.ProjectRecord, error) {
			r, err := client.ArchiveProject(ctx, g, client.ArchiveProjectInput{
				Id: id, AcknowledgeLive: live, AcknowledgeDependents: dependents,
			})
			if err != nil {
				return nil, err
			}
			return &r.ArchiveProject.Project, nil
		},

		unarchive: func(ctx context.Context, g graphql.Client, id string) (*client.ProjectRecord, error) {
			r, err := client.UnarchiveProject(ctx, g, client.UnarchiveProjectInput{Id: id})
			if err != nil {
				return nil, err
			}
			return &r.UnarchiveProject.Project, nil
		},

		remove: func(ctx context.Context, g graphql.Client, id string) (*client.ProjectRecord, error) {
			r, err := client.DeleteProject(ctx, g, client.DeleteProjectInput{Id: id})
			if err != nil {
				return nil, err
			}
			return &r.DeleteProject.Project, nil
		},
	}.group(c)
}

func createProject(fs *pflag.FlagSet) func(context.Context, *session, string) (made[client.ProjectRecord], error) {
	var name string
	setting.AddFlag(fs, &name, "name", "", setting.Text, "display name (default: the slug)")
	return func(_ context.Context, _ *session, ref string) (m made[client.ProjectRecord], err error) {
		if !isPath(ref, 1) {
			return m, setting.Usagef("project: want the slug of the new project: 1 to 60 letters, digits, _ and -, found %q",
				ref)
		}
		in := client.CreateProjectInput{Slug: ref, Name: cmp.Or(name, ref)}
		m.same = func(p *client.ProjectRecord) bool { return p.Name == in.Name }
		m.create = func(ctx context.Context, g graphql.Client) (*client.ProjectRecord, error) {
			r, err := client.CreateProject(ctx, g, in)
			if err != nil {
				return nil, err
			}
			return &r.CreateProject.Project, nil
		}
		return m, nil
	}
}

const renameUsage = "[--name NAME] [--slug SLUG]"

// newNames are the names that a project or an environment is to have.
type newNames struct{ name, slug string }

func (n *newNames) flags(fs *pflag.FlagSet) {
	setting.AddFlag(fs, &n.name, "name", "", setting.Text, "new display name")
	setting.AddFlag(fs, &n.slug, "slug", "", setting.Text, "new slug, the short name in URLs and commands")
}

func (n *newNames) check() error {
	if n.name == "" && n.slug == "" {
		return setting.Usagef("want --name, --slug or both, found neither")
	}
	return nil
}

// differences tell what changes.
func (n *newNames) differences(name, slug string) []string {
	return append(differenceLines("name", name, n.name), differenceLines("slug", slug, n.slug)...)
}

// differenceLines tells what changes of a field, nothing if it stays.
func differenceLines(field, before, after string) []string {
	if after == "" || after == before {
		return nil
	}
	return []string{fmt.Sprintf("~ %s  %s -> %s", field, before, after)}
}

func renameProject(fs *pflag.FlagSet) renamed[client.ProjectRecord] {
	var n newNames
	n.flags(fs)
	differences := func(p *client.ProjectRecord) []string { return n.differences(p.Name, p.Slug) }
	return renamed[client.ProjectRecord]{n.check, differences, func(
		ctx context.Context, g graphql.Client, id string,
	) (*client.ProjectRecord, error) {
		r, err := client.UpdateProject(ctx, g, client.UpdateProjectInput{Id: id, Name: orNil(n.name), Slug: orNil(n.slug)})
		if err != nil {
			return nil, err
		}
		return &r.UpdateProject.Project, nil
	}}
}
