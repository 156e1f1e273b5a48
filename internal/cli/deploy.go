package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/Khan/genqlient/graphql"
	"github.com/spf13/cobra"

	"slipway/internal/client"
	"slipway/internal/fault"
	"slipway/internal/id"
	"slipway/internal/setting"
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
	setting.AddFlag(fs, &d.version, "version", "", setting.Text, "version of the module; latest is the newest; left out, the one that is live stays, and at first it is the newest")
	d.inputFlags.flags(c)
	setting.AddFlag(fs, &d.artifact, "artifact", "", setting.Text, "JSON of the artifact, or @ and a file of it; left out, the one that is live stays")
	setting.AddFlag(fs, &d.data, "data", "", setting.Text, "JSON of what is known of the deployment beforehand, or @ and a file of it")
	setting.AddFlag(fs, &d.create, "create", "false", setting.Bool, "make the instance where there is none, of the module of --module")
	d.instance = createInstance(fs)
	d.module = fs.Lookup("module").Value.String
}

const deployLong = `What is not named stays: the version that is live, and the values that were given to it. Defaults are rendered anew, and
values that the version has no inputs for are left out, which is said. With --values, what was given before does not count.

Where an input chooses an instance, its path may stand: ./network in the same environment, ../staging/network in the same
project, shop/prod/network, or an id.`

func (c *Config) deployCommand() *cobra.Command {
	var d deploying
	var description, reason string
	var dryRun bool
	var w waiting
	cmd := c.build(&cobra.Command{
		Use: "deploy INSTANCE", Short: "Deploy to an instance, and wait for the end", Args: cobra.ExactArgs(1),
		Long: "Deploy to an instance. " + deployLong + `

What would change is shown beforehand, and the deployment is bound to it: where another is live by then, nothing is done.`,
		Example: `  slipway deploy shop/prod/orders --version latest --set visibility_timeout=60
  slipway deploy shop/prod/orders --values prod.yaml --reason "more room" --yes
  slipway deploy shop/review-17/orders --create --module acme/queue --values review.yaml`,
		ValidArgsFunction: c.complete(completeInstances),
	}, options{target: &target{}, changes: true, formats: []format{formatMarkdown}}, func(ctx context.Context, s *session, args []string) error {
		if dryRun {
			return d.preview(ctx, s, args[0])
		}
		return d.deploy(ctx, s, args[0], w, client.CreateDeploymentInput{Description: orNil(description), Reason: orNil(reason)})
	})
	d.complete(c, cmd)
	setting.AddFlag(cmd.Flags(), &description, "description", "", setting.Text, "what it is for")
	setting.AddFlag(cmd.Flags(), &reason, "reason", "", setting.Text, "why it is done")
	setting.AddFlag(cmd.Flags(), &dryRun, "dry-run", "false", setting.Bool, "show what would change, and do nothing")
	w.flags(cmd)
	return cmd
}

func (c *Config) previewCommand() *cobra.Command {
	var d deploying
	cmd := c.command(&cobra.Command{
		Use: "preview INSTANCE", Short: "Show what a deployment would change, and do nothing", Args: cobra.ExactArgs(1),
		Long: "Show what a deployment with the same flags would change. " + deployLong,
		Example: `  slipway preview shop/prod/orders --version latest
  slipway preview shop/prod/orders --values prod.yaml -o markdown`,
		ValidArgsFunction: c.complete(completeInstances),
	}, func(ctx context.Context, s *session, args []string) error { return d.preview(ctx, s, args[0]) }, formatMarkdown)
	d.complete(c, cmd)
	return cmd
}

// complete adds the flags, and how shells complete them.
func (d *deploying) complete(c *Config, cmd *cobra.Command) {
	d.flags(cmd)
	completeFlag(cmd, "module", c.complete(completeModules))
	completeFlag(cmd, "set", c.completeSet)
}

// readOnce returns a usage error where standard input is to be read more than once: what came first has all of it.
func (d *deploying) readOnce() error {
	var from []string
	for _, file := range d.files {
		if file == standardInput {
			from = append(from, "--values -")
		}
	}
	for _, flag := range [][2]string{{"--artifact @-", d.artifact}, {"--data @-", d.data}} {
		if flag[1] == "@"+standardInput {
			from = append(from, flag[0])
		}
	}
	if len(from) > 1 {
		return setting.Usagef("want one file to be standard input, which is read once, found %s", strings.Join(from, " and "))
	}
	return nil
}

// plan asks what a deployment would change. The instance may be one that is still to be made.
func (d *deploying) plan(ctx context.Context, s *session, ref string) (*plan, *made[client.InstanceRecord], error) {
	if err := d.readOnce(); err != nil {
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
	p := &plan{Inputs: []client.ChangeRecord{}, Artifact: []client.ChangeRecord{}, input: client.CreateDeploymentInput{Artifact: artifact, Data: data}}
	byID, byPath, err := byIDOrPath("instance", ref, id.ModuleInstance, 3, wantInstance)
	if err != nil {
		return nil, nil, err
	}
	r, err := client.InstanceToDeploy(ctx, s.conn, byID, byPath)
	var creating *made[client.InstanceRecord]
	versionRef, environmentID := d.version, ""
	switch {
	case isCode(err, fault.ModuleInstanceNotFound) && d.create && byPath != nil:
		if creating, environmentID, err = p.ofNew(ctx, s, d, ref); err != nil {
			return nil, nil, err
		}
		if versionRef == "" {
			versionRef = "latest"
		}
	case err != nil:
		return nil, nil, err
	default:
		if of, wanted := r.ModuleInstance.ModuleDefinition, d.module(); wanted != "" && wanted != of.Type && wanted != of.Id {
			return nil, nil, refusedf("--module %s: %s is there, and is an instance of %s", wanted, ref, of.Type)
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
	given, err := d.given(ctx, s, p.live, inputs, p.place)
	if err != nil {
		return nil, nil, err
	}
	if err := p.judge(ctx, s, version, given, environmentID); err != nil {
		return nil, nil, err
	}
	if given.from == nil && p.input.Artifact == nil {
		p.input.Artifact = p.liveArtifact()
	}
	err = p.compareArtifact(ctx)
	return p, creating, err
}

// preview shows a plan as the result.
func (d *deploying) preview(ctx context.Context, s *session, ref string) error {
	if err := want(s, planView); err != nil {
		return err
	}
	p, _, err := d.plan(ctx, s, ref)
	if err != nil {
		return err
	}
	switch {
	case s.out.format == formatMarkdown:
		_, _ = fmt.Fprintf(s.out.to, "%s: %s\n\n", code(p.Instance), p.versions())
		return s.out.markdown(p.differences)
	case len(s.out.fields) > 0, s.out.format == formatJSON, s.out.format == formatYAML, s.out.format == formatName:
		return show(s, planView, p)
	case s.out.format == formatTSV:
		return showAll(s, differenceView, p.differences)
	}
	for _, line := range p.lines(s) {
		_, _ = fmt.Fprintln(s.out.to, safe(line))
	}
	return s.out.to.Flush()
}

// deploy shows a plan, asks, and makes the deployment. Where another deployment is live by then, a person is shown the plan
// anew.
func (d *deploying) deploy(ctx context.Context, s *session, ref string, w waiting, in client.CreateDeploymentInput) error {
	if s.out.format == formatMarkdown {
		return setting.Usagef("-o markdown is for --dry-run")
	}
	if err := want(s, progressView); err != nil {
		return err
	}
	for {
		p, creating, err := d.plan(ctx, s, ref)
		if err != nil {
			return err
		}
		p.input.Description, p.input.Reason, p.input.IdempotencyKey = in.Description, in.Reason, newKey()
		if err := s.confirm(ctx, change{question: "Deploy?", lines: p.lines(s)}); err != nil {
			return err
		}
		deployed, err := p.carryOut(ctx, s, creating)
		if isCode(err, fault.DeploymentLiveChanged) && s.interactive() {
			s.note("another deployment is live by now")
			continue
		}
		if err != nil {
			return err
		}
		return w.result(ctx, s, deployed)
	}
}

// carryOut makes the instance where it is to be made, and the deployment. What has begun is not left half done when the
// command is interrupted.
func (p *plan) carryOut(ctx context.Context, s *session, creating *made[client.InstanceRecord]) (*client.DeploymentRecord, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	through, cancel := throughout(ctx)
	defer cancel()
	if creating != nil {
		i, err := s.makeInstance(through, p.Instance, *creating)
		if err != nil {
			return nil, err
		}
		p.input.ModuleInstanceId = i.Id
	}
	r, err := client.CreateDeployment(through, s.conn, p.input)
	if err != nil {
		return nil, err
	}
	for _, w := range r.CreateDeployment.Warnings { // of the instance, which the values say nothing of
		if !slices.ContainsFunc(p.Warnings, func(shown client.WarningRecord) bool { return shown.Rule == w.Rule && shown.Message == w.Message }) {
			s.note("warning: %s %s", w.Pointer, w.Message)
		}
	}
	return &r.CreateDeployment.Deployment, nil
}

// makeInstance makes an instance, unless it is there by now.
func (s *session) makeInstance(ctx context.Context, ref string, m made[client.InstanceRecord]) (i *client.InstanceRecord, err error) {
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
