package cli

import (
	"context"

	"github.com/Khan/genqlient/graphql"
	"github.com/spf13/cobra"

	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/setting"
	"slipway/internal/remote/client"
)

// deploying is what the flags of deploy and preview say.
type deploying struct {
	inputFlags
	version, artifact, data string
	create                  bool
	// instance makes one that is not there, of the module that --module names.
	instance func(ctx context.Context, s *session, ref string) (made[client.InstanceRecord], error)
	module   func() string
}

func (d *deploying) flags(c *cobra.Command) {
	fs := c.Flags()
	setting.AddFlag(fs, &d.version, "version", "", setting.Text,
		"module version, or latest (default: the live version, or the newest for a first deployment)")
	d.inputFlags.flags(c)
	setting.AddFlag(fs, &d.artifact, "artifact", "", setting.Text,
		"artifact as JSON, or @FILE (default: the live artifact)")
	setting.AddFlag(fs, &d.data, "data", "", setting.Text,
		"known details of the deployment as JSON, or @FILE")
	setting.AddFlag(fs, &d.create, "create", "false", setting.Bool,
		"create the instance of --module if it is missing")
	d.instance = createInstance(fs)
	d.module = fs.Lookup("module").Value.String
}

const deployLong = `Values that you do not set are kept, and so is the version. Defaults are rendered again, and values
that the version has no input for are dropped with a warning. --values replaces all earlier values.

A reference is an id or a path: ./network in the same environment, ../staging/network in the same
project, or shop/prod/network.`

func (c *Config) deployCommand() *cobra.Command {
	var d deploying
	var description string
	var m making
	cmd := c.build(&cobra.Command{
		Use: "deploy INSTANCE", Short: "Deploy to an instance and wait for the result", Args: cobra.ExactArgs(1),
		Long: `Deploy to an instance: show the change, ask, and wait for the result. If the plan changes
meanwhile, nothing is deployed.

` + deployLong,
		Example: `  slipway deploy shop/prod/orders --version latest --set visibility_timeout=60
  slipway deploy shop/prod/orders --values prod.yaml --reason "more room" --yes
  slipway deploy shop/review-17/orders --create --module acme/queue --values review.yaml`,
		ValidArgsFunction: c.complete(completeInstances),
	}, options{target: &target{}, changes: true, formats: []format{formatMarkdown}}, func(
		ctx context.Context, s *session, args []string,
	) error {
		return m.run(ctx, s, "Deploy", func(ctx context.Context) (*plan, makeFunc, error) {
			return d.prepare(ctx, s, args[0], client.CreateDeploymentInput{
				Description: orNil(description), Reason: orNil(m.reason), OverrideReason: orNil(m.override),
			})
		})
	})
	d.complete(c, cmd)
	setting.AddFlag(cmd.Flags(), &description, "description", "", setting.Text, "description of the deployment")
	m.flags(cmd)
	return cmd
}

func (c *Config) previewCommand() *cobra.Command {
	var d deploying
	cmd := c.command(&cobra.Command{
		Use: "preview INSTANCE", Short: "Show what a deployment would change", Args: cobra.ExactArgs(1),
		Long: "Show what a deployment with the same flags would change, and deploy nothing.\n\n" + deployLong,
		Example: `  slipway preview shop/prod/orders --version latest
  slipway preview shop/prod/orders --values prod.yaml -o markdown`,
		ValidArgsFunction: c.complete(completeInstances),
	}, func(ctx context.Context, s *session, args []string) error {
		return (&making{dryRun: true}).run(ctx, s, "", func(ctx context.Context) (*plan, makeFunc, error) {
			return d.prepare(ctx, s, args[0], client.CreateDeploymentInput{})
		})
	}, formatMarkdown)
	d.complete(c, cmd)
	return cmd
}

// complete adds the flags, and how shells complete them.
func (d *deploying) complete(c *Config, cmd *cobra.Command) {
	d.flags(cmd)
	completeFlag(cmd, "module", c.complete(completeModules))
	completeFlag(cmd, "set", c.completeSet)
}

// plan asks what a deployment would change; in has what is said of it besides. The instance may be one that is still to
// be made.
func (d *deploying) plan(
	ctx context.Context, s *session, ref string, in client.CreateDeploymentInput,
) (*deployPlan, *made[client.InstanceRecord], error) {
	if err := d.readOnce(d.artifact, d.data); err != nil {
		return nil, nil, err
	}

	artifact, err := s.jsonOf(ctx, "artifact", d.artifact)
	if err != nil {
		return nil, nil, err
	}
	data, err := s.jsonOf(ctx, "data", d.data)
	if err != nil {
		return nil, nil, err
	}

	p := &deployPlan{plan: newPlan(ref), input: in}
	p.input.Artifact, p.input.Data = artifact, data

	byID, byPath, err := byIDOrPath("instance", ref, id.ModuleInstance, 3, wantInstance)
	if err != nil {
		return nil, nil, err
	}

	r, err := client.InstanceToDeploy(ctx, s.conn, byID, byPath)
	var creating *made[client.InstanceRecord]
	versionRef := d.version
	switch {
	case isCode(err, fault.ModuleInstanceNotFound) && d.create && byPath != nil:
		if creating, err = p.ofNew(ctx, s, d, ref); err != nil {
			return nil, nil, err
		}
		if versionRef == "" {
			versionRef = "latest"
		}
	case err != nil:
		return nil, nil, err
	default:
		if of, wanted := r.ModuleInstance.ModuleDefinition, d.module(); wanted != "" && wanted != of.Type && wanted != of.Id {
			return nil, nil, refusedf("--module %s: %s exists, and is an instance of %s", wanted, ref, of.Type)
		}
		versionRef = p.ofInstance(r.ModuleInstance, versionRef)
	}

	version, err := s.versionToDeploy(ctx, p.Module, versionRef)
	if err != nil {
		return nil, nil, err
	}

	p.input.ModuleVersionId, p.ToVersion = version.Id, version.Version
	inputs, err := inputsOf(version)
	if err != nil {
		return nil, nil, err
	}

	given, err := d.given(ctx, s, p.was, inputs, p.place)
	if err != nil {
		return nil, nil, err
	}
	err = p.askWith(ctx, s, given, version)
	return p, creating, err
}

// prepare plans a deployment, which may make the instance before.
func (d *deploying) prepare(
	ctx context.Context, s *session, ref string, in client.CreateDeploymentInput,
) (*plan, makeFunc, error) {
	p, creating, err := d.plan(ctx, s, ref, in)
	if err != nil {
		return nil, nil, err
	}

	p.input.IdempotencyKey, p.input.ExpectedPlan = newKey(), p.token
	return p.plan, func(ctx context.Context) (*client.DeploymentRecord, []client.WarningRecord, error) {
		if creating != nil {
			i, err := s.makeInstance(ctx, p.Instance, *creating)
			if err != nil {
				return nil, nil, err
			}
			p.input.ModuleInstanceId = i.Id
		}

		r, err := client.CreateDeployment(ctx, s.conn, p.input)
		if err != nil {
			return nil, nil, err
		}
		return &r.CreateDeployment.Deployment, r.CreateDeployment.Warnings, nil
	}, nil
}

// makeInstance makes an instance, unless it is there by now.
func (s *session) makeInstance(
	ctx context.Context, ref string, m made[client.InstanceRecord],
) (i *client.InstanceRecord, err error) {
	err = s.conn.write(ctx, func(ctx context.Context) (bool, error) {
		var err error
		if i, err = s.instance(ctx, ref); isCode(err, fault.ModuleInstanceNotFound) {
			return false, nil
		}
		return err == nil && m.same(i), err
	}, func(ctx context.Context, g graphql.Client) error {
		var err error
		i, err = m.create(ctx, g)
		return err
	})
	return i, err
}
