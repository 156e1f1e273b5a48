package cli

import (
	"errors"
	"fmt"
	"net/http"

	"slipway/internal/cli/manifest"
	"slipway/internal/client"
	"slipway/internal/fault"
)

// findings returns an error that is findings as those of values that are refused, and any other as it is.
func (s *session) findings(err error) error {
	if found, ok := errors.AsType[manifest.Findings](err); ok {
		return s.violations(found)
	}
	return err
}

// violations returns the error of values that are refused: as the server would refuse them, but each violation stands where
// its value was written. A workflow of GitHub shows them beside the lines.
func (s *session) violations(found manifest.Findings) error {
	if variable(s.config.Env, "GITHUB_ACTIONS") == "true" {
		for _, f := range found {
			_, _ = fmt.Fprintln(s.errOut, safe(f.Annotation()))
		}
	}
	items := make([]string, len(found))
	for i, f := range found {
		items[i] = f.String()
	}
	message := fmt.Sprintf("The values do not fit the inputs: %d violations.", len(items))
	if len(items) == 1 {
		message = "The values do not fit the inputs: 1 violation."
	}
	return &codeError{exitFound, &client.Error{Status: http.StatusUnprocessableEntity, Data: fault.Data{
		Code: string(fault.DeploymentInputsInvalid), Message: message,
		Details: []fault.Section{{Title: "Violations", Render: fault.RenderList, Items: items}},
	}}}
}
