package cli

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"slipway/internal/base/fault"
	"slipway/internal/base/setting"
	"slipway/internal/pure/inputprop"
	"slipway/internal/remote/cli/document"
	"slipway/internal/remote/cli/manifest"
	"slipway/internal/remote/client"
)

// linting is what the flags of the command say.
type linting struct {
	version     string
	remote      bool
	againstLive int
}

// usualInstances is how many instances are looked at if no number is given.
const usualInstances = 20

func (c *Config) modulesLintCommand() *cobra.Command {
	var l linting
	cmd := c.onDemand(&cobra.Command{
		Use: "lint [FILE]", Short: "Check a manifest", Args: lintArguments,
		Long: `Check a manifest (default: ` + manifest.FileName + `; - is standard input) without a server.
--remote also checks it on the server, which knows other modules and the sources of dynamic values.
--against-live checks the values of live instances, and names each instance whose next deployment
would be rejected.

Each finding is one line FILE:LINE:COLUMN: …, and an annotation on GitHub Actions. The exit code is
3 for errors, and 0 for warnings alone.`,
		Example: "  slipway modules lint\n  slipway modules lint modules/queue.yaml --version 1.4.0 --remote\n" +
			"  slipway modules lint --against-live=100 -o json",
	}, func(ctx context.Context, s *session, args []string) error {
		if err := want(s, findingView); err != nil {
			return err
		}
		name := fileOf(args)
		text, err := s.readFile(ctx, name, document.MaxBytes)
		if err != nil {
			return err
		}
		return l.lint(ctx, s, titleOfFile(name), text)
	})
	setting.AddFlag(cmd.Flags(), &l.version, "version", "", setting.Text,
		"version to publish, instead of the version in the manifest")
	setting.AddFlag(cmd.Flags(), &l.remote, "remote", "false", setting.Bool, "also check on the server")
	setting.AddFlag(cmd.Flags(), &l.againstLive, "against-live", "0", setting.Between(0, math.MaxInt32),
		"number of instances whose live values to check; "+strconv.Itoa(usualInstances)+" without a number")
	cmd.Flags().Lookup("against-live").NoOptDefVal = strconv.Itoa(usualInstances)
	return cmd
}

// lintArguments takes a file, and no number that belongs to a flag.
func lintArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 && c.Flags().Changed("against-live") {
		if last := args[len(args)-1]; strings.Trim(last, "0123456789") == "" && last != "" {
			return setting.Usagef("--against-live: want the number after =, as in --against-live=%s", last)
		}
	}
	return cobra.MaximumNArgs(1)(c, args)
}

// fileOf returns the manifest that a command is about.
func fileOf(args []string) string {
	if len(args) == 0 {
		return manifest.FileName
	}
	return args[0]
}

// lint judges a manifest, and reports what it has found.
func (l linting) lint(ctx context.Context, s *session, file string, text []byte) error {
	m, list, err := lintFile(ctx, file, text, l.version)
	if err != nil {
		return err
	}
	found := findings{list: list}
	if m != nil && (l.remote || l.againstLive > 0) {
		if err := s.connect(ctx); err != nil {
			return err
		}
		if err := l.ask(ctx, s, m, &found); err != nil {
			return err
		}
	}
	if len(found.all()) == 0 {
		s.note("%s: nothing is wrong", file)
	}
	return s.report(found)
}

// lintFile returns a manifest and what the program itself finds wrong with it. The manifest is nil if it cannot be
// read.
func lintFile(
	ctx context.Context, file string, text []byte, version string,
) (*manifest.Manifest, manifest.Findings, error) {
	m, err := manifest.Read(file, text)
	if list, ok := errors.AsType[manifest.Findings](err); ok {
		return nil, list, nil
	}
	if err != nil {
		return nil, nil, err
	}
	list, err := m.Lint(ctx, version)
	return m, list, err
}

// ask adds what the server finds.
func (l linting) ask(ctx context.Context, s *session, m *manifest.Manifest, found *findings) error {
	list, err := s.lintRemotely(ctx, m)
	if err != nil {
		return err
	}
	found.list = appendNew(found.list, list)
	if l.againstLive == 0 {
		return nil
	}
	if len(found.list.Errors()) > 0 {
		s.note("no live instance was checked, because the manifest has errors")
		return nil
	}
	found.live, err = s.lintLive(ctx, m, l.againstLive)
	return err
}

// appendNew appends the findings that are not there yet: the server's rules are the program's, and more.
func appendNew(list, more manifest.Findings) manifest.Findings {
	for _, f := range more {
		if !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	return list
}

// lintRemotely returns what the server finds wrong with the inputs of a manifest, and warnings of the module types that
// it does not have.
func (s *session) lintRemotely(ctx context.Context, m *manifest.Manifest) (manifest.Findings, error) {
	inputs, wrong := inputprop.DecodeList(m.Inputs, "/inputs")
	if len(wrong) > 0 || len(inputs) == 0 { // found already, or nothing to ask about
		return nil, nil
	}
	_, err := s.judge(ctx, client.InputValuesInput{Inputs: jsonForms(m)}, noValues)
	list := m.Violations(violationsOf(err))
	if err != nil && len(list) == 0 {
		return nil, err
	}
	unknown, err := s.unknownTypes(ctx, m.Type, inputs)
	return append(list, m.Warnings(unknown)...), err
}

// unknownTypes warns of the module types that inputs refer to and the server does not have, but for the module's own.
func (s *session) unknownTypes(
	ctx context.Context, own string, inputs []inputprop.Property,
) ([]inputprop.Warning, error) {
	places, types := map[string][]string{}, []string{}
	inputprop.Walk(inputs, "/inputs", func(p inputprop.Property, pointer string) {
		r, ok := p.(*inputprop.ReferenceProperty)
		if !ok || r.ModuleType() == own {
			return
		}
		if places[r.ModuleType()] == nil {
			types = append(types, r.ModuleType())
		}
		places[r.ModuleType()] = append(places[r.ModuleType()], pointer+"/type")
	})

	var warnings []inputprop.Warning
	for _, moduleType := range types {
		known, err := s.hasModule(ctx, moduleType)
		if err != nil {
			return nil, err
		}

		for _, pointer := range places[moduleType] {
			if !known {
				warnings = append(warnings, inputprop.Warning{Pointer: pointer, Rule: "unknown_module_type",
					Message: "names the module type " + moduleType + ", which no module that you see has"})
			}
		}
	}
	return warnings, nil
}

func (s *session) hasModule(ctx context.Context, moduleType string) (bool, error) {
	_, err := client.Module(ctx, s.conn, nil, &moduleType)
	if isCode(err, fault.ModuleDefinitionNotFound) {
		return false, nil
	}
	return err == nil, err
}

var noValues = json.RawMessage(`{}`)

// judge has the server judge values.
func (s *session) judge(
	ctx context.Context, in client.InputValuesInput, values json.RawMessage,
) (*client.JudgedInputs, error) {
	in.Values = values
	r, err := client.ValidateInputs(ctx, s.conn, in)
	if err != nil {
		return nil, err
	}
	return &r.ValidateInputs, nil
}

// jsonForms returns the inputs of a manifest as the API takes them.
func jsonForms(m *manifest.Manifest) []json.RawMessage {
	forms := make([]json.RawMessage, len(m.Inputs.Items))
	for i, input := range m.Inputs.Items {
		forms[i] = append(input.AppendJSON([]byte(`{"json":`)), '}')
	}
	return forms
}
