package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"slipway/internal/client"
	"slipway/internal/fault"
	"slipway/internal/setting"
)

// replayMode is how a deployment is replayed: as a rollback or as it is deployed again.
type replayMode struct {
	// verb is what a person is asked about.
	verb     string
	eligible func(*client.DeploymentDetail) client.Eligibility
	// replay makes the deployment.
	replay func(ctx context.Context, s *session, sourceID string, live, reason *string) (*client.DeploymentRecord, []client.WarningRecord, error)
}

var rollingBack = replayMode{
	verb:     "Roll back",
	eligible: func(d *client.DeploymentDetail) client.Eligibility { return d.RollbackEligibility },
	replay: func(ctx context.Context, s *session, sourceID string, live, reason *string) (*client.DeploymentRecord, []client.WarningRecord, error) {
		r, err := client.RollbackDeployment(ctx, s.conn, client.RollbackDeploymentInput{Id: sourceID, ExpectedLiveDeploymentId: live, Reason: reason, IdempotencyKey: newKey()})
		if err != nil {
			return nil, nil, err
		}
		return &r.RollbackDeployment.Deployment, r.RollbackDeployment.Warnings, nil
	},
}

var redeploying = replayMode{
	verb:     "Redeploy",
	eligible: func(d *client.DeploymentDetail) client.Eligibility { return d.RedeployEligibility },
	replay: func(ctx context.Context, s *session, sourceID string, live, reason *string) (*client.DeploymentRecord, []client.WarningRecord, error) {
		r, err := client.RedeployDeployment(ctx, s.conn, client.RedeployDeploymentInput{Id: sourceID, ExpectedLiveDeploymentId: live, Reason: reason, IdempotencyKey: newKey()})
		if err != nil {
			return nil, nil, err
		}
		return &r.RedeployDeployment.Deployment, r.RedeployDeployment.Warnings, nil
	},
}

func (c *Config) rollbackCommand() *cobra.Command {
	var to string
	cmd := c.replayCommand(&cobra.Command{
		Use: "rollback INSTANCE", Short: "Roll an instance back to what it had before, and wait for the end", Args: cobra.ExactArgs(1),
		Long: `Roll an instance back: an earlier deployment that succeeded is replayed exactly, with its version, values and artifact.

Without --to it is INSTANCE@previous: the newest success of another release that is not quarantined, from before the live
release first succeeded there. So two rollbacks go two steps back, and not forth again.

What would change is shown beforehand, and the rollback is bound to it: where another deployment is live by then, nothing is
done.`,
		Example:           "  slipway rollback shop/prod/orders\n  slipway rollback shop/prod/orders --to dep_01kb… --reason \"errors since noon\" --yes",
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
			err = setting.Usagef("--to %s: want a deployment of %s, found one of %s", to, nameOfInstance(i), placeOf(target.ModuleInstance))
		}
		if err != nil {
			return "", err
		}
		return target.Id, nil
	})
	setting.AddFlag(cmd.Flags(), &to, "to", "", setting.Text, "deployment to roll back to, instead of the previous one")
	completeFlag(cmd, "to", c.complete(completeDeployments))
	return cmd
}

func (c *Config) redeployCommand() *cobra.Command {
	return c.replayCommand(&cobra.Command{
		Use: "redeploy DEPLOYMENT", Short: "Deploy again exactly what an earlier deployment did, and wait for the end", Args: cobra.ExactArgs(1),
		Example:           "  slipway redeploy shop/prod/orders@last\n  slipway redeploy dep_01kb… --yes",
		ValidArgsFunction: c.complete(completeDeployments),
	}, redeploying, func(ctx context.Context, s *session, ref string) (string, error) { return s.deploymentID(ctx, ref) })
}

// replayCommand makes a command that replays the deployment which find returns for the argument.
func (c *Config) replayCommand(base *cobra.Command, mode replayMode, find func(ctx context.Context, s *session, ref string) (string, error)) *cobra.Command {
	var reason string
	var w waiting
	cmd := c.changing(base, func(ctx context.Context, s *session, args []string) error {
		if err := want(s, progressView); err != nil {
			return err
		}
		for {
			d, err := mode.start(ctx, s, args[0], find, orNil(reason))
			if isCode(err, fault.DeploymentLiveChanged) && s.interactive() {
				s.note("another deployment is live by now")
				continue
			}
			if err != nil {
				return err
			}
			return w.result(ctx, s, d)
		}
	})
	setting.AddFlag(cmd.Flags(), &reason, "reason", "", setting.Text, "why it is done")
	w.flags(cmd)
	return cmd
}

// start shows what a replay changes, asks, and makes it.
func (m replayMode) start(ctx context.Context, s *session, ref string, find func(ctx context.Context, s *session, ref string) (string, error), reason *string) (*client.DeploymentRecord, error) {
	sourceID, err := find(ctx, s, ref)
	if err != nil {
		return nil, err
	}
	r, err := client.Deployment(ctx, s.conn, sourceID)
	if err != nil {
		return nil, err
	}
	source := r.Deployment
	e := m.eligible(source)
	if !e.Allowed {
		code := fault.Code(textOf(e.Code))
		return nil, &client.Error{Status: code.Status(), Data: fault.Data{Code: string(code), Message: textOf(e.Message)}}
	}
	instance, err := s.instance(ctx, source.ModuleInstance.Id)
	if err != nil {
		return nil, err
	}
	lines, live, err := s.linesOfReplay(ctx, instance, source)
	if err != nil {
		return nil, err
	}
	if e.Warning != nil {
		lines = append(lines, "warning: "+*e.Warning)
	}
	if err := s.confirm(ctx, change{question: m.verb + "?", lines: lines}); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	through, cancel := throughout(ctx)
	defer cancel()
	made, warnings, err := m.replay(through, s, source.Id, live, reason)
	for _, w := range warnings {
		if e.Warning == nil {
			s.note("warning: %s", w.Message)
		}
	}
	return made, err
}

// linesOfReplay tell what a replay of a deployment changes of what is live, and what that is.
func (s *session) linesOfReplay(ctx context.Context, i *client.InstanceRecord, source *client.DeploymentDetail) (lines []string, live *string, err error) {
	to := ""
	if source.Release != nil {
		to = source.Release.ModuleVersion.ModuleDefinition.Type + " " + source.Release.ModuleVersion.Version
	}
	if i.LiveDeployment == nil {
		return []string{fmt.Sprintf("%s  %s of %s  nothing is live", nameOfInstance(i), to, source.Id)}, nil, nil
	}
	live = &i.LiveDeployment.Id
	r, err := client.CompareDeployments(ctx, s.conn, *live, source.Id)
	if isCode(err, fault.ReleaseUnavailable) {
		return []string{fmt.Sprintf("%s  %s of %s  what is live is not known", nameOfInstance(i), to, source.Id)}, live, nil
	}
	if err != nil {
		return nil, nil, err
	}
	lines = []string{fmt.Sprintf("%s  %s of %s  live: %sby %s", nameOfInstance(i), to, source.Id, s.when(&i.LiveDeployment.CreatedAt), i.LiveDeployment.CreatedBy)}
	return append(lines, linesOfDifferences(differencesOf(r.CompareDeployments))...), live, nil
}
