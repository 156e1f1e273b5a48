package cli

import (
	"cmp"
	"context"
	"strings"

	"github.com/Khan/genqlient/graphql"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slipway/internal/base/fault"
	"slipway/internal/base/setting"
	"slipway/internal/remote/client"
)

var environmentView = view[client.EnvironmentRecord]{
	columns: []column{{"ENVIRONMENT", "project.slug/slug"}, {"NAME", "name"}, {"CREATED", "createdAt"}, {"ID", "id"}},
	sheet: []column{
		{"environment", "project.slug/slug"}, {"id", "id"}, {"name", "name"}, {"created", "createdAt"},
		{"archived", "archivedAt"},
	},
	name: nameOfEnvironment,
}

func nameOfEnvironment(e *client.EnvironmentRecord) string { return e.Project.Slug + "/" + e.Slug }

func (c *Config) environmentsCommand() *cobra.Command {
	return resource[client.EnvironmentRecord]{
		noun: "environment", one: "an environment", plural: "environments", argument: "ENVIRONMENT", example: "shop/prod",
		view: environmentView, idOf: func(e *client.EnvironmentRecord) string { return e.Id },
		find: func(ctx context.Context, s *session, ref string) (*client.EnvironmentRecord, error) {
			return s.environment(ctx, ref)
		},

		notFound: fault.EnvironmentNotFound,
		within:   "a project",
		pages:    environmentPages,
		creation: creation[client.EnvironmentRecord]{"PROJECT/ENVIRONMENT", `shop/prod --name Production`, createEnvironment},
		renaming: renaming[client.EnvironmentRecord]{renameUsage, "--name Production", renameEnvironment},

		archive: func(
			ctx context.Context, g graphql.Client, id string, live, dependents *bool,
		) (*client.EnvironmentRecord, error) {
			r, err := client.ArchiveEnvironment(ctx, g, client.ArchiveEnvironmentInput{
				Id: id, AcknowledgeLive: live, AcknowledgeDependents: dependents,
			})
			if err != nil {
				return nil, err
			}
			return &r.ArchiveEnvironment.Environment, nil
		},

		unarchive: func(ctx context.Context, g graphql.Client, id string) (*client.EnvironmentRecord, error) {
			r, err := client.UnarchiveEnvironment(ctx, g, client.UnarchiveEnvironmentInput{Id: id})
			if err != nil {
				return nil, err
			}
			return &r.UnarchiveEnvironment.Environment, nil
		},

		remove: func(ctx context.Context, g graphql.Client, id string) (*client.EnvironmentRecord, error) {
			r, err := client.DeleteEnvironment(ctx, g, client.DeleteEnvironmentInput{Id: id})
			if err != nil {
				return nil, err
			}
			return &r.DeleteEnvironment.Environment, nil
		},
	}.group(c)
}

func environmentPages(
	ctx context.Context, s *session, project string, archived *bool, search *string,
) (pageOf[client.EnvironmentRecord], error) {
	var projectID *string
	if project != "" {
		p, err := s.project(ctx, project)
		if err != nil {
			return nil, err
		}
		projectID = &p.Id
	}
	return func(ctx context.Context, first *int, after *string) ([]client.EnvironmentRecord, client.PageEnd, error) {
		r, err := client.Environments(ctx, s.conn, projectID, archived, search, first, after)
		if err != nil {
			return nil, client.PageEnd{}, err
		}
		return r.Environments.Nodes, r.Environments.PageInfo, nil
	}, nil
}

func createEnvironment(
	fs *pflag.FlagSet,
) func(context.Context, *session, string) (made[client.EnvironmentRecord], error) {
	var name string
	setting.AddFlag(fs, &name, "name", "", setting.Text, "display name (default: the slug)")

	return func(ctx context.Context, s *session, ref string) (m made[client.EnvironmentRecord], err error) {
		if !isPath(ref, 2) {
			return m, setting.Usagef("environment: want the slug of the project and that of the new environment, "+
				"PROJECT/ENVIRONMENT, found %q", ref)
		}

		projectSlug, newSlug, _ := strings.Cut(ref, "/")
		project, err := s.project(ctx, projectSlug)
		if err != nil {
			return m, err
		}

		in := client.CreateEnvironmentInput{ProjectId: project.Id, Slug: newSlug, Name: cmp.Or(name, newSlug)}
		m.same = func(e *client.EnvironmentRecord) bool { return e.Name == in.Name }
		m.create = func(ctx context.Context, g graphql.Client) (*client.EnvironmentRecord, error) {
			r, err := client.CreateEnvironment(ctx, g, in)
			if err != nil {
				return nil, err
			}
			return &r.CreateEnvironment.Environment, nil
		}
		return m, nil
	}
}

func renameEnvironment(fs *pflag.FlagSet) renamed[client.EnvironmentRecord] {
	var n newNames
	n.flags(fs)
	differences := func(e *client.EnvironmentRecord) []string { return n.differences(e.Name, e.Slug) }
	return renamed[client.EnvironmentRecord]{n.check, differences, func(
		ctx context.Context, g graphql.Client, id string,
	) (*client.EnvironmentRecord, error) {
		r, err := client.UpdateEnvironment(ctx, g, client.UpdateEnvironmentInput{
			Id: id, Name: orNil(n.name), Slug: orNil(n.slug),
		})
		if err != nil {
			return nil, err
		}
		return &r.UpdateEnvironment.Environment, nil
	}}
}
