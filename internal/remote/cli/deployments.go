package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"slipway/internal/base/id"
	"slipway/internal/base/optional"
	"slipway/internal/base/setting"
	"slipway/internal/remote/client"
)

var (
	deploymentView = view[client.DeploymentRecord]{
		columns: []column{
			{"DEPLOYMENT", "id"}, {"STATUS", "status"}, {"VERSION", "release.moduleVersion.version"}, {"CREATED", "createdAt"},
			{"BY", "createdBy.name"},
			{"INSTANCE", "moduleInstance.project.slug/moduleInstance.environment.slug/moduleInstance.name"},
			{"STARTED BY", "triggerSource"}, {"DESCRIPTION", "description"},
		},
		sheet: deploymentSheet,
		name:  func(d *client.DeploymentRecord) string { return d.Id },
	}
	deploymentDetailView = view[client.DeploymentDetail]{
		columns: deploymentView.columns,
		sheet:   deploymentSheet,
		name:    func(d *client.DeploymentDetail) string { return d.Id },
	}
)

// deploymentSheet is what people are shown of one deployment.
var deploymentSheet = []column{
	{"deployment", "id"}, {"status", "status"}, {"action", "action"},
	{"instance", "moduleInstance.project.slug/moduleInstance.environment.slug/moduleInstance.name"},
	{"module", "release.moduleVersion.moduleDefinition.type"}, {"version", "release.moduleVersion.version"},
	{"release", "release.id"}, {"inputs", "release.inputs"},
	{"quarantined", "release.quarantine.createdAt"}, {"quarantined by", "release.quarantine.createdBy.name"},
	{"quarantine reason", "release.quarantine.reason"},
	{"created", "createdAt"}, {"created by", "createdBy.name"}, {"started by", "triggerSource"},
	{"description", "description"}, {"reason", "reason"},
	{"waits until", "waitsUntil"}, {"demanded", "requirements.message"}, {"override by", "override.createdBy.name"},
	{"override reason", "override.reason"},
	{"promotes", "promotedFrom.id"}, {"rolls back to", "rollbackToDeploymentId"}, {"redeploys", "redeployOfDeploymentId"},
	{"after failure of", "afterFailureOf.id"}, {"rolled back by", "automaticRollback.id"}, {"runner", "runner.name"},
	{"started", "startedAt"}, {"ended", "completedAt"},
	{"cancel requested", "cancelRequestedAt"}, {"cancel requested by", "cancelRequestedBy.name"},
	{"cancel reason", "cancelReason"},
	{"error", "error.message"}, {"error code", "error.code"}, {"error description", "error.description"},
	{"outputs", "outputs"},
	{"rollback allowed", "rollbackEligibility.allowed"}, {"why not", "rollbackEligibility.refusal.message"},
	{"warning", "rollbackEligibility.warnings.message"},
}

func (c *Config) deploymentsCommand() *cobra.Command {
	return Group("deployments", "List and show deployments", c.deploymentsListCommand(), c.deploymentsShowCommand())
}

func (c *Config) deploymentsListCommand() *cobra.Command {
	var p paging
	var f deploymentFilter

	cmd := c.command(&cobra.Command{
		Use: "list", Short: "List deployments, newest first", Args: cobra.NoArgs,
		Example: "  slipway deployments list --in shop/prod/orders\n" +
			"  slipway deployments list --status FAILED --status CANCELED -o json\n" +
			"  slipway deployments list --module acme/queue@1.4.0 --operation ROLLBACK",
	}, func(ctx context.Context, s *session, _ []string) error {
		if err := want(s, deploymentView); err != nil {
			return err
		}
		filter, err := f.filter(ctx, s)
		if err != nil {
			return err
		}
		return list(ctx, s, deploymentView, p, s.deploymentPages(filter))
	})

	p.flags(cmd)
	f.flags(c, cmd)
	return cmd
}

// deploymentFilter is what flags say of the deployments to list.
type deploymentFilter struct {
	in, module, pipelineRun, search string
	statuses                        []client.DeploymentStatus
	operations                      []client.DeploymentOperation
}

func (f *deploymentFilter) flags(c *Config, cmd *cobra.Command) {
	fs := cmd.Flags()
	setting.AddFlag(fs, &f.in, "in", "", setting.Text, "only deployments in a project, an environment or an instance")
	completeFlag(cmd, "in", c.complete(completeInstances))
	setting.AddFlag(fs, &f.module, "module", "", setting.Text,
		"only deployments of a module, or of a version: MODULE@VERSION")
	completeFlag(cmd, "module", c.complete(completeModules))

	setting.AddRepeatableFlag(fs, &f.statuses, "status", "",
		setting.Each(setting.Choice(client.AllDeploymentStatus...)), "only deployments with this status; can be repeated")
	completeFlag(cmd, "status", fixed(client.AllDeploymentStatus))
	setting.AddRepeatableFlag(fs, &f.operations, "operation", "",
		setting.Each(setting.Choice(client.AllDeploymentOperation...)),
		"only deployments with this operation; can be repeated")
	completeFlag(cmd, "operation", fixed(client.AllDeploymentOperation))

	setting.AddFlag(fs, &f.pipelineRun, "pipeline-run", "", setting.Text,
		"only deployments of the pipeline run with this id")
	setting.AddFlag(fs, &f.search, "search", "", setting.Text,
		"only deployments whose description or reason contains this text")
}

// filter returns the filter of the API, for which it looks up what the flags name.
func (f *deploymentFilter) filter(ctx context.Context, s *session) (*client.DeploymentFilter, error) {
	filter := &client.DeploymentFilter{
		Statuses: f.statuses, Operations: f.operations,
		PipelineRunId: optional.NonZero(f.pipelineRun), Search: optional.NonZero(f.search),
	}
	if err := s.limitTo(ctx, filter, f.in); err != nil {
		return nil, err
	}
	return filter, s.limitToModule(ctx, filter, f.module)
}

// limitToModule limits deployments to a module or a version of one, unless that is empty.
func (s *session) limitToModule(ctx context.Context, filter *client.DeploymentFilter, ref string) error {
	switch {
	case ref == "":
	case strings.Contains(ref, "@") || id.Of(id.ModuleVersion, ref):
		versionID, err := s.versionID(ctx, ref)
		if err != nil {
			return err
		}
		filter.ModuleVersionId = &versionID
	default:
		module, err := s.module(ctx, ref)
		if err != nil {
			return err
		}
		filter.ModuleDefinitionId = &module.Id
	}
	return nil
}

// limitTo limits deployments to a place, unless that is empty.
func (s *session) limitTo(ctx context.Context, filter *client.DeploymentFilter, in string) (err error) {
	switch {
	case in == "":
	case isPath(in, 3) || id.Of(id.ModuleInstance, in):
		i, err := s.instance(ctx, in)
		if err != nil {
			return err
		}
		filter.ModuleInstanceId = &i.Id
	default:
		filter.ProjectId, filter.EnvironmentId, err = s.within(ctx, in, ", or "+wantInstance)
	}
	return err
}

func (c *Config) deploymentsShowCommand() *cobra.Command {
	return c.command(&cobra.Command{
		Use: "show DEPLOYMENT", Short: "Show a deployment with its release", Args: cobra.ExactArgs(1),
		Example:           "  slipway deployments show shop/prod/orders@live\n  slipway deployments show dep_01kb… -o json",
		ValidArgsFunction: c.complete(completeDeployments),
	}, func(ctx context.Context, s *session, args []string) error {
		if err := want(s, deploymentDetailView); err != nil {
			return err
		}
		d, err := s.deployment(ctx, args[0])
		if err != nil {
			return err
		}
		return show(s, deploymentDetailView, d)
	})
}
