// Package module has what holds of modules without a server: their deployment types, and what is wrong with a
// definition or a version by itself.
package module

import (
	"fmt"
	"regexp"

	"slipway/internal/base/fault"
	"slipway/internal/base/textrules"
	"slipway/internal/pure/ecs"
)

// The deployment types: what carries out a deployment of a module version. The wire and the tables call them
// deploymentType and kind.
const (
	DeploymentTypeECS       = ecs.Type
	DeploymentTypeTerraform = "terraform"
)

// DeploymentTypes are all deployment types.
var DeploymentTypes = []string{DeploymentTypeECS, DeploymentTypeTerraform}

// CheckDefinition returns what is wrong with a definition by itself. Pointers lead into the input of
// createModuleDefinition.
func CheckDefinition(name, moduleType string, description *string) []fault.Violation {
	violations := append(textrules.Name("/name", name), textrules.Description("/description", description)...)
	return append(violations, CheckType(moduleType)...)
}

// CheckType refuses a text that has not the form of a module type.
func CheckType(text string) []fault.Violation {
	if len(text) <= maxType && typeForm.MatchString(text) {
		return nil
	}
	return []fault.Violation{{Pointer: "/type", Rule: "format", Message: fmt.Sprintf(
		"must be letters, digits, underscores and hyphens, joined by colons, slashes or dots, "+
			"at most %d characters, found %.60q",
		maxType, text)}}
}

const maxType = 200 - len("$ref:")

// typeForm is the form of a type, which is what may follow $ref:.
var typeForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*([:/.][A-Za-z0-9_-]+)*$`)
