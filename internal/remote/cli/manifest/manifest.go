// Package manifest reads what a module's author and who deploys it keep in files: the manifest of a module, and values
// for its inputs. It judges by the packages of the server and adds where a value was written; it has no rule of its own
// but the manifest's shape.
package manifest

import (
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/output"
	"slipway/internal/remote/cli/document"
)

// The names of the files that Init makes.
const (
	FileName   = "slipway-module.yaml"
	SchemaName = ".slipway/module.schema.json"
)

// format is that of the manifests which are read here, by its name in them.
const format = "module/v1"

// Manifest is a module version, and the definition that it belongs to.
type Manifest struct {
	Type, Name     string
	Description    *string
	Version        string // "" if it is left out
	DeploymentType string
	// Source is nil if it is left out: see GitSource.
	Source *Source
	// Inputs are the JSON form of the inputs, and Outputs those that are declared.
	Inputs  *strictjson.Node
	Outputs []output.Declared

	document *document.Document
}

// Source is where a module's program is kept.
type Source struct {
	URL *string `json:"url,omitzero"`
	Ref *string `json:"ref,omitzero"`
	// Path is the folder in the repository; of a source that is taken from git, below the manifest's own.
	Path *string `json:"path,omitzero"`
}

// form is a manifest as it is written.
type form struct {
	Slipway        string           `json:"slipway" rules:"required,enum=module/v1"`
	Type           string           `json:"type" rules:"required"`
	Name           string           `json:"name" rules:"required"`
	Description    *string          `json:"description,omitzero"`
	Version        *string          `json:"version,omitzero"`
	DeploymentType string           `json:"deploymentType" rules:"required"`
	Source         *Source          `json:"source,omitzero"`
	Inputs         *strictjson.Node `json:"inputs" rules:"required,shape=array"`
	Outputs        []declared       `json:"outputs,omitzero"`
}

type declared struct {
	Name        string  `json:"name" rules:"required"`
	Description *string `json:"description,omitzero"`
	Secret      *bool   `json:"secret,omitzero"`
}

// Read reads a manifest. The error is Findings: what is wrong with the document, or with the manifest's own members.
// What is wrong with their values is for Lint to say.
func Read(file string, text []byte) (*Manifest, error) {
	d, err := document.Read(file, text)
	if err != nil {
		return nil, syntax(err)
	}

	var f form
	if violations := strictjson.Decode(d.Root, &f, ""); len(violations) > 0 {
		return nil, inDocument(d, violations)
	}

	m := &Manifest{
		Type: f.Type, Name: f.Name, Description: f.Description, DeploymentType: f.DeploymentType,
		Source: f.Source, Inputs: f.Inputs, document: d,
	}
	if f.Version != nil {
		m.Version = *f.Version
	}
	for _, o := range f.Outputs {
		m.Outputs = append(m.Outputs, output.Declared{
			Name: o.Name, Description: o.Description, Secret: o.Secret != nil && *o.Secret,
		})
	}

	return m, nil
}

// Is reports whether a text is a manifest, whatever else may be wrong with it.
func Is(file string, text []byte) bool {
	d, err := document.Read(file, text)
	return err == nil && d.Root.GetText("slipway") == format
}

// place returns the pointer into the manifest of what a pointer leads to in the input of a mutation.
func place(pointer string) string {
	switch pointer {
	case "/sourceUrl":
		return "/source/url"
	case "/sourceRef":
		return "/source/ref"
	case "/sourcePath":
		return "/source/path"
	}
	return pointer
}
