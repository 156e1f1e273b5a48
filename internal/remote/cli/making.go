package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"slipway/internal/base/fault"
	"slipway/internal/base/setting"
	"slipway/internal/remote/client"
)

// making is what the flags say of a command that makes a deployment, whatever of.
type making struct {
	reason, override string
	dryRun           bool
	waiting
}

func (m *making) flags(c *cobra.Command) {
	setting.AddFlag(c.Flags(), &m.reason, "reason", "", setting.Text, "reason, which is recorded")
	overrideFlag(c, &m.override)
	setting.AddFlag(c.Flags(), &m.dryRun, "dry-run", "false", setting.Bool, "show the change and deploy nothing")
	m.waiting.flags(c)
}

// makeFunc makes a deployment if that comes to what was planned, and returns what is to be seen to.
type makeFunc func(ctx context.Context) (*client.DeploymentRecord, []client.WarningRecord, error)

// run shows a plan, asks, makes the deployment and waits for its end. If the deployment would be another by then, a
// person is shown the plan anew. prepare returns the plan, and how it is carried out.
func (m *making) run(
	ctx context.Context, s *session, verb string, prepare func(context.Context) (*plan, makeFunc, error),
) error {
	if m.dryRun {
		if err := want(s, planView); err != nil {
			return err
		}
		p, _, err := prepare(ctx)
		if err != nil {
			return err
		}
		return p.show(s)
	}

	if s.out.format == formatMarkdown {
		return setting.Usagef("-o markdown is for --dry-run")
	}
	if err := m.wantResult(s); err != nil {
		return err
	}

	for {
		made, err := m.once(ctx, s, verb, prepare)
		if isCode(err, fault.DeploymentPlanMoved, fault.DeploymentLiveChanged) && s.interactive() {
			s.note("%v", err)
			continue
		}
		if err != nil {
			return err
		}
		return m.result(ctx, s, made)
	}
}

func (m *making) once(
	ctx context.Context, s *session, verb string, prepare func(context.Context) (*plan, makeFunc, error),
) (*client.DeploymentRecord, error) {
	p, do, err := prepare(ctx)
	if err != nil {
		return nil, err
	}

	if p.refused != nil {
		if err := s.tellWho(ctx); err != nil {
			return nil, err
		}
		return nil, refusalOf(p.refused)
	}

	if err := s.confirm(ctx, change{
		question: verb + "?", lines: p.lines(s), final: p.destroys || m.override != "",
	}); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}

	// What has begun is not left half done when the command is interrupted.
	through, cancel := throughout(ctx)
	defer cancel()
	made, warnings, err := do(through)
	if err != nil {
		return nil, err
	}

	for _, w := range inValues(warnings) {
		isShown := func(shown client.WarningRecord) bool { return shown.Rule == w.Rule && shown.Message == w.Message }
		if w.Rule != awaitsApproval && !slices.ContainsFunc(p.Warnings, isShown) {
			s.note("%s", warningLine(w))
		}
	}
	return made, nil
}
