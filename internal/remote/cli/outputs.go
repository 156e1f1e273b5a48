package cli

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"slipway/internal/base/id"
	"slipway/internal/base/setting"
	"slipway/internal/base/strictjson"
	"slipway/internal/remote/client"
)

func (c *Config) outputsCommand() *cobra.Command {
	return c.command(&cobra.Command{
		Use: "outputs INSTANCE|DEPLOYMENT", Short: "Show the outputs of an instance or a deployment",
		Args:              cobra.ExactArgs(1),
		Example:           "  slipway outputs shop/prod/orders\n  slipway outputs shop/prod/orders --fields queue_url -o tsv",
		ValidArgsFunction: c.complete(completeInstances),
	}, func(ctx context.Context, s *session, args []string) error {
		outputs, err := s.outputs(ctx, args[0])
		if err != nil {
			return err
		}

		node := &strictjson.Node{Kind: strictjson.Object}
		if len(outputs) > 0 && string(outputs) != "null" {
			if node, err = strictjson.ParseWithin(outputs, maxRecord); err != nil {
				return err
			}
		}
		if len(node.Keys) == 0 {
			s.note("there are none")
		}

		if len(s.out.fields) == 0 && (s.out.format == formatTSV || s.out.format == formatName) {
			return showLines(s, node.Keys, node)
		}
		return showNode(s, node, args[0])
	})
}

func (s *session) outputs(ctx context.Context, ref string) (json.RawMessage, error) {
	if !isPath(ref, 3) && !id.Of(id.ModuleInstance, ref) {
		if !isDeployment(ref) {
			return nil, setting.Usagef("want %s, or %s, found %q", wantInstance, wantDeployment, ref)
		}
		d, err := s.deployment(ctx, ref)
		if err != nil {
			return nil, err
		}
		return d.Outputs, nil
	}

	instance, err := s.instance(ctx, ref)
	if err != nil {
		return nil, err
	}

	r, err := client.InstanceOutputs(ctx, s.conn, instance.Id)
	if err != nil || r.ModuleInstance == nil {
		return nil, err
	}
	return r.ModuleInstance.Outputs, nil
}
