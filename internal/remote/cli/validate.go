package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"slipway/internal/base/fault"
	"slipway/internal/base/setting"
	"slipway/internal/pure/inputprop"
	"slipway/internal/remote/cli/document"
	"slipway/internal/remote/cli/manifest"
	"slipway/internal/remote/client"
)

// subject is what a file of values is for.
type subject struct {
	version     *client.DeployableVersion
	instance    *client.InstanceRecord // nil for a version alone
	environment manifest.Environment
}

func (c *Config) validateCommand() *cobra.Command {
	var module, instance string
	cmd := c.onDemand(&cobra.Command{
		Use:   "validate FILE [--module MODULE[@VERSION] | --instance INSTANCE]",
		Short: "Check a values file", Args: cobra.ExactArgs(1),
		Long: `Check a values file on the server (- is standard input). With --instance, the server uses the live
version, or the latest version if nothing is live; with --module, it uses the named version, or the
latest. A reference is an id or a path: ./network in the same environment, ../staging/network in the
same project, or shop/prod/network.

Each finding is one line FILE:LINE:COLUMN: …, and an annotation on GitHub Actions. The exit code is
3 for errors, and 0 for warnings alone. For a module manifest, runs slipway modules lint.`,
		Example: "  slipway validate prod.yaml --instance shop/prod/orders\n" +
			"  slipway validate prod.yaml --module acme/queue@1.3.0 -o json",
	}, func(ctx context.Context, s *session, args []string) error {
		if err := want(s, findingView); err != nil {
			return err
		}
		file := titleOfFile(args[0])
		text, err := s.readFile(ctx, args[0], document.MaxBytes)
		if err != nil {
			return err
		}
		switch {
		case manifest.Is(file, text):
			return linting{}.lint(ctx, s, file, text)
		case (module == "") == (instance == ""):
			return setting.Usagef("want --module or --instance for a file of values, found %s",
				map[bool]string{true: "neither", false: "both"}[module == ""])
		}
		return s.validate(ctx, file, text, module, instance)
	})
	setting.AddFlag(cmd.Flags(), &module, "module", "", setting.Text,
		"module, or version of a module, that the values are for")
	setting.AddFlag(cmd.Flags(), &instance, "instance", "", setting.Text, "instance that the values are for")
	completeFlag(cmd, "module", c.complete(completeModules))
	completeFlag(cmd, "instance", c.complete(completeInstances))
	return cmd
}

func (s *session) validate(ctx context.Context, file string, text []byte, module, instance string) error {
	var values manifest.Values
	if err := values.Read(file, text); err != nil {
		if list, ok := errors.AsType[manifest.Findings](err); ok {
			return s.report(findings{list: list})
		}
		return err
	}

	if err := s.connect(ctx); err != nil {
		return err
	}
	of, err := s.subject(ctx, module, instance)
	if err != nil {
		return err
	}

	list, err := s.judgeValues(ctx, of, &values)
	if err != nil {
		return err
	}

	if len(list) == 0 {
		s.note("%s fits %s %s", file, of.version.ModuleDefinition.Type, of.version.Version)
	}
	return s.report(findings{list: list})
}

// subject returns what values are for: a module version, or an instance.
func (s *session) subject(ctx context.Context, module, instance string) (of subject, err error) {
	if instance == "" {
		of.version, err = s.version(ctx, module)
		return of, err
	}
	if of.instance, err = s.instance(ctx, instance); err != nil {
		return of, err
	}
	of.environment = manifest.Environment{Project: of.instance.Project.Slug, Slug: of.instance.Environment.Slug}
	ref := of.instance.ModuleDefinition.Id
	if live := of.instance.LiveDeployment; live != nil && live.Release != nil {
		ref = live.Release.ModuleVersion.Id
	}
	of.version, err = s.version(ctx, ref)
	return of, err
}

// judgeValues has the server judge values, and returns what it finds where it was written.
func (s *session) judgeValues(ctx context.Context, of subject, values *manifest.Values) (manifest.Findings, error) {
	inputs, err := inputsOf(of.version)
	if err != nil {
		return nil, err
	}

	resolved, violations, err := manifest.ResolveReferences(ctx, inputs, values.Root(), of.environment, s.resolver())
	if err != nil {
		return nil, err
	}

	in := client.InputValuesInput{ModuleVersionId: &of.version.Id}
	if of.instance != nil {
		in.ModuleInstanceId = &of.instance.Id
	}
	judged, err := s.judge(ctx, in, resolved.JSON())
	if err != nil {
		return nil, err
	}

	for _, v := range judged.Violations {
		// The server sees a path that could not be resolved, and refuses it for not being an id.
		if !slices.ContainsFunc(violations, func(known fault.Violation) bool { return known.Pointer == v.Pointer }) {
			violations = append(violations, fault.Violation{Pointer: v.Pointer, Rule: v.Rule, Message: v.Message})
		}
	}

	if len(judged.Unresolved) > 0 {
		s.note("not checked, because their templates need an instance: %s",
			strings.Join(judged.Unresolved, ", "))
	}
	return append(values.Findings(violations), s.placeWarnings(of.version, values, judged.Warnings)...), nil
}

// aboutVersion are the rules of warnings that lead into the version, not into the values.
var aboutVersion = []string{"default_refused", "version_deprecated"}

// placeWarnings returns warnings where the values were written, or of the version.
func (s *session) placeWarnings(
	version *client.DeployableVersion, values *manifest.Values, warnings []client.WarningRecord,
) manifest.Findings {
	var list manifest.Findings
	for _, w := range warnings {
		if slices.Contains(aboutVersion, w.Rule) {
			list = append(list, manifest.Finding{
				File: fmt.Sprintf("%s@%s", version.ModuleDefinition.Type, version.Version), Pointer: w.Pointer, Message: w.Message,
				Code: w.Rule, Warning: true,
			})
			continue
		}
		list = append(list, values.Warnings([]inputprop.Warning{{Pointer: w.Pointer, Rule: w.Rule, Message: w.Message}})...)
	}
	return list
}
