package manifest

import (
	"slipway/internal/remote/cli/document"
)

// File is a file to be written.
type File struct {
	// Path is relative to the module's folder, with slashes.
	Path string
	Text []byte
}

// Init returns the files of a new module: a manifest, which can be published as it is, and its schema.
func Init(moduleType, name, deploymentType string) []File {
	text := SchemaLine(SchemaName) + "slipway: module/v1\n\n" +
		"# References and commands use the type; the name is for people.\n" +
		"type: " + document.WriteText(moduleType) + "\n" +
		"name: " + document.WriteText(name) + "\n" +
		"# description: The purpose of the module.\n\n" +
		"# A version is published once. The flag --version overrides it.\n" +
		"version: 0.1.0\n\n" +
		"# The deployment type.\n" +
		"deploymentType: " + document.WriteText(deploymentType) + "\n" + first
	return []File{{FileName, []byte(text)}, {SchemaName, Schema()}}
}

// SchemaLine returns the comment, for the first line of a YAML file, by which editors find the file's schema.
func SchemaLine(path string) string { return "# yaml-language-server: $schema=" + path + "\n" }

// first is the rest of a first manifest.
const first = `
# The repository of the program (default: git's remote "origin", and the current commit).
# source: {url: 'https://git.example.com/team/module', ref: v0.1.0}

# The inputs of a deployment, in the order of the form.
inputs:
  - id: name
    label: Name
    type: string
    description: What the resources are called.
    required: true
    immutable: true
    default: ${{ environment.slug }}-example
    patterns:
      - {pattern: '^[a-z][a-z0-9-]*$', message: 'Small letters, digits and hyphens.'}

  - {id: size, label: Size, type: number, min: 1, max: 10, default: 1}

# Values that a deployment reports, for the inputs of other modules.
outputs:
  - name: endpoint
    description: The URL of the resource.
`
