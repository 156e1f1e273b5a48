package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"slipway/internal/pure/inputprop"
)

// completeSet completes ID=TEXT by the inputs of the version that would be deployed to the instance of the command, and
// behind the sign by what an input lets choose from.
func (c *Config) completeSet(cmd *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	version := cmd.Flags().Lookup("version").Value.String()
	id, value, chosen := strings.Cut(text, "=")
	within := ""
	if chosen {
		within = id + "=" + value[:strings.LastIndexByte(value, '/')+1]
	}
	kind := completion{strings.Join([]string{"set", args[0], version}, " "), func(
		ctx context.Context, s *session, within string,
	) ([]string, error) {
		return settable(ctx, s, args[0], version, within)
	}}
	return c.completeWithin(cmd, kind, within, text)
}

// settable returns the inputs of a version with the sign behind, or behind that what may be chosen; within is the input
// with the sign and the beginning of a path.
func settable(ctx context.Context, s *session, instance, version, within string) ([]string, error) {
	i, err := s.instance(ctx, instance)
	if err != nil {
		return nil, err
	}

	if version == "" && i.LiveDeployment != nil && i.LiveDeployment.Release != nil {
		version = i.LiveDeployment.Release.ModuleVersion.Version
	}
	if version == "" {
		version = "latest"
	}

	found, err := s.versionToDeploy(ctx, i.ModuleDefinition.Id, version)
	if err != nil {
		return nil, err
	}
	inputs, err := inputsOf(found)
	if err != nil {
		return nil, err
	}

	id, path, chosen := strings.Cut(within, "=")
	var names []string
	for _, in := range inputprop.NewLevel(inputs).Inputs {
		switch {
		case !chosen && !in.Traits.NoValue:
			names = append(names, in.ID+"=")
		case chosen && in.ID == id:
			names, err = choices(ctx, s, in.Property, path)
			for n := range names {
				names[n] = id + "=" + names[n]
			}
		}
	}
	return names, err
}

// choices returns what an input lets choose from, as --set reads it.
func choices(ctx context.Context, s *session, p inputprop.Property, path string) ([]string, error) {
	if _, ok := p.(*inputprop.BooleanProperty); ok {
		return []string{"true", "false"}, nil
	}
	if _, ok := p.(*inputprop.ReferenceProperty); ok {
		return instanceNames(ctx, s, path)
	}
	list, ok := p.ValueSource().(*inputprop.StaticValues)
	if !ok {
		return nil, nil
	}
	var texts []string
	for _, o := range list.Options {
		if _, isRecord := o.Value.(inputprop.Record); !isRecord { // which is no text
			texts = append(texts, fmt.Sprint(o.Value))
		}
	}
	return texts, nil
}
