package cli

import (
	"context"

	"github.com/spf13/cobra"

	"slipway/internal/base/strictjson"
	"slipway/internal/remote/cli/manifest"
)

func (c *Config) schemaCommand() *cobra.Command {
	return Group("schema", "Write JSON Schemas for your editor", c.schemaModuleCommand(),
		c.schemaValuesCommand())
}

func (c *Config) schemaModuleCommand() *cobra.Command {
	return c.local(&cobra.Command{
		Use: "module", Short: "Write the JSON Schema of module manifests", Args: cobra.NoArgs,
		Example: "  slipway schema module > " + manifest.SchemaName,
	}, func(_ context.Context, s *session, _ []string) error {
		return s.showSchema(manifest.Schema())
	})
}

func (c *Config) schemaValuesCommand() *cobra.Command {
	return c.command(&cobra.Command{
		Use: "values MODULE[@VERSION]", Short: "Write the JSON Schema of a module's values",
		Args: cobra.ExactArgs(1),
		Long: `Write the JSON Schema of the values of a module version (default: the latest version). Your editor
uses it to complete and check a values file with this first line:

  # yaml-language-server: $schema=values.schema.json`,
		Example:           "  slipway schema values acme/queue@1.3.0 > values.schema.json",
		ValidArgsFunction: c.complete(completeModules),
	}, func(ctx context.Context, s *session, args []string) error {
		version, err := s.version(ctx, args[0])
		if err != nil {
			return err
		}

		inputs, err := inputsOf(version)
		if err != nil {
			return err
		}
		return s.showSchema(manifest.ValuesSchema(inputs))
	})
}

func (s *session) showSchema(text []byte) error {
	n, err := strictjson.ParseWithin(text, maxRecord)
	if err != nil {
		return err
	}
	return s.showText(text, n)
}
