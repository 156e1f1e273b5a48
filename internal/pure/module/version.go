package module

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/output"
)

// NewVersion is a module version to be published.
type NewVersion struct {
	DefinitionID string
	Version      string
	Kind         string
	// Inputs are read when the version is published.
	Inputs *strictjson.Node
	// Outputs are those that it declares.
	Outputs []output.Declared
	// SourceURL is the repository of its program, SourceRef the branch, tag or commit, and SourcePath the folder in it;
	// nil for none.
	SourceURL, SourceRef, SourcePath *string
	// Violations are what was already found wrong while the input was read.
	Violations []fault.Violation
}

// Check returns the number of the version and its inputs, or everything that is wrong with the version by itself,
// without the rules that hold between its inputs. Pointers lead into the input of publishModuleVersion.
func (in NewVersion) Check() (*semver.Version, []inputprop.Property, []fault.Violation) {
	violations := in.Violations
	version, err := semver.StrictNewVersion(in.Version)
	if err != nil || len(in.Version) > 100 {
		violations = append(violations, fault.Violation{Pointer: "/version", Rule: "format",
			Message: fmt.Sprintf("must be a semantic version such as 1.4.0 or 2.0.0-rc.1, found %.60q", in.Version)})
	}
	if !slices.Contains(DeploymentTypes, in.Kind) {
		violations = append(violations, fault.Violation{Pointer: "/deploymentType", Rule: "enum",
			Message: fmt.Sprintf("must be one of %s, found %.60q", strings.Join(DeploymentTypes, ", "), in.Kind)})
	}
	violations = append(violations, in.checkSource()...)
	violations = append(violations, output.CheckDeclared(in.Outputs, "/outputs")...)
	if in.Inputs == nil {
		return version, nil, violations
	}
	inputs, wrong := inputprop.DecodeList(in.Inputs, "/inputs")
	return version, inputs, append(violations, wrong...)
}
