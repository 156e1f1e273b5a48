package cli

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/spf13/cobra"

	"slipway/internal/client"
	"slipway/internal/setting"
)

func (c *Config) destroyCommand() *cobra.Command {
	var dependents bool
	var reason string
	var w waiting
	cmd := c.changing(&cobra.Command{
		Use: "destroy INSTANCE", Short: "Destroy what is live at an instance, and wait for the end", Args: cobra.ExactArgs(1),
		Long: `Destroy what is live at an instance, in a deployment of its own. Afterwards nothing is live there; a rollback brings it back.
It is refused where another deployment is live by then than the one that is shown.`,
		Example: "  slipway destroy shop/staging/orders\n  slipway destroy shop/staging/network --acknowledge-dependents --yes", ValidArgsFunction: c.complete(completeInstances),
	}, func(ctx context.Context, s *session, args []string) error {
		if err := want(s, progressView); err != nil {
			return err
		}
		instance, err := s.instance(ctx, args[0])
		if err != nil {
			return err
		}
		in := client.DestroyModuleInstanceInput{Id: instance.Id, Reason: orNil(reason), AcknowledgeDependents: &dependents, IdempotencyKey: newKey()}
		if instance.LiveDeployment != nil {
			in.ExpectedLiveDeploymentId = &instance.LiveDeployment.Id
		}
		if err := s.confirm(ctx, change{fmt.Sprintf("Destroy %s?", nameOfInstance(instance)), linesOfLive(instance)}); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		through, cancel := throughout(ctx)
		defer cancel()
		r, err := client.DestroyInstance(through, s.conn, in)
		if err != nil {
			return err
		}
		return w.result(ctx, s, &r.DestroyModuleInstance.Deployment)
	})
	setting.AddFlag(cmd.Flags(), &dependents, "acknowledge-dependents", "false", setting.Bool, "destroy it although deployments of other instances refer to it")
	setting.AddFlag(cmd.Flags(), &reason, "reason", "", setting.Text, "why")
	w.flags(cmd)
	return cmd
}

// newKey returns an idempotency key: a request under it may be repeated, and makes one deployment.
func newKey() *string {
	key := "cli-" + rand.Text()
	return &key
}

// linesOfLive tell of an instance what is live there.
func linesOfLive(i *client.InstanceRecord) []string {
	line := fmt.Sprintf("%s  %s", nameOfInstance(i), i.ModuleDefinition.Type)
	live := i.LiveDeployment
	if live == nil {
		return []string{line + "  nothing is live"}
	}
	if live.Release != nil {
		line += " " + live.Release.ModuleVersion.Version
	}
	return []string{line + "  live: " + live.Id + " by " + live.CreatedBy}
}
