package manifest

import (
	"context"

	"slipway/internal/base/fault"
	"slipway/internal/base/jsregexp"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/inputrules"
	"slipway/internal/pure/inputvalues"
	"slipway/internal/pure/module"
	"slipway/internal/remote/cli/document"
)

// Lint returns what a server would find wrong with the manifest, or not what was meant, as far as that can be told
// without one: it knows no other modules and no instances. Version, if not "", goes before the manifest's. The error is
// of the patterns or of the context.
func (m *Manifest) Lint(ctx context.Context, version string) (Findings, error) {
	patterns, err := jsregexp.New(1)
	if err != nil {
		return nil, err
	}
	defer patterns.Close()

	violations := module.CheckDefinition(m.Name, m.Type, m.Description)
	_, inputs, wrong := m.newVersion(version).Check()
	list := m.Violations(append(violations, wrong...))
	for i := range list {
		if version != "" && list[i].Pointer == "/version" {
			list[i].File, list[i].Position = "--version", document.Position{}
		}
	}

	broken, warnings, err := inputrules.NewEngine(inputvalues.Patterns(patterns)).CheckList(ctx, inputs, "/inputs")
	if err != nil {
		return nil, err
	}
	list = append(list, m.Violations(broken)...)
	return append(list, m.Warnings(warnings)...), nil
}

// Violations returns what a server has found wrong with the manifest as findings in its file. The pointers lead into
// the input of createModuleDefinition or publishModuleVersion.
func (m *Manifest) Violations(violations []fault.Violation) Findings {
	moved := make([]fault.Violation, len(violations))
	for i, v := range violations {
		v.Pointer = place(v.Pointer)
		moved[i] = v
	}
	return inDocument(m.document, moved)
}

// Warnings is Violations for warnings.
func (m *Manifest) Warnings(warnings []inputprop.Warning) Findings {
	violations := make([]fault.Violation, len(warnings))
	for i, w := range warnings {
		violations[i] = fault.Violation{Pointer: w.Pointer, Rule: w.Rule, Message: w.Message}
	}
	list := m.Violations(violations)
	for i := range list {
		list[i].Warning = true
	}
	return list
}

func (m *Manifest) newVersion(version string) module.NewVersion {
	if version == "" {
		version = m.Version
	}
	v := module.NewVersion{Version: version, Kind: m.DeploymentType, Inputs: m.Inputs, Outputs: m.Outputs}
	if m.Source != nil {
		v.SourceURL, v.SourceRef, v.SourcePath = m.Source.URL, m.Source.Ref, m.Source.Path
	}
	return v
}
