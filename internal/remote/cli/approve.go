package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"slipway/internal/base/fault"
	"slipway/internal/base/setting"
	"slipway/internal/remote/client"
)

func (c *Config) approveCommand() *cobra.Command {
	var reason string
	var start bool
	cmd := c.decisionCommand(&cobra.Command{
		Use: "approve DEPLOYMENT", Short: "Approve a waiting deployment", Args: cobra.ExactArgs(1),
		Long: `Approve a waiting deployment. Shows its changes to the live deployment first. It starts if every
rule is met; if the start is refused, your approval is still recorded. Approving twice has no
effect. Without a terminal, or with --yes, name the deployment by its id, because a name can refer
to another deployment a moment later.

You cannot approve your own deployment, or one whose author created your token or got a token from
you.`,
		Example: "  slipway approve dep_01kb… --reason \"Looks right.\"\n  slipway approve shop/prod/orders@last\n" +
			"  slipway approve dep_01kb… --start=false",
	}, decision{verb: "Approve of", seen: true}, func(
		ctx context.Context, s *session, id string,
	) (*client.DeploymentDetail, error) {
		r, err := client.ApproveDeployment(ctx, s.conn, client.ApproveDeploymentInput{
			Id: id, Reason: orNil(reason), Start: &start,
		})
		if err != nil {
			return nil, err
		}
		approved := r.ApproveDeployment
		s.noteWarnings(approved.Warnings)
		if approved.Refusal != nil {
			s.note("it is approved, and was not started")
			return &approved.Deployment, refusalOf(approved.Refusal)
		}
		return &approved.Deployment, nil
	})
	decisionReason(cmd, &reason)
	setting.AddFlag(cmd.Flags(), &start, "start", "true", setting.Bool, "start it if every rule is met")
	return cmd
}

func (c *Config) rejectCommand() *cobra.Command {
	var reason string
	cmd := c.decisionCommand(&cobra.Command{
		Use: "reject DEPLOYMENT", Short: "Reject a waiting deployment",
		Args:    cobra.ExactArgs(1),
		Example: "  slipway reject shop/prod/orders@last --reason \"Not before the sale.\"",
	}, decision{verb: "Reject"}, func(ctx context.Context, s *session, id string) (*client.DeploymentDetail, error) {
		r, err := client.RejectDeployment(ctx, s.conn, client.RejectDeploymentInput{Id: id, Reason: orNil(reason)})
		if err != nil {
			return nil, err
		}
		return &r.RejectDeployment.Deployment, nil
	})
	decisionReason(cmd, &reason)
	return cmd
}

func (c *Config) startCommand() *cobra.Command {
	var override string
	cmd := c.decisionCommand(&cobra.Command{
		Use: "start DEPLOYMENT", Short: "Start a waiting deployment that has its approvals", Args: cobra.ExactArgs(1),
		Long: `Start a waiting deployment if every rule is met. Starting twice has no effect. Follow it with
slipway watch.

The exit code is 8 if approvals are missing.`,
		Example: "  slipway start shop/prod/orders@last\n  slipway start dep_01kb… --override-reason \"The site is down.\"",
	}, decision{verb: "Start", isFinal: func() bool { return override != "" }}, func(
		ctx context.Context, s *session, id string,
	) (*client.DeploymentDetail, error) {
		r, err := client.StartDeployment(ctx, s.conn, client.StartDeploymentInput{Id: id, OverrideReason: orNil(override)})
		if err != nil {
			return nil, err
		}
		s.noteWarnings(r.StartDeployment.Warnings)
		return &r.StartDeployment.Deployment, nil
	})
	overrideFlag(cmd, &override)
	return cmd
}

// decisionReason adds --reason, and --comment, its former name, which help does not show.
func decisionReason(c *cobra.Command, to *string) {
	setting.AddFlag(c.Flags(), to, "reason", "", setting.Text, "reason, which is recorded")
	setting.AddFlag(c.Flags(), to, "comment", "", setting.Text, "reason, which is recorded")
	c.Flags().Lookup("comment").Hidden = true
	c.MarkFlagsMutuallyExclusive("reason", "comment")
}

// overrideFlag adds the flag of commands that can go past rules.
func overrideFlag(c *cobra.Command, to *string) {
	setting.AddFlag(c.Flags(), to, "override-reason", "", setting.Text,
		"reason to override unmet rules, at least 10 characters; admins only")
}

// decision is what a command decides on a deployment that waits for approvals.
type decision struct {
	verb string
	// seen is whether it is about what somebody has seen: a name that may stand for another deployment by now is asked
	// about, and is not enough if nobody can be asked.
	seen bool
	// isFinal reports whether it cannot be undone; nil for never.
	isFinal func() bool
}

// decisionCommand makes a command that decides on a deployment that waits for approvals. What decide returns is shown,
// although it fails.
func (c *Config) decisionCommand(
	base *cobra.Command, made decision,
	decide func(ctx context.Context, s *session, id string) (*client.DeploymentDetail, error),
) *cobra.Command {
	base.ValidArgsFunction = c.complete(completeDeployments)

	return c.changing(base, func(ctx context.Context, s *session, args []string) error {
		if err := want(s, deploymentDetailView); err != nil {
			return err
		}

		d, err := s.deployment(ctx, args[0])
		if err != nil {
			return err
		}

		lines, err := s.linesOfWaiting(ctx, d)
		if err != nil {
			return err
		}

		asks := change{
			question: fmt.Sprintf("%s %s?", made.verb, d.Id), lines: lines, final: made.isFinal != nil && made.isFinal(),
		}

		if made.seen && d.Id != args[0] && !s.interactive() {
			for _, line := range lines {
				s.note("  %s", line)
			}
			return setting.Usagef("deployment: want the id of the one that you have seen, found %q, which is %s now; "+
				"nothing was changed", args[0], d.Id)
		}

		if err := s.confirm(ctx, asks); err != nil {
			return err
		}

		decided, refusal := decide(ctx, s, d.Id)
		if decided == nil {
			return refusal
		}
		if err := show(s, deploymentDetailView, decided); err != nil {
			return err
		}
		return refusal
	})
}

// linesOfWaiting tell of a deployment what it is, and while it waits for approvals also what it changes and what is
// demanded.
func (s *session) linesOfWaiting(ctx context.Context, d *client.DeploymentDetail) ([]string, error) {
	lines := []string{lineOf(d) + "  by " + d.CreatedBy.Name}
	if d.Reason != nil {
		lines = append(lines, "reason: "+*d.Reason)
	}
	if d.Status != client.DeploymentStatusAwaitingApproval {
		return lines, nil
	}
	changes, err := s.linesOfChange(ctx, d)
	if err != nil {
		return nil, err
	}
	return append(append(lines, changes...), linesOfRequirements(d.Requirements)...), nil
}

// linesOfChange tell what a deployment changes of what is live at its instance.
func (s *session) linesOfChange(ctx context.Context, d *client.DeploymentDetail) ([]string, error) {
	if d.Action == client.DeploymentActionDestroy {
		return []string{"destroys what is live"}, nil
	}

	i, err := s.instance(ctx, d.ModuleInstance.Id)
	if err != nil {
		return nil, err
	}
	if i.LiveDeployment == nil {
		return []string{"nothing is live"}, nil
	}

	r, err := client.CompareDeployments(ctx, s.conn, i.LiveDeployment.Id, d.Id)
	if isCode(err, fault.ReleaseUnavailable) {
		return []string{"what is live is not known"}, nil
	}
	if err != nil {
		return nil, err
	}

	head := fmt.Sprintf("live: %sby %s", s.when(&i.LiveDeployment.CreatedAt), i.LiveDeployment.CreatedBy.Name)
	return append([]string{head}, linesOfDifferences(differencesOf(r.CompareDeployments))...), nil
}

// linesOfRequirements tell what rules demand.
func linesOfRequirements(all []client.RequirementRecord) (lines []string) {
	for _, r := range all {
		line := r.Message
		if !r.Met && r.At != nil {
			line += " It will be met at " + r.At.UTC().Format(time.RFC3339) + "."
		}
		lines = append(lines, line)
	}
	return lines
}

// tellDemanded tells what a deployment waits for, and how it goes on.
func (s *session) tellDemanded(ctx context.Context, id string) error {
	r, err := client.Deployment(ctx, s.conn, id)
	if err != nil {
		return err
	}
	d := r.Deployment
	if d.WaitsUntil == nil || d.Status != client.DeploymentStatusAwaitingApproval { // it has gone on already
		return nil
	}
	s.note("%s waits for approvals until %s:", d.Id, d.WaitsUntil.UTC().Format(time.RFC3339))
	for _, line := range linesOfRequirements(d.Requirements) {
		s.note("  %s", line)
	}
	s.note("approve of it, as somebody else, with: slipway approve %s", d.Id)
	s.note("start it, once all of this is met, with: slipway start %s", d.Id)
	return nil
}

// refusalOf returns the error of a refusal that is a part of an answer.
func refusalOf(data *fault.Data) error {
	return &client.Error{Status: fault.Code(data.Code).Status(), Data: *data}
}
