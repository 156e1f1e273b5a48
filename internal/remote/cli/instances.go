package cli

import (
	"context"
	"strings"

	"github.com/Khan/genqlient/graphql"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/setting"
	"slipway/internal/remote/client"
)

var instanceView = view[client.InstanceRecord]{
	columns: []column{
		{"INSTANCE", "project.slug/environment.slug/name"}, {"MODULE", "moduleDefinition.type"},
		{"LIVE", "liveDeployment.release.moduleVersion.version"}, {"SINCE", "liveDeployment.completedAt"},
		{"BY", "liveDeployment.createdBy.name"},
		{"LAST", "lastDeployment.status"}, {"DRIFT", "drift.kind"}, {"ID", "id"},
	},
	sheet: []column{
		{"instance", "project.slug/environment.slug/name"}, {"id", "id"}, {"module", "moduleDefinition.type"},
		{"live version", "liveDeployment.release.moduleVersion.version"}, {"live since", "liveDeployment.completedAt"},
		{"live deployment", "liveDeployment.id"}, {"live by", "liveDeployment.createdBy.name"},
		{"active", "activeDeployment.id"}, {"active status", "activeDeployment.status"},
		{"last", "lastDeployment.id"}, {"last status", "lastDeployment.status"},
		{"drift", "drift.kind"}, {"drift since", "drift.since"}, {"drift message", "drift.message"},
		{"on failure", "onFailure"}, {"own inputs", "ownInputs"},
		{"created", "createdAt"}, {"destroyed", "destroyedAt"}, {"archived", "archivedAt"},
	},
	name: nameOfInstance,
}

func nameOfInstance(i *client.InstanceRecord) string {
	return i.Project.Slug + "/" + i.Environment.Slug + "/" + i.Name
}

func (c *Config) instancesCommand() *cobra.Command {
	group := resource[client.InstanceRecord]{
		noun: "instance", one: "an instance", plural: "instances", argument: "INSTANCE", example: "shop/prod/orders",
		view: instanceView, idOf: func(i *client.InstanceRecord) string { return i.Id },
		find: func(ctx context.Context, s *session, ref string) (*client.InstanceRecord, error) {
			return s.instance(ctx, ref)
		},

		notFound: fault.ModuleInstanceNotFound,
		within:   "a project or an environment",
		pages:    instancePages,
		creation: creation[client.InstanceRecord]{
			"PROJECT/ENVIRONMENT/INSTANCE --module TYPE", `shop/prod/orders --module acme/queue`, createInstance,
		},
		renaming: renaming[client.InstanceRecord]{"--name NAME", "--name purchases", renameInstance},

		archive: func(
			ctx context.Context, g graphql.Client, id string, live, dependents *bool,
		) (*client.InstanceRecord, error) {
			r, err := client.ArchiveInstance(ctx, g, client.ArchiveModuleInstanceInput{
				Id: id, AcknowledgeLive: live, AcknowledgeDependents: dependents,
			})
			if err != nil {
				return nil, err
			}
			return &r.ArchiveModuleInstance.ModuleInstance, nil
		},

		unarchive: func(ctx context.Context, g graphql.Client, id string) (*client.InstanceRecord, error) {
			r, err := client.UnarchiveInstance(ctx, g, client.UnarchiveModuleInstanceInput{Id: id})
			if err != nil {
				return nil, err
			}
			return &r.UnarchiveModuleInstance.ModuleInstance, nil
		},

		remove: func(ctx context.Context, g graphql.Client, id string) (*client.InstanceRecord, error) {
			r, err := client.DeleteInstance(ctx, g, client.DeleteModuleInstanceInput{Id: id})
			if err != nil {
				return nil, err
			}
			return &r.DeleteModuleInstance.ModuleInstance, nil
		},
	}.group(c)
	group.AddCommand(c.instanceUpdateCommand())
	return group
}

// instancePages reads the instances of all, of a project or of an environment.
func instancePages(
	ctx context.Context, s *session, in string, archived *bool, search *string,
) (pageOf[client.InstanceRecord], error) {
	filter := &client.ModuleInstanceFilter{Archived: archived, Search: search}
	if in != "" {
		projectID, environmentID, err := s.within(ctx, in, "")
		if err != nil {
			return nil, err
		}
		filter.ProjectId, filter.EnvironmentId = projectID, environmentID
	}
	return func(ctx context.Context, first *int, after *string) ([]client.InstanceRecord, client.PageEnd, error) {
		r, err := client.Instances(ctx, s.conn, filter, first, after)
		if err != nil {
			return nil, client.PageEnd{}, err
		}
		return r.ModuleInstances.Nodes, r.ModuleInstances.PageInfo, nil
	}, nil
}

// within returns the id of the project or of the environment that a name stands for. others are what the name may be
// besides.
func (s *session) within(ctx context.Context, ref, others string) (projectID, environmentID *string, err error) {
	if isPath(ref, 1) && !id.Of(id.Environment, ref) {
		p, err := s.project(ctx, ref)
		if err != nil {
			return nil, nil, err
		}
		return &p.Id, nil, nil
	}
	if !isPath(ref, 2) && !id.Of(id.Environment, ref) {
		return nil, nil, setting.Usagef("--in: want %s, or %s%s, found %q", wantProject, wantEnvironment, others, ref)
	}
	e, err := s.environment(ctx, ref)
	if err != nil {
		return nil, nil, err
	}
	return nil, &e.Id, nil
}

func createInstance(fs *pflag.FlagSet) func(context.Context, *session, string) (made[client.InstanceRecord], error) {
	var module string
	setting.AddFlag(fs, &module, "module", "", setting.Text, "type or id of the module")

	return func(ctx context.Context, s *session, ref string) (m made[client.InstanceRecord], err error) {
		if !isPath(ref, 3) {
			return m, setting.Usagef("instance: want the slugs of the project and the environment and the name of the new "+
				"instance, PROJECT/ENVIRONMENT/INSTANCE, found %q", ref)
		}

		if module == "" {
			return m, setting.Usagef("--module: want %s, found nothing", wantModule)
		}

		last := strings.LastIndexByte(ref, '/')
		environment, err := s.environment(ctx, ref[:last])
		if err != nil {
			return m, err
		}
		definition, err := s.module(ctx, module)
		if err != nil {
			return m, err
		}

		in := client.CreateModuleInstanceInput{
			EnvironmentId: environment.Id, ModuleDefinitionId: definition.Id, Name: ref[last+1:],
		}
		m.same = func(i *client.InstanceRecord) bool { return i.ModuleDefinition.Id == definition.Id }
		m.create = func(ctx context.Context, g graphql.Client) (*client.InstanceRecord, error) {
			r, err := client.CreateInstance(ctx, g, in)
			if err != nil {
				return nil, err
			}
			return &r.CreateModuleInstance.ModuleInstance, nil
		}
		return m, nil
	}
}

func renameInstance(fs *pflag.FlagSet) renamed[client.InstanceRecord] {
	var name string
	setting.AddFlag(fs, &name, "name", "", setting.Text, "new name")
	check := func() error {
		if name == "" {
			return setting.Usagef("--name: want the new name, found nothing")
		}
		return nil
	}
	differences := func(i *client.InstanceRecord) []string { return differenceLines("name", i.Name, name) }
	return renamed[client.InstanceRecord]{check, differences, func(
		ctx context.Context, g graphql.Client, id string,
	) (*client.InstanceRecord, error) {
		r, err := client.UpdateInstance(ctx, g, client.UpdateModuleInstanceInput{Id: id, Name: orNil(name)})
		if err != nil {
			return nil, err
		}
		return &r.UpdateModuleInstance.ModuleInstance, nil
	}}
}
