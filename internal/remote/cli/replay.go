package cli

import (
	"context"

	"github.com/spf13/cobra"

	"slipway/internal/base/setting"
	"slipway/internal/remote/client"
)

// replayMode is how a deployment is replayed: as a rollback or as it is deployed again.
type replayMode struct {
	// verb is what a person is asked about.
	verb string
	// prepare returns what is to be planned of a source, and how that is carried out if it comes to what was planned.
	prepare func(s *session, sourceID string, m *making) (client.DeploymentPlanInput, func(planned *string) makeFunc)
}

var rollingBack = replayMode{"Roll back", func(
	s *session, sourceID string, m *making,
) (client.DeploymentPlanInput, func(*string) makeFunc) {
	in := client.RollbackDeploymentInput{Id: sourceID, Reason: orNil(m.reason), OverrideReason: orNil(m.override)}
	return client.DeploymentPlanInput{Rollback: &in}, func(planned *string) makeFunc {
		in.ExpectedPlan, in.IdempotencyKey = planned, newKey()
		return func(ctx context.Context) (*client.DeploymentRecord, []client.WarningRecord, error) {
			r, err := client.RollbackDeployment(ctx, s.conn, in)
			if err != nil {
				return nil, nil, err
			}
			return &r.RollbackDeployment.Deployment, r.RollbackDeployment.Warnings, nil
		}
	}
}}

var redeploying = replayMode{"Redeploy", func(
	s *session, sourceID string, m *making,
) (client.DeploymentPlanInput, func(*string) makeFunc) {
	in := client.RedeployDeploymentInput{Id: sourceID, Reason: orNil(m.reason), OverrideReason: orNil(m.override)}
	return client.DeploymentPlanInput{Redeploy: &in}, func(planned *string) makeFunc {
		in.ExpectedPlan, in.IdempotencyKey = planned, newKey()
		return func(ctx context.Context) (*client.DeploymentRecord, []client.WarningRecord, error) {
			r, err := client.RedeployDeployment(ctx, s.conn, in)
			if err != nil {
				return nil, nil, err
			}
			return &r.RedeployDeployment.Deployment, r.RedeployDeployment.Warnings, nil
		}
	}
}}

func (c *Config) rollbackCommand() *cobra.Command {
	var to string
	cmd := c.replayCommand(&cobra.Command{
		Use: "rollback INSTANCE", Short: "Roll an instance back to an earlier release",
		Args: cobra.ExactArgs(1),
		Long: `Roll an instance back: ship the release of an earlier success again, with its version, values and
artifact.

The default is INSTANCE@previous: the newest success of another release, not quarantined, from
before the live release first succeeded. Two rollbacks in a row therefore go two releases back.

Shows the change first. If the plan changes meanwhile, nothing is deployed.`,
		Example: "  slipway rollback shop/prod/orders\n" +
			"  slipway rollback shop/prod/orders --to dep_01kb… --reason \"errors since noon\" --yes",
		ValidArgsFunction: c.complete(completeInstances),
	}, rollingBack, func(ctx context.Context, s *session, instance string) (string, error) {
		i, err := s.instance(ctx, instance)
		if err != nil {
			return "", err
		}
		if to == "" {
			if i.LiveDeployment == nil {
				return "", refusedf("nothing is live at %s; name the deployment to bring back with --to", nameOfInstance(i))
			}
			return s.previous(ctx, i)
		}
		target, err := s.deployment(ctx, to)
		if err == nil && target.ModuleInstance.Id != i.Id {
			err = setting.Usagef("--to %s: want a deployment of %s, found one of %s", to, nameOfInstance(i),
				placeOf(target.ModuleInstance))
		}
		if err != nil {
			return "", err
		}
		return target.Id, nil
	})
	setting.AddFlag(cmd.Flags(), &to, "to", "", setting.Text, "deployment to roll back to (default: INSTANCE@previous)")
	completeFlag(cmd, "to", c.complete(completeDeployments))
	return cmd
}

func (c *Config) redeployCommand() *cobra.Command {
	return c.replayCommand(&cobra.Command{
		Use: "redeploy DEPLOYMENT", Short: "Repeat an earlier deployment exactly",
		Args:              cobra.ExactArgs(1),
		Example:           "  slipway redeploy shop/prod/orders@last\n  slipway redeploy dep_01kb… --yes",
		ValidArgsFunction: c.complete(completeDeployments),
	}, redeploying, func(ctx context.Context, s *session, ref string) (string, error) { return s.deploymentID(ctx, ref) })
}

// replayCommand makes a command that replays the deployment which find returns for the argument.
func (c *Config) replayCommand(
	base *cobra.Command, mode replayMode, find func(ctx context.Context, s *session, ref string) (string, error),
) *cobra.Command {
	var m making

	cmd := c.build(base, options{target: &target{}, changes: true, formats: []format{formatMarkdown}}, func(
		ctx context.Context, s *session, args []string,
	) error {
		return m.run(ctx, s, mode.verb, func(ctx context.Context) (*plan, makeFunc, error) {
			sourceID, err := find(ctx, s, args[0])
			if err != nil {
				return nil, nil, err
			}

			r, err := client.Deployment(ctx, s.conn, sourceID)
			if err != nil {
				return nil, nil, err
			}

			p := planOf(r.Deployment, r.Deployment.ModuleInstance)
			in, do := mode.prepare(s, sourceID, &m)
			if _, err := p.ask(ctx, s, in); err != nil {
				return nil, nil, err
			}
			return p, do(p.token), nil
		})
	})

	m.flags(cmd)
	return cmd
}

// planOf returns a plan of which nothing is known but that the release of a deployment is brought to an instance.
func planOf(source *client.DeploymentDetail, to client.InstanceName) *plan {
	p := newPlan(placeOf(to))
	p.Source = &source.Id
	if source.Release != nil {
		p.Module, p.ToVersion = source.Release.ModuleVersion.ModuleDefinition.Type, source.Release.ModuleVersion.Version
	}
	return p
}
