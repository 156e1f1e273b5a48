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

// instanceSettings are what flags change of an instance.
type instanceSettings struct {
	onFailure client.OnFailure
	ownInputs []string
	// setsOwn reports whether ownInputs were given: an empty list is also a change.
	setsOwn bool
}

func (c *Config) instanceUpdateCommand() *cobra.Command {
	var to instanceSettings

	var cmd *cobra.Command
	cmd = c.changing(&cobra.Command{
		Use: "update INSTANCE", Short: "Change the settings of an instance", Args: cobra.ExactArgs(1),
		Long: `Change what happens after a failed deployment, and which inputs a promotion keeps. Settings
without a flag are kept.`,
		Example: "  slipway instances update shop/prod/orders --on-failure ROLL_BACK\n" +
			"  slipway instances update shop/prod/orders --own-inputs replicas,artifact",
		ValidArgsFunction: c.complete(completions["instance"]),
	}, func(ctx context.Context, s *session, args []string) error {
		to.setsOwn = cmd.Flags().Changed("own-inputs")
		if to.onFailure == "" && !to.setsOwn {
			return setting.Usagef("want what is to change, --on-failure or --own-inputs, found nothing")
		}
		if err := want(s, instanceView); err != nil {
			return err
		}

		instance, err := s.instance(ctx, args[0])
		if err != nil {
			return err
		}
		if err := s.confirm(ctx, change{
			question: fmt.Sprintf("Change the instance %s?", nameOfInstance(instance)),
			lines:    append([]string{nameOfInstance(instance) + gap + instance.Id}, to.differences(instance)...),
		}); err != nil {
			return err
		}

		updated, err := to.update(ctx, s.conn, instance.Id)
		if err != nil {
			return err
		}
		return show(s, instanceView, updated)
	})

	setting.AddFlag(cmd.Flags(), &to.onFailure, "on-failure", "", setting.Choice(client.AllOnFailure...),
		"what happens after a failed deployment")
	completeFlag(cmd, "on-failure", fixed(client.AllOnFailure))
	setting.AddFlag(cmd.Flags(), &to.ownInputs, "own-inputs", "", setting.OrEmpty(setting.List),
		"inputs, and artifact, that a promotion does not change, separated by commas; empty for none")
	return cmd
}

// differences returns what changes of an instance, a line each.
func (to *instanceSettings) differences(of *client.InstanceRecord) []string {
	lines := differenceLines("on failure", string(of.OnFailure), string(to.onFailure))
	if to.setsOwn && !slices.Equal(of.OwnInputs, to.ownInputs) {
		lines = append(lines, fmt.Sprintf("~ own inputs  %s -> %s", listText(of.OwnInputs), listText(to.ownInputs)))
	}
	return lines
}

func listText(items []string) string {
	if len(items) == 0 {
		return "none"
	}
	return strings.Join(items, ", ")
}

func (to *instanceSettings) update(
	ctx context.Context, g graphql.Client, instanceID string,
) (*client.InstanceRecord, error) {
	var onFailure *client.OnFailure
	if to.onFailure != "" {
		onFailure = &to.onFailure
	}
	if !to.setsOwn {
		r, err := client.UpdateInstance(ctx, g, client.UpdateModuleInstanceInput{Id: instanceID, OnFailure: onFailure})
		if err != nil {
			return nil, err
		}
		return &r.UpdateModuleInstance.ModuleInstance, nil
	}
	own := append([]string{}, to.ownInputs...) // never null
	r, err := client.SetOwnInputs(ctx, g, instanceID, own, onFailure)
	if err != nil {
		return nil, err
	}
	return &r.UpdateModuleInstance.ModuleInstance, nil
}
