package cli

import (
	"context"

	"github.com/spf13/cobra"

	"slipway/internal/base/setting"
	"slipway/internal/remote/cli/manifest"
	"slipway/internal/remote/client"
)

// promoting is what the flags of promote say.
type promoting struct {
	making
	inputFlags
	artifact string
}

func (c *Config) promoteCommand() *cobra.Command {
	var p promoting
	cmd := c.build(&cobra.Command{
		Use:   "promote DEPLOYMENT INSTANCE",
		Short: "Deploy what succeeded in another instance of the module",
		Args:  cobra.ExactArgs(2),
		Long: `Deploy a success of one instance to another instance of the same module: its version, artifact and
values. Defaults are rendered again, and a reference becomes the instance with the same name and
module in the target environment. Own inputs of the target keep their values. --set and --values
change own inputs and references only.

Shows the change first. If the plan changes meanwhile, nothing is deployed.`,
		Example: `  slipway promote shop/staging/orders@live shop/prod/orders
  slipway promote shop/staging/orders@live shop/prod/orders --set network=./network --reason "Tested." --yes`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return c.complete(completeDeployments)(cmd, args, text)
			}
			return c.complete(completeInstances)(cmd, args, text)
		},
	}, options{target: &target{}, changes: true, formats: []format{formatMarkdown}}, func(
		ctx context.Context, s *session, args []string,
	) error {
		if err := p.readOnce(p.artifact, ""); err != nil {
			return err
		}
		return p.run(ctx, s, "Promote",
			func(ctx context.Context) (*plan, makeFunc, error) { return p.prepare(ctx, s, args[0], args[1]) })
	})
	fs := cmd.Flags()
	setting.AddRepeatableFlag(fs, &p.files, "values", "", whole("FILE"),
		"YAML or JSON file with values of own inputs and references (- is standard input); later files override earlier ones")
	setting.AddRepeatableFlag(fs, &p.set, "set", "", settings("ID=TEXT"),
		"value of an own input or a reference, parsed as its type")
	setting.AddRepeatableFlag(fs, &p.setJSON, "set-json", "", settings("POINTER=JSON"),
		"JSON value at a pointer into these values, such as /tags/env=\"prod\"")
	setting.AddFlag(fs, &p.artifact, "artifact", "", setting.Text,
		"artifact as JSON, or @FILE, if the instance has its own")
	p.making.flags(cmd)
	return cmd
}

// prepare plans a promotion.
func (p *promoting) prepare(ctx context.Context, s *session, sourceRef, instanceRef string) (*plan, makeFunc, error) {
	source, err := s.deployment(ctx, sourceRef)
	if err != nil {
		return nil, nil, err
	}
	instance, err := s.instance(ctx, instanceRef)
	if err != nil {
		return nil, nil, err
	}

	in := client.PromoteDeploymentInput{
		Id: source.Id, ModuleInstanceId: instance.Id, Reason: orNil(p.reason), OverrideReason: orNil(p.override),
	}
	if in.Artifact, err = s.jsonOf(ctx, "artifact", p.artifact); err != nil {
		return nil, nil, err
	}

	given, err := p.values(ctx, s, source, instance)
	if err != nil {
		return nil, nil, err
	}
	if len(given.ids) > 0 {
		in.Inputs = given.sent
	}

	planned := planOf(source, client.InstanceName{
		Name: instance.Name, Project: instance.Project, Environment: instance.Environment,
	})
	answer, err := planned.ask(ctx, s, client.DeploymentPlanInput{Promote: &in})
	if err != nil {
		return nil, nil, err
	}

	if wrong := violationsInValues(answer.Violations); len(wrong) > 0 {
		return nil, nil, s.violations(given.values.Findings(wrong))
	}

	in.ExpectedPlan, in.IdempotencyKey = planned.token, newKey()
	return planned, func(ctx context.Context) (*client.DeploymentRecord, []client.WarningRecord, error) {
		r, err := client.PromoteDeployment(ctx, s.conn, in)
		if err != nil {
			return nil, nil, err
		}
		return &r.PromoteDeployment.Deployment, r.PromoteDeployment.Warnings, nil
	}, nil
}

// values returns what is given in the place of values of the source, read as its version has the inputs.
func (p *promoting) values(
	ctx context.Context, s *session, source *client.DeploymentDetail, to *client.InstanceRecord,
) (*givenInputs, error) {
	// What has no release cannot be promoted, which the server says.
	if len(p.files)+len(p.set)+len(p.setJSON) == 0 || source.Release == nil {
		return &givenInputs{values: &manifest.Values{}}, nil
	}
	version, err := s.versionToDeploy(ctx, source.Release.ModuleVersion.ModuleDefinition.Type,
		source.Release.ModuleVersion.Id)
	if err != nil {
		return nil, err
	}
	inputs, err := inputsOf(version)
	if err != nil {
		return nil, err
	}
	return p.given(ctx, s, nil, inputs, manifest.Environment{Project: to.Project.Slug, Slug: to.Environment.Slug})
}
