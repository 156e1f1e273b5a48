package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/setting"
	"slipway/internal/remote/client"
)

// What a command ends the program with; ExitCodes says what each means.
const (
	exitFailed   = 1
	exitUsage    = 2
	exitFound    = 3
	exitDenied   = 4
	exitRefused  = 5
	exitUnwell   = 6
	exitGoesOn   = 7
	exitAwaits   = 8
	exitSignaled = 130
)

// ExitCode is a code that a command ends the program with.
type ExitCode struct {
	Code    int
	Meaning string
}

// ExitCodes returns the codes of all commands, for the documents.
func ExitCodes() []ExitCode {
	return []ExitCode{
		{0, "Success."},
		{exitFailed, "Another failure: the server is unreachable, a file cannot be read, or you answered no."},
		{exitUsage, "The command line or a setting is invalid; nothing was done."},
		{exitFound, "Violations were found, or differences with `compare --exit-code`."},
		{exitDenied, "The token is missing, invalid or expired, or does not allow the action (401, 403)."},
		{exitRefused, "The server refused the request for another reason: not found, or a conflict (other 4xx)."},
		{exitUnwell, "The deployment is FAILED or CANCELED."},
		{exitGoesOn, "`--timeout` is over, and the deployment continues."},
		{exitAwaits, "The deployment waits for approvals by others."},
		{exitSignaled, "The command was interrupted."},
	}
}

// codeError is an error that knows what to end the program with. Without an error of its own there is nothing to say.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *codeError) Unwrap() error { return e.err }

// errFound says that something was found, which is shown already.
var errFound error = &codeError{code: exitFound}

// refusedf returns the error of what is refused here as the server would refuse it.
func refusedf(format string, args ...any) error {
	return &codeError{exitRefused, fmt.Errorf(format, args...)}
}

// codeOf returns what an error ends the program with.
func codeOf(ctx context.Context, err error) int {
	coded, isCoded := errors.AsType[*codeError](err)
	_, isUsage := errors.AsType[setting.UsageError](err)
	refused, isRefused := errors.AsType[*client.Error](err)
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil:
		return exitSignaled
	case isCoded:
		return coded.code
	case isUsage:
		return exitUsage
	case isRefused:
		return codeOfStatus(refused)
	}
	return exitFailed
}

// foundCodes are those of refusals that are about what was written for inputs.
var foundCodes = []fault.Code{fault.DeploymentInputsInvalid, fault.InputsRuleBroken, fault.ModuleVersionRuleBroken}

func codeOfStatus(e *client.Error) int {
	switch {
	case slices.Contains(foundCodes, fault.Code(e.Code)):
		return exitFound
	case e.Code == string(fault.DeploymentApprovalsMissing):
		return exitAwaits
	case e.Status == http.StatusUnauthorized, e.Status == http.StatusForbidden:
		return exitDenied
	case e.Code != "" && e.Status >= 400 && e.Status < 500:
		return exitRefused
	}
	return exitFailed
}

// begun marks the error of a command that had begun. What fails before is the command line.
type begun struct{ error }

func (b begun) Unwrap() error { return b.error }

// Exit tells of the error with which a command has ended, nil for none, and returns the code to exit with. It reports
// false for a command that is none of Commands.
func Exit(c *cobra.Command, err error) (code int, ok bool) {
	if c == nil || !Is(c) {
		return 0, false
	}
	code = codeOf(c.Context(), err)
	if _, ran := errors.AsType[begun](err); err != nil && !ran {
		code = exitUsage
	}
	if text := tell(c, err); text != "" {
		_, _ = fmt.Fprintln(c.ErrOrStderr(), text)
	}
	return code, true
}

// tell returns what is to be said of an error: the error body of the API if the output is a program's, and a line
// otherwise.
func tell(c *cobra.Command, err error) string {
	if err == nil || err.Error() == "" {
		return ""
	}
	if c.Context().Err() != nil {
		err = errors.New("interrupted")
	}

	data := fault.Data{Message: err.Error()}
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Code != "" {
		data = refused.Data
	}

	if f := c.Flags().Lookup("output"); f != nil && format(f.Value.String()).forPrograms() {
		text, failed := json.Marshal(data)
		if failed == nil {
			return escapeJSON(string(text))
		}
	}

	lines := linesOf(data)
	for i, line := range lines {
		lines[i] = safe(line)
	}
	return strings.Join(lines, "\n  ")
}

// linesOf returns what an error body says to people, a line each.
func linesOf(data fault.Data) []string {
	lines := []string{"slipway: " + data.Message}
	if data.Code != "" {
		lines[0] += " (" + data.Code + ")"
	}
	if data.Description != "" {
		lines = append(lines, data.Description)
	}
	if data.Code == string(fault.RequestOrganizationNeeded) {
		lines = append(lines, "--organization names it.")
	}

	for _, section := range data.Details {
		lines = append(lines, section.Items...)
	}

	if data.Action != nil {
		url := data.Action.URL
		if d, ok := strings.CutPrefix(url, "/deployments/"); ok && id.Of(id.Deployment, d) {
			url = "slipway deployments show " + d
		}
		lines = append(lines, data.Action.Label+": "+url)
	}

	if data.RequestID != "" {
		lines = append(lines, "request "+data.RequestID)
	}
	return lines
}
