package cli

import (
	"errors"
	"fmt"
	"net/http"

	"slipway/internal/base/fault"
	"slipway/internal/remote/cli/manifest"
	"slipway/internal/remote/client"
)

// findings returns an error that is findings as those of values that are refused, and any other as it is.
func (s *session) findings(err error) error {
	if found, ok := errors.AsType[manifest.Findings](err); ok {
		return s.violations(found)
	}
	return err
}

// violations returns the error of values that are refused.
func (s *session) violations(found manifest.Findings) error {
	return s.refuse(fault.DeploymentInputsInvalid, "The values do not fit the inputs", found)
}

// refuse returns the error of what cannot be sent for what was found in it: as the server would refuse it, but each
// violation stands where it was written. A workflow of GitHub shows them beside the lines.
func (s *session) refuse(code fault.Code, why string, found manifest.Findings) error {
	s.annotate(found)
	items := make([]string, len(found))
	for i, f := range found {
		items[i] = f.String()
	}
	all := findings{list: found}
	return &codeError{exitFound, &client.Error{Status: http.StatusUnprocessableEntity, Data: fault.Data{
		Code: string(code), Message: fmt.Sprintf("%s: %s.", why, counted(len(found.Errors()), "violation")),
		Details:  []fault.Section{{Title: "Violations", Render: fault.RenderList, Items: items}},
		Metadata: map[string]any{"violations": all.records()},
	}}}
}
