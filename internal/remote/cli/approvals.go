package cli

import (
	"context"

	"github.com/spf13/cobra"

	"slipway/internal/remote/client"
)

// awaitedView is the view of deployments that wait for an approval.
var awaitedView = view[client.DeploymentRecord]{
	columns: []column{
		{"INSTANCE", "moduleInstance.project.slug/moduleInstance.environment.slug/moduleInstance.name"},
		{"VERSION", "release.moduleVersion.version"}, {"BY", "createdBy.name"}, {"CREATED", "createdAt"},
		{"STARTED BY", "triggerSource"}, {"REASON", "reason"}, {"DEPLOYMENT", "id"},
	},
	name: deploymentView.name,
}

func (c *Config) approvalsCommand() *cobra.Command {
	var p paging
	cmd := c.command(&cobra.Command{
		Use: "approvals", Short: "List the deployments that wait for your approval", Args: cobra.NoArgs,
		Long: `List the deployments that wait for your approval, newest first. Your token could approve each of
them and has not decided yet. Show one with slipway deployments show, and decide with slipway
approve or slipway reject.`,
		Example: "  slipway approvals\n  slipway approvals -o name",
	}, func(ctx context.Context, s *session, _ []string) error {
		if err := want(s, awaitedView); err != nil {
			return err
		}
		awaiting := true
		return list(ctx, s, awaitedView, p, s.deploymentPages(&client.DeploymentFilter{AwaitingMyApproval: &awaiting}))
	})
	p.flags(cmd)
	return cmd
}
