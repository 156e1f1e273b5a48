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
		Short: "Deploy to an instance what has succeeded at another of its module, and wait for the end",
		Args:  cobra.ExactArgs(2),
		Long: `Deploy to an instance what was given to a deployment that succeeded at another of its module: its version,` +
			` artifact and values.
Defaults are rendered anew, and a reference becomes the instance of the same name and module in the environment.` +
			` What the
instance has of its own inputs stays; for these, and for references, --set and --values give others.

What would change is shown beforehand, and the promotion is bound to it: where it would be another by then,` +
			` nothing is done.`,
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
		"file of values of own inputs and references, YAML or JSON; - is standard input; "+
			"what a later one has goes over an earlier")
	setting.AddRepeatableFlag(fs, &p.set, "set", "", settings("ID=TEXT"),
		"value of an own input or a reference, read as its type says")
	setting.AddRepeatableFlag(fs, &p.setJSON, "set-json", "", settings("POINTER=JSON"),
		"JSON at a place in these values: /tags/env=\"prod\"")
	setting.AddFlag(fs, &p.artifact, "artifact", "", setting.Text,
		"JSON of the artifact, or @ and a file of it, where the instance has its own")
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
