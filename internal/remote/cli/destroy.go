package cli

import (
	"context"
	"crypto/rand"

	"github.com/spf13/cobra"

	"slipway/internal/base/setting"
	"slipway/internal/remote/client"
)

func (c *Config) destroyCommand() *cobra.Command {
	var dependents bool
	var m making

	cmd := c.build(&cobra.Command{
		Use: "destroy INSTANCE", Short: "Destroy what an instance has deployed", Args: cobra.ExactArgs(1),
		Long: `Destroy the infrastructure of an instance, in a deployment of its own. Afterwards nothing is live,
and a rollback brings the instance back. Shows the live deployment first. If another deployment goes
live meanwhile, nothing is destroyed.`,
		Example: "  slipway destroy shop/staging/orders\n" +
			"  slipway destroy shop/staging/network --acknowledge-dependents --yes",
		ValidArgsFunction: c.complete(completeInstances),
	}, options{target: &target{}, changes: true, formats: []format{formatMarkdown}}, func(
		ctx context.Context, s *session, args []string,
	) error {
		return m.run(ctx, s, "Destroy", func(ctx context.Context) (*plan, makeFunc, error) {
			instance, err := s.instance(ctx, args[0])
			if err != nil {
				return nil, nil, err
			}

			p := newPlan(nameOfInstance(instance))
			p.Module, p.destroys = instance.ModuleDefinition.Type, true

			in := client.DestroyModuleInstanceInput{
				Id: instance.Id, Reason: orNil(m.reason), AcknowledgeDependents: &dependents, OverrideReason: orNil(m.override),
			}
			if _, err := p.ask(ctx, s, client.DeploymentPlanInput{Destroy: &in}); err != nil {
				return nil, nil, err
			}

			p.ToVersion = textOf(p.FromVersion)
			in.ExpectedPlan, in.IdempotencyKey = p.token, newKey()

			return p, func(ctx context.Context) (*client.DeploymentRecord, []client.WarningRecord, error) {
				r, err := client.DestroyInstance(ctx, s.conn, in)
				if err != nil {
					return nil, nil, err
				}
				return &r.DestroyModuleInstance.Deployment, r.DestroyModuleInstance.Warnings, nil
			}, nil
		})
	})

	setting.AddFlag(cmd.Flags(), &dependents, "acknowledge-dependents", "false", setting.Bool,
		"destroy even if deployments of other instances refer to it")
	m.flags(cmd)
	return cmd
}

// newKey returns an idempotency key: a request under it may be repeated, and makes one deployment.
func newKey() *string {
	key := "cli-" + rand.Text()
	return &key
}
