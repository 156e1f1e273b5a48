package cli

import (
	"context"
	"fmt"

	"github.com/Khan/genqlient/graphql"
	"github.com/spf13/cobra"

	"slipway/internal/base/setting"
	"slipway/internal/remote/client"
)

func (c *Config) cancelCommand() *cobra.Command {
	var force bool
	var reason string

	cmd := c.changing(&cobra.Command{
		Use: "cancel DEPLOYMENT", Short: "Cancel a deployment", Args: cobra.ExactArgs(1),
		Long: `Cancel a deployment. A deployment that has not started is CANCELED immediately. The runner asks the
program of a running deployment to stop, and the deployment is CANCELED when the program ends.
Canceling twice has no effect.`,
		Example:           "  slipway cancel shop/prod/orders@last\n  slipway cancel dep_01kb… --force",
		ValidArgsFunction: c.complete(completeDeployments),
	}, func(ctx context.Context, s *session, args []string) error {
		if err := want(s, deploymentDetailView); err != nil {
			return err
		}

		d, err := s.deployment(ctx, args[0])
		if err != nil {
			return err
		}

		question := change{question: fmt.Sprintf("Cancel %s?", d.Id), lines: []string{lineOf(d)}}
		if force {
			question.lines = append(question.lines, "by force: its program may still be at work")
		}
		if err := s.confirm(ctx, question); err != nil {
			return err
		}

		if d, err = s.cancel(ctx, client.CancelDeploymentInput{Id: d.Id, Force: &force, Reason: orNil(reason)}); err != nil {
			return err
		}
		return show(s, deploymentDetailView, d)
	})

	setting.AddFlag(cmd.Flags(), &force, "force", "false", setting.Bool,
		"cancel immediately, even if the program still runs; admins only, 2 minutes after the cancellation")
	setting.AddFlag(cmd.Flags(), &reason, "reason", "", setting.Text, "reason, which is recorded")
	return cmd
}

// cancel cancels a deployment. If the answer was lost it looks whether that is done, since one that has ended is not
// canceled again.
func (s *session) cancel(ctx context.Context, in client.CancelDeploymentInput) (d *client.DeploymentDetail, err error) {
	tried := false
	err = s.conn.write(ctx, func(ctx context.Context) (bool, error) {
		if !tried {
			return false, nil
		}
		var err error
		d, err = s.deployment(ctx, in.Id)
		return err == nil && d.Status == client.DeploymentStatusCanceled, err
	}, func(ctx context.Context, g graphql.Client) error {
		tried = true
		r, err := client.CancelDeployment(ctx, g, in)
		if err == nil {
			d = &r.CancelDeployment.Deployment
		}
		return err
	})
	return d, err
}

// lineOf tells of a deployment what a change of it is about.
func lineOf(d *client.DeploymentDetail) string {
	place := d.ModuleInstance
	line := fmt.Sprintf("%s  %s  %s/%s/%s", d.Id, d.Status, place.Project.Slug, place.Environment.Slug, place.Name)
	if d.Release != nil {
		line += fmt.Sprintf("  %s %s", d.Release.ModuleVersion.ModuleDefinition.Type, d.Release.ModuleVersion.Version)
	}
	return line
}
