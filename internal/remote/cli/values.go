package cli

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"slipway/internal/base/id"
	"slipway/internal/base/setting"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/remote/cli/document"
	"slipway/internal/remote/cli/manifest"
	"slipway/internal/remote/client"
)

func (c *Config) valuesCommand() *cobra.Command {
	var instance string
	cmd := c.command(&cobra.Command{
		Use: "values MODULE[@VERSION] | --instance INSTANCE", Short: "Write a values file for a module or an instance",
		Args: cobra.MaximumNArgs(1),
		Long: `Write a values file for a module version (default: the latest version). Comments show the label, the
description and the allowed values of each input. --instance adds the values that its live
deployment was given. If these are not recorded, the file has the values of the live release,
without those from other instances.

-o json and -o yaml write the values without comments.`,
		Example: "  slipway values acme/queue@1.3.0 > prod.yaml\n" +
			"  slipway values --instance shop/prod/orders > prod.yaml",
		ValidArgsFunction: c.complete(completeModules),
	}, func(ctx context.Context, s *session, args []string) error {
		if (len(args) == 1) == (instance != "") {
			return setting.Usagef("want a module or --instance, found %s",
				map[bool]string{true: "both", false: "neither"}[len(args) == 1])
		}
		if instance == "" {
			version, err := s.version(ctx, args[0])
			if err != nil {
				return err
			}
			inputs, err := inputsOf(version)
			if err != nil {
				return err
			}
			return s.writeValues(inputs, nil)
		}
		record, err := s.instance(ctx, instance)
		if err != nil {
			return err
		}
		live, err := s.liveValues(ctx, record)
		if err != nil {
			return err
		}
		if !live.given {
			s.note("the given values were not recorded: these are the values of the live release, " +
				"without values from other instances")
		}
		return s.writeValues(live.inputs, live.values)
	})
	setting.AddFlag(cmd.Flags(), &instance, "instance", "", setting.Text, "instance whose live values to write")
	completeFlag(cmd, "instance", c.complete(completeInstances))
	return cmd
}

// writeValues writes a file of values, to people and files with comments.
func (s *session) writeValues(inputs []inputprop.Property, values *strictjson.Node) error {
	text := manifest.ValuesTemplate(inputs, values)
	d, err := document.Read("the values", text)
	if err != nil {
		return err
	}
	if d.Root.Kind == strictjson.Null { // nothing but comments
		d.Root = &strictjson.Node{Kind: strictjson.Object}
	}
	return s.showText(text, d.Root)
}

// showText writes a text that is the result as it is, or the value that it has in another format.
func (s *session) showText(text []byte, value *strictjson.Node) error {
	switch {
	case s.out.format == formatTable && len(s.out.fields) == 0:
		if s.out.screen.width > 0 { // if it is a file's, every character stays
			var b strings.Builder
			for line := range strings.Lines(string(text)) {
				b.WriteString(safeTabs(strings.TrimSuffix(line, "\n")) + "\n")
			}
			text = []byte(b.String())
		}

		_, err := s.destination.Write(text)
		return err

	case s.out.format == formatTSV, s.out.format == formatName:
		shape := shapeOf(value)
		if err := shape.check(s.out.fields); err != nil {
			return err
		}

		paths := shape.leaves
		if len(s.out.fields) > 0 {
			paths = s.out.fields
			s.out.fields = nil
		}
		return showLines(s, paths, value)
	}

	return showNode(s, value, "")
}

// version returns the version of a module that MODULE or MODULE@VERSION names, the latest if none is.
func (s *session) version(ctx context.Context, ref string) (*client.DeployableVersion, error) {
	if !strings.Contains(ref, "@") && !id.Of(id.ModuleVersion, ref) {
		ref += "@latest"
	}
	versionID, err := s.versionID(ctx, ref)
	if err != nil {
		return nil, err
	}
	r, err := client.VersionToDeploy(ctx, s.conn, versionID)
	if err != nil {
		return nil, err
	}
	return r.ModuleVersion, nil
}

// liveInputs are the values that an instance lives with.
type liveInputs struct {
	inputs []inputprop.Property
	values *strictjson.Node
	// given says that they are what was given to the live deployment; else they are of its release.
	given bool
}

// liveValues returns the values that an instance lives with: those that the next deployment is to be given for the
// same.
func (s *session) liveValues(ctx context.Context, instance *client.InstanceRecord) (*liveInputs, error) {
	r, err := client.LiveInputs(ctx, s.conn, instance.Id)
	if err != nil {
		return nil, err
	}
	if r.ModuleInstance == nil || r.ModuleInstance.LiveDeployment == nil {
		return nil, refusedf("nothing is live at %s", nameOfInstance(instance))
	}

	d := r.ModuleInstance.LiveDeployment
	if d.Release == nil {
		return nil, refusedf("the release that is live at %s is not stored", nameOfInstance(instance))
	}

	live := &liveInputs{}
	if live.inputs, err = inputsOf(&d.Release.ModuleVersion); err != nil {
		return nil, err
	}

	text := d.Release.Inputs
	if live.given = isGiven(d.GivenInputs); live.given {
		text = d.GivenInputs
	}
	if live.values, err = strictjson.ParseWithin(text, maxRecord); err != nil {
		return nil, err
	}
	if !live.given {
		live.values = manifest.WithoutMapped(live.inputs, live.values)
	}
	return live, nil
}

func isGiven(text json.RawMessage) bool { return len(text) > 0 && string(text) != "null" }
