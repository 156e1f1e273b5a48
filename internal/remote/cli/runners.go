package cli

import (
	"context"

	"github.com/spf13/cobra"

	"slipway/internal/base/setting"
	"slipway/internal/remote/client"
)

var runnerView = view[client.RunnerRecord]{
	columns: []column{
		{"RUNNER", "actor.name"}, {"TYPES", "deploymentTypes"}, {"ACTIONS", "actions"}, {"RUNNING", "running"},
		{"ASKED", "askedAt"}, {"TOKEN", "actor.tokenId"},
	},
	name: func(r *client.RunnerRecord) string { return r.Actor.Name },
}

func (c *Config) runnersCommand() *cobra.Command {
	return Group("runners", "List the runners of the organization", c.runnersListCommand())
}

func (c *Config) runnersListCommand() *cobra.Command {
	var p paging
	var deploymentType, in string
	var action client.DeploymentAction

	cmd := c.command(&cobra.Command{
		Use: "list", Short: "List runners and their current work", Args: cobra.NoArgs,
		Long: `List the runners: tokens that asked for work within the last ten minutes or run a deployment.
Several processes can share a token.`,
		Example: "  slipway runners list\n" +
			"  slipway runners list --deployment-type aws:ecs --action DESTROY --in shop/prod -o json",
	}, func(ctx context.Context, s *session, _ []string) error {
		if err := want(s, runnerView); err != nil {
			return err
		}

		filter := &client.RunnerFilter{DeploymentType: orNil(deploymentType)}
		if action != "" {
			filter.Action = &action
		}
		if in != "" {
			environment, err := s.environment(ctx, in)
			if err != nil {
				return err
			}
			filter.EnvironmentId = &environment.Id
		}
		return list(ctx, s, runnerView, p, s.runnerPages(filter))
	})

	p.flags(cmd)
	setting.AddFlag(cmd.Flags(), &deploymentType, "deployment-type", "", setting.Text,
		"only runners for this deployment type")
	setting.AddFlag(cmd.Flags(), &action, "action", "", setting.Choice(client.AllDeploymentAction...),
		"only runners whose program can do this")
	completeFlag(cmd, "action", fixed(client.AllDeploymentAction))
	setting.AddFlag(cmd.Flags(), &in, "in", "", setting.Text, "only runners that may run deployments in an environment")
	completeFlag(cmd, "in", c.complete(completeEnvironments))
	return cmd
}

func (s *session) runnerPages(filter *client.RunnerFilter) pageOf[client.RunnerRecord] {
	return func(ctx context.Context, first *int, after *string) ([]client.RunnerRecord, client.PageEnd, error) {
		r, err := client.Runners(ctx, s.conn, filter, first, after)
		if err != nil {
			return nil, client.PageEnd{}, err
		}
		return r.Runners.Nodes, r.Runners.PageInfo, nil
	}
}
