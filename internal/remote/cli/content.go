package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/release"
	"slipway/internal/remote/cli/manifest"
	"slipway/internal/remote/client"
)

// content is what a version of a module is, whoever published it and when.
type content struct {
	DeploymentType string                   `json:"deploymentType"`
	SourceURL      *string                  `json:"sourceUrl,omitempty"`
	SourceRef      *string                  `json:"sourceRef,omitempty"`
	SourcePath     *string                  `json:"sourcePath,omitempty"`
	Inputs         json.RawMessage          `json:"inputs"`
	Outputs        []*client.DeclaredOutput `json:"outputs"`
}

// contentOf returns the content of a published version.
func contentOf(v *client.VersionDetail) (*content, error) {
	inputs, err := inputsOf(&client.DeployableVersion{
		Version: v.Version, InputsJson: v.InputsJson, ModuleDefinition: v.ModuleDefinition,
	})
	if err != nil {
		return nil, err
	}
	c := &content{
		v.DeploymentType, v.SourceUrl, v.SourceRef, v.SourcePath, inputprop.EncodeList(inputs), []*client.DeclaredOutput{},
	}
	for i := range v.Outputs {
		c.Outputs = append(c.Outputs, &v.Outputs[i])
	}
	return c, nil
}

// contentOfManifest returns the content that a manifest, in which nothing is wrong, is published with.
func contentOfManifest(m *manifest.Manifest, source *manifest.Source) *content {
	inputs, _ := inputprop.DecodeList(m.Inputs, "/inputs") // in the form that is stored
	c := &content{
		m.DeploymentType, source.URL, source.Ref, source.Path, inputprop.EncodeList(inputs), []*client.DeclaredOutput{},
	}
	for _, o := range m.Outputs {
		c.Outputs = append(c.Outputs, &client.DeclaredOutput{Name: o.Name, Description: o.Description, Secret: o.Secret})
	}
	return c
}

// maxDifferences is how many differences are told.
const maxDifferences = 100

// differencesTo returns what differs in another content, a line each, none if they are the same.
func (c *content) differencesTo(ctx context.Context, other *content) ([]string, error) {
	before, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	after, err := json.Marshal(other)
	if err != nil {
		return nil, err
	}

	changes, err := release.Diff(ctx, before, after)
	if err != nil {
		return nil, err
	}

	var lines []string
	for i, change := range changes {
		if i == maxDifferences {
			return append(lines, fmt.Sprintf("… and %d more", len(changes)-i)), nil
		}
		lines = append(lines, changeLine(change))
	}
	return lines, nil
}

// changeLine returns a difference on a line.
func changeLine(c release.Change) string {
	if c.Masked {
		return signs[client.ReleaseChangeKind(c.Kind)] + " " + c.Pointer + "  masked"
	}
	switch c.Kind {
	case release.Added:
		return fmt.Sprintf("+ %s  %s", c.Pointer, c.After)
	case release.Removed:
		return fmt.Sprintf("- %s  %s", c.Pointer, c.Before)
	case release.Changed:
	}
	return fmt.Sprintf("~ %s  %s -> %s", c.Pointer, c.Before, c.After)
}
