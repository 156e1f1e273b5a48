package cli

import (
	"context"

	"github.com/spf13/cobra"

	"slipway/internal/base/id"
	"slipway/internal/base/setting"
	"slipway/internal/remote/client"
)

func (c *Config) watchCommand() *cobra.Command {
	w := waiting{streams: true}
	cmd := c.command(&cobra.Command{
		Use:   "watch DEPLOYMENT|INSTANCE|ENVIRONMENT",
		Short: "Follow a deployment or an environment", Args: cobra.ExactArgs(1),
		Long: `Follow a deployment until it ends. The exit code is 0 if it SUCCEEDED, and 6 if it FAILED or was
CANCELED. For an instance, follows its active deployment, or else shows its last deployment.

For an environment, shows every change on one line until you interrupt the command. With -o json,
yaml, tsv or name, a deployment also shows every change. JSON has one object a line.`,
		Example: "  slipway watch shop/prod/orders\n  slipway watch dep_01kb… --timeout 1h --logs=false\n" +
			"  slipway watch shop/prod -o json",
		ValidArgsFunction: c.complete(completeInstances),
	}, func(ctx context.Context, s *session, args []string) error {
		if err := want(s, progressView); err != nil {
			return err
		}
		if isPath(args[0], 2) || id.Of(id.Environment, args[0]) {
			return s.watchEnvironment(ctx, args[0])
		}
		deploymentID, err := s.underWay(ctx, args[0], wantEnvironment+", or ")
		if err != nil {
			return err
		}
		return w.endOf(ctx, s, deploymentID)
	})
	w.flagsOfWait(cmd)
	return cmd
}

// underWay returns the deployment that a name stands for, of an instance the active one, or else the last. others are
// what the name may be besides.
func (s *session) underWay(ctx context.Context, ref, others string) (string, error) {
	if !isPath(ref, 3) && !id.Of(id.ModuleInstance, ref) {
		if !isDeployment(ref) {
			return "", setting.Usagef("want %s%s, or %s, found %q", others, wantInstance, wantDeployment, ref)
		}
		return s.deploymentID(ctx, ref)
	}
	instance, err := s.instance(ctx, ref)
	switch {
	case err != nil:
		return "", err
	case instance.ActiveDeployment != nil:
		return instance.ActiveDeployment.Id, nil
	case instance.LastDeployment != nil:
		return instance.LastDeployment.Id, nil
	}
	return "", refusedf("%s never had a deployment", nameOfInstance(instance))
}

// watchEnvironment shows each change of the deployments in an environment until ctx ends.
func (s *session) watchEnvironment(ctx context.Context, ref string) error {
	environment, err := s.environment(ctx, ref)
	if err != nil {
		return err
	}

	p := &progress{screen: s.out.screen}
	seen := map[string]int{}

	return follow(ctx, s, subscription[client.FollowDeploymentsResponse]{
		operation: client.FollowDeployments_Operation,
		variables: map[string]any{"filter": map[string]any{"environmentId": environment.Id}},
		each: func(item *client.FollowDeploymentsResponse) (string, error) {
			d := &item.DeploymentsChanged.Deployment
			if seen[d.Id] >= d.Version {
				return item.DeploymentsChanged.Cursor, nil // what is new of it was shown with an earlier item
			}
			if seen[d.Id] = d.Version; d.CompletedAt != nil {
				delete(seen, d.Id)
			}

			if s.out.format == formatTable && len(s.out.fields) == 0 {
				version := ""
				if d.Release != nil {
					version = d.Release.ModuleVersion.Version
				}
				_, _ = s.out.to.WriteString(p.sentence(d.Id, string(d.Status), placeOf(d.ModuleInstance), version, latestOf(d)) +
					"\n")
				return item.DeploymentsChanged.Cursor, s.out.to.Flush()
			}
			return item.DeploymentsChanged.Cursor, s.streamProgress(d)
		},
	})
}

// latestOf returns what has happened last to a deployment.
func latestOf(d *client.DeploymentProgress) string {
	switch {
	case d.Error != nil:
		return d.Error.Message
	case len(d.Events) > 0 && d.CompletedAt == nil:
		return eventText(d.Events[len(d.Events)-1])
	}
	return ""
}

func placeOf(i client.InstanceName) string {
	return i.Project.Slug + "/" + i.Environment.Slug + "/" + i.Name
}
