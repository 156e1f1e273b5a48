package manifest

import (
	"context"
	"errors"

	"slipway/internal/actor"
	"slipway/internal/catalog"
	"slipway/internal/cli/document"
	"slipway/internal/fault"
	"slipway/internal/inputprop"
	"slipway/internal/inputrules"
	"slipway/internal/inputvalues"
	"slipway/internal/jsregexp"
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
	violations, err := m.refused(ctx, version)
	if err != nil {
		return nil, err
	}
	list := m.Violations(violations)
	for i := range list {
		if version != "" && list[i].Pointer == "/version" {
			list[i].File, list[i].Position = "--version", document.Position{}
		}
	}
	inputs, wrong := inputprop.DecodeList(m.Inputs, "/inputs")
	if len(wrong) > 0 { // they are among the violations
		return list, nil
	}
	broken, warnings, err := inputrules.NewEngine(inputvalues.Patterns(patterns)).CheckList(ctx, inputs, "/inputs")
	if err != nil {
		return nil, err
	}
	list = append(list, m.Violations(broken)...)
	return append(list, warningsIn(m.document, warnings)...), nil
}

// Violations returns what a server has found wrong with the manifest as findings in its file. The pointers lead into the
// input of createModuleDefinition or publishModuleVersion.
func (m *Manifest) Violations(violations []fault.Violation) Findings {
	moved := make([]fault.Violation, len(violations))
	for i, v := range violations {
		v.Pointer = place(v.Pointer)
		moved[i] = v
	}
	return inDocument(m.document, moved)
}

// errAccepted ends the making of a definition that nothing is wrong with.
var errAccepted = errors.New("manifest: accepted")

// unsaved lets the catalogue judge and save nothing.
type unsaved struct{ catalog.SchemaChecker }

func (unsaved) CheckShadowed(context.Context, string, string) ([]inputprop.Warning, error) {
	return nil, errAccepted
}

// refused returns what the catalogue refuses in the definition and the version. It says so before it comes to its
// database, which there is not: a definition that it would take ends with errAccepted, and a version with the refusal of
// a caller who may not publish.
func (m *Manifest) refused(ctx context.Context, version string) ([]fault.Violation, error) {
	judge := &catalog.Service{Schemas: unsaved{}}
	author := (&actor.Actor{Role: actor.Superadmin}).InGlobal()
	_, _, err := judge.CreateDefinition(actor.With(ctx, author), catalog.NewDefinition{Name: m.Name, Type: m.Type, Description: m.Description})
	violations, err := violationsOf(err)
	if err != nil {
		return nil, err
	}
	_, _, err = judge.PublishVersion(actor.With(ctx, actor.Anonymous()), m.newVersion(version))
	more, err := violationsOf(err)
	return append(violations, more...), err
}

func (m *Manifest) newVersion(version string) catalog.NewVersion {
	if version == "" {
		version = m.Version
	}
	v := catalog.NewVersion{Version: version, Kind: m.DeploymentType, Inputs: m.Inputs, Outputs: m.Outputs}
	if m.Source != nil {
		v.SourceURL, v.SourceRef = m.Source.URL, m.Source.Ref
	}
	return v
}

// violationsOf returns the violations of a refusal, none where it is about something else than the input.
func violationsOf(err error) ([]fault.Violation, error) {
	var refusal *fault.Error
	switch {
	case err == nil || errors.Is(err, errAccepted):
		return nil, nil
	case errors.As(err, &refusal):
		return refusal.Violations, nil
	}
	return nil, err
}
