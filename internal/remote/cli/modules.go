package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"slipway/internal/base/id"
	"slipway/internal/base/setting"
	"slipway/internal/remote/client"
)

var (
	moduleView = view[client.ModuleRecord]{
		columns: []column{
			{"MODULE", "type"}, {"NAME", "name"}, {"LATEST", "latestVersion"}, {"STATUS", "status"}, {"UPDATED", "updatedAt"},
			{"ID", "id"},
		},
		name: func(m *client.ModuleRecord) string { return m.Type },
	}
	versionView = view[client.VersionRecord]{
		columns: []column{
			{"MODULE", "moduleDefinition.type"}, {"VERSION", "version"}, {"TYPE", "deploymentType"}, {"PUBLISHED", "createdAt"},
			{"DEPRECATED", "deprecation.reason"}, {"ID", "id"},
		},
		name: func(v *client.VersionRecord) string { return v.ModuleDefinition.Type + "@" + v.Version },
	}
	versionDetailView = view[client.VersionDetail]{
		columns: versionView.columns,
		name:    func(v *client.VersionDetail) string { return v.ModuleDefinition.Type + "@" + v.Version },
	}
)

func (c *Config) modulesCommand() *cobra.Command {
	return Group("modules", "Write, check and publish modules",
		c.modulesListCommand(), c.modulesShowCommand(), c.modulesVersionsCommand(), c.modulesInitCommand(),
		c.modulesLintCommand(), c.modulesPublishCommand(),
		c.deprecateCommand(), c.undeprecateCommand())
}

func (c *Config) modulesListCommand() *cobra.Command {
	var p paging
	var search string

	cmd := c.command(&cobra.Command{
		Use: "list", Short: "List the modules of the organization and global modules",
		Example: "  slipway modules list\n  slipway modules list --search queue -o name",
		Args:    cobra.NoArgs,
	}, func(ctx context.Context, s *session, _ []string) error {
		if err := want(s, moduleView); err != nil {
			return err
		}

		return list(ctx, s, moduleView, p, func(
			ctx context.Context, first *int, after *string,
		) ([]client.ModuleRecord, client.PageEnd, error) {
			r, err := client.Modules(ctx, s.conn, nil, orNil(search), first, after)
			if err != nil {
				return nil, client.PageEnd{}, err
			}
			return r.ModuleDefinitions.Nodes, r.ModuleDefinitions.PageInfo, nil
		})
	})

	p.flags(cmd)
	setting.AddFlag(cmd.Flags(), &search, "search", "", setting.Text,
		"only modules whose name or type contains this text")
	return cmd
}

func (c *Config) modulesShowCommand() *cobra.Command {
	return c.command(&cobra.Command{
		Use: "show MODULE|VERSION", Short: "Show a module, or a version with its inputs", Args: cobra.ExactArgs(1),
		Example:           "  slipway modules show acme/queue\n  slipway modules show acme/queue@1.3.0 -o json",
		ValidArgsFunction: c.complete(completeModules),
	}, func(ctx context.Context, s *session, args []string) error {
		if strings.Contains(args[0], "@") || id.Of(id.ModuleVersion, args[0]) {
			return s.showVersion(ctx, args[0])
		}
		if err := want(s, moduleView); err != nil {
			return err
		}
		module, err := s.module(ctx, args[0])
		if err != nil {
			return err
		}
		return show(s, moduleView, module)
	})
}

func (s *session) showVersion(ctx context.Context, ref string) error {
	if err := want(s, versionDetailView); err != nil {
		return err
	}
	versionID, err := s.versionID(ctx, ref)
	if err != nil {
		return err
	}
	r, err := client.ModuleVersion(ctx, s.conn, versionID)
	if err != nil {
		return err
	}
	return show(s, versionDetailView, r.ModuleVersion)
}

func (c *Config) modulesVersionsCommand() *cobra.Command {
	var p paging
	cmd := c.command(&cobra.Command{
		Use: "versions MODULE", Short: "List the versions of a module, newest first",
		Example: "  slipway modules versions acme/queue", Args: cobra.ExactArgs(1),
		ValidArgsFunction: c.complete(completeModules),
	}, func(ctx context.Context, s *session, args []string) error {
		if err := want(s, versionView); err != nil {
			return err
		}
		module, err := s.module(ctx, args[0])
		if err != nil {
			return err
		}
		return list(ctx, s, versionView, p, s.versionPages(module.Id))
	})
	p.flags(cmd)
	return cmd
}

func (c *Config) deprecateCommand() *cobra.Command {
	var reason, successor string

	cmd := c.changing(&cobra.Command{
		Use:   "deprecate VERSION --reason TEXT [--successor VERSION]",
		Short: "Mark a version as deprecated", Args: cobra.ExactArgs(1),
		Example: `  slipway modules deprecate acme/queue@1.2.0 --reason "Loses messages."` +
			` --successor acme/queue@1.3.0`,
		ValidArgsFunction: c.complete(completeModules),
	}, func(ctx context.Context, s *session, args []string) error {
		if reason == "" {
			return setting.Usagef("--reason: want why it is deprecated, and what to do, found nothing")
		}

		in := client.DeprecateModuleVersionInput{Reason: reason}
		if successor != "" {
			successorID, err := s.versionID(ctx, successor)
			if err != nil {
				return err
			}
			in.SuccessorId = &successorID
		}

		return s.changeVersion(ctx, args[0], "Deprecate", []string{"reason: " + reason}, func(
			versionID string,
		) (*client.VersionRecord, error) {
			in.Id = versionID
			r, err := client.DeprecateVersion(ctx, s.conn, in)
			if err != nil {
				return nil, err
			}
			return &r.DeprecateModuleVersion.ModuleVersion, nil
		})
	})

	setting.AddFlag(cmd.Flags(), &reason, "reason", "", setting.Text, "reason, and what to do instead")
	setting.AddFlag(cmd.Flags(), &successor, "successor", "", setting.Text,
		"version of the same module to deploy instead")
	completeFlag(cmd, "successor", c.complete(completeModules))
	return cmd
}

func (c *Config) undeprecateCommand() *cobra.Command {
	return c.changing(&cobra.Command{
		Use: "undeprecate VERSION", Aliases: []string{"reinstate"}, Short: "Remove the deprecation of a version",
		Example: "  slipway modules undeprecate acme/queue@1.2.0", Args: cobra.ExactArgs(1),
		ValidArgsFunction: c.complete(completeModules),
	}, func(ctx context.Context, s *session, args []string) error {
		undeprecate := func(versionID string) (*client.VersionRecord, error) {
			r, err := client.UndeprecateVersion(ctx, s.conn, client.UndeprecateModuleVersionInput{Id: versionID})
			if err != nil {
				return nil, err
			}
			return &r.UndeprecateModuleVersion.ModuleVersion, nil
		}
		return s.changeVersion(ctx, args[0], "End the deprecation of", nil, undeprecate)
	})
}

func (s *session) changeVersion(
	ctx context.Context, ref, verb string, lines []string, do func(versionID string) (*client.VersionRecord, error),
) error {
	if err := want(s, versionView); err != nil {
		return err
	}
	versionID, err := s.versionID(ctx, ref)
	if err != nil {
		return err
	}
	err = s.confirm(ctx, change{
		question: verb + " " + ref + "?", lines: append([]string{ref + "  " + versionID}, lines...),
	})
	if err != nil {
		return err
	}
	version, err := do(versionID)
	if err != nil {
		return err
	}
	return show(s, versionView, version)
}
