package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/Khan/genqlient/graphql"
	"github.com/spf13/cobra"

	"slipway/internal/base/setting"
	"slipway/internal/remote/client"
)

func (c *Config) rulesCommand() *cobra.Command {
	return Group("rules", "Manage the rules that deployments must meet",
		c.rulesListCommand(), c.rulesCreateCommand(), c.rulesUpdateCommand(), c.rulesEndCommand())
}

func (c *Config) rulesListCommand() *cobra.Command {
	var p paging
	var ended bool
	var in string

	cmd := c.command(&cobra.Command{
		Use: "list", Short: "List the rules in force, newest first", Args: cobra.NoArgs,
		Example: "  slipway rules list\n  slipway rules list --in shop/prod\n  slipway rules list --ended --limit 0 -o json",
	}, func(ctx context.Context, s *session, _ []string) error {
		if err := want(s, ruleView); err != nil {
			return err
		}

		filter := &client.RuleFilter{Ended: &ended}
		if in != "" {
			var err error
			if filter.ProjectId, filter.EnvironmentId, err = s.within(ctx, in, ""); err != nil {
				return err
			}
		}
		return list(ctx, s, ruleView, p, s.rulePages(filter))
	})

	p.flags(cmd)
	setting.AddFlag(cmd.Flags(), &in, "in", "", setting.Text,
		"only rules that apply in an environment, or rules for a project and its environments")
	completeFlag(cmd, "in", c.complete(completeEnvironments))
	setting.AddFlag(cmd.Flags(), &ended, "ended", "false", setting.Bool, "list ended rules instead")
	return cmd
}

// ruleFlags are what the flags say of a rule, whether it is new or changed.
type ruleFlags struct {
	demandFlags
	operations  []client.DeploymentOperation
	overridable bool
}

var operations = setting.Parser[[]client.DeploymentOperation]{Kind: "OPERATIONS", Parse: func(
	s string,
) (all []client.DeploymentOperation, err error) {
	for part := range strings.SplitSeq(s, ",") {
		operation := client.DeploymentOperation(strings.ToUpper(strings.TrimSpace(part)))
		if !slices.Contains(client.AllDeploymentOperation, operation) {
			return nil, setting.Unlike("some of "+strings.Join(operationNames(), ", ")+", between commas", s)
		}
		all = append(all, operation)
	}
	return all, nil
}}

func operationNames() []string {
	names := make([]string, len(client.AllDeploymentOperation))
	for i, o := range client.AllDeploymentOperation {
		names[i] = strings.ToLower(string(o))
	}
	return names
}

func (f *ruleFlags) flags(c *cobra.Command) {
	setting.AddFlag(c.Flags(), &f.operations, "operations", "", operations,
		"operations that the rule applies to, some of "+strings.Join(operationNames(), ",")+
			" (default of a new rule: all except rollback, and except destroy with --live-in)")
	f.demandFlags.flags(c)
	setting.AddFlag(c.Flags(), &f.overridable, "overridable", "true", setting.Bool,
		"admins can override the rule, with a reason")
}

const demandHelp = `A rule has one requirement: --approvals by people other than the author, opening --hours, a period
of --freeze, or --live-in, for a release that was live in another environment first.`

func (c *Config) rulesCreateCommand() *cobra.Command {
	var f ruleFlags
	var name, project, environment string

	cmd := c.changing(&cobra.Command{
		Use: "create --name NAME", Short: "Create a rule", Args: cobra.NoArgs,
		Long: "Create a rule for a project, for an environment, or for the whole organization.\n\n" + demandHelp,
		Example: `  slipway rules create --name "Four eyes" --environment shop/prod --approvals 1 --role admin
  slipway rules create --name "Office hours" --environment shop/prod --hours "Europe/Berlin mon-thu 09:00-17:00"` +
			` --hours "Europe/Berlin fri 09:00-12:00"
  slipway rules create --name "Christmas" --freeze 2026-12-20T00:00:00Z/2027-01-04T00:00:00Z --overridable=false
  slipway rules create --name "Tested" --environment shop/prod --live-in shop/staging --minutes 60`,
	}, func(ctx context.Context, s *session, _ []string) error {
		if err := want(s, ruleView); err != nil {
			return err
		}

		if name == "" {
			return setting.Usagef("--name: want what the rule is called, found nothing")
		}

		demand, err := f.demand(ctx, s, nil)
		if err != nil {
			return err
		}
		if demand == nil {
			return setting.Usagef("want one of %s, found none", oneDemand)
		}

		in := client.CreateRuleInput{Name: name, Operations: f.operations, Demand: *demand, Overridable: &f.overridable}
		if in.ProjectId, in.EnvironmentId, err = s.placeOfRule(ctx, project, environment); err != nil {
			return err
		}

		if err := s.confirm(ctx, change{question: fmt.Sprintf("Create the rule %q?", name)}); err != nil {
			return err
		}
		r, err := s.createRule(ctx, in)
		if err != nil {
			return err
		}
		return show(s, ruleView, r)
	})

	setting.AddFlag(cmd.Flags(), &name, "name", "", setting.Text, "name of the rule")
	setting.AddFlag(cmd.Flags(), &project, "project", "", setting.Text, "project that the rule applies to")
	completeFlag(cmd, "project", c.complete(completeProjects))
	setting.AddFlag(cmd.Flags(), &environment, "environment", "", setting.Text, "environment that the rule applies to")
	completeFlag(cmd, "environment", c.complete(completeEnvironments))
	f.flags(cmd)
	completeFlag(cmd, "live-in", c.complete(completeEnvironments))
	return cmd
}

// placeOfRule returns the ids of the project and of the environment that a rule is for, nil for all.
func (s *session) placeOfRule(
	ctx context.Context, project, environment string,
) (projectID, environmentID *string, err error) {
	if project != "" {
		p, err := s.project(ctx, project)
		if err != nil {
			return nil, nil, err
		}
		projectID = &p.Id
	}
	if environment != "" {
		e, err := s.environment(ctx, environment)
		if err != nil {
			return nil, nil, err
		}
		environmentID = &e.Id
	}
	return projectID, environmentID, nil
}

// createRule creates a rule. If the answer was lost, it is the one of this name that was not there before.
func (s *session) createRule(ctx context.Context, in client.CreateRuleInput) (made *rule, err error) {
	var before []string
	tried := false

	err = s.conn.write(ctx, func(ctx context.Context) (bool, error) {
		found, err := s.rules(ctx, false, func(r *rule) bool { return r.Name == in.Name && !slices.Contains(before, r.ID) })
		switch {
		case err != nil:
			return false, err
		case tried && len(found) > 0:
			made = found[0]
			return true, nil
		case tried:
			return false, nil
		}

		for _, r := range found {
			before = append(before, r.ID)
		}
		return false, nil
	}, func(ctx context.Context, g graphql.Client) error {
		tried = true
		r, err := client.CreateRule(ctx, g, in)
		if err != nil {
			return err
		}
		s.tellRuleWarnings(r.CreateRule.Warnings)
		made, err = ruleOf(r.CreateRule.Rule)
		return err
	})
	return made, err
}

func (c *Config) rulesUpdateCommand() *cobra.Command {
	var f ruleFlags
	var name string

	cmd := c.changing(&cobra.Command{
		Use: "update RULE", Short: "Change a rule in force", Args: cobra.ExactArgs(1),
		Long: "Change a rule in force. Settings without a flag are kept: --approvals 2 keeps the role.\n\n" + demandHelp,
		Example: `  slipway rules update "Four eyes" --approvals 2
  slipway rules update "Four eyes" --role admin
  slipway rules update rule_01kb… --name "Four eyes" --operations create,promote,rollback`,
		ValidArgsFunction: c.complete(completeRules),
	}, func(ctx context.Context, s *session, args []string) error {
		if err := want(s, ruleView); err != nil {
			return err
		}

		in := client.UpdateRuleInput{Name: orNil(name), Operations: f.operations}
		if f.changed("overridable") {
			in.Overridable = &f.overridable
		}
		if in.Name == nil && in.Operations == nil && in.Overridable == nil && !f.changesDemand() {
			return setting.Usagef("want what is to change, --name, --operations, --overridable, %s, found nothing", oneDemand)
		}

		r, err := s.rule(ctx, args[0])
		if err != nil {
			return err
		}

		held, err := readDemand(r.Demand)
		if err != nil {
			return err
		}
		if in.Demand, err = f.demand(ctx, s, held); err != nil {
			return err
		}

		in.Id, in.ExpectedVersion = r.ID, &r.Version
		if err := s.confirm(ctx, change{
			question: fmt.Sprintf("Change the rule %q?", r.Name), lines: []string{lineOfRule(r)},
		}); err != nil {
			return err
		}

		updated, err := client.UpdateRule(ctx, s.conn, in)
		if err != nil {
			return err
		}
		s.tellRuleWarnings(updated.UpdateRule.Warnings)
		return showRule(s, updated.UpdateRule.Rule)
	})

	setting.AddFlag(cmd.Flags(), &name, "name", "", setting.Text, "new name")
	f.flags(cmd)
	completeFlag(cmd, "live-in", c.complete(completeEnvironments))
	return cmd
}

func (c *Config) rulesEndCommand() *cobra.Command {
	return c.changing(&cobra.Command{
		Use: "end RULE", Short: "End a rule", Args: cobra.ExactArgs(1),
		Example:           "  slipway rules end \"Two eyes\"\n  slipway rules end rule_01kb…",
		ValidArgsFunction: c.complete(completeRules),
	}, func(ctx context.Context, s *session, args []string) error {
		if err := want(s, ruleView); err != nil {
			return err
		}

		r, err := s.rule(ctx, args[0])
		if err != nil {
			return err
		}

		if err := s.confirm(ctx, change{
			question: fmt.Sprintf("End the rule %q?", r.Name), lines: []string{lineOfRule(r)}, final: true,
		}); err != nil {
			return err
		}

		ended, err := client.EndRule(ctx, s.conn, client.EndRuleInput{Id: r.ID, ExpectedVersion: &r.Version})
		if err != nil {
			return err
		}
		return showRule(s, ended.EndRule.Rule)
	})
}

func lineOfRule(r *rule) string { return r.Name + gap + r.ID + gap + r.Demands }

func showRule(s *session, r client.RuleRecord) error {
	shown, err := ruleOf(r)
	if err != nil {
		return err
	}
	return show(s, ruleView, shown)
}

// tellRuleWarnings tells what is to be seen to of a rule.
func (s *session) tellRuleWarnings(warnings []client.WarningRecord) {
	for _, w := range warnings {
		s.note("warning: %s", w.Message)
	}
}
