package state

import (
	"slipway/internal/base/fault"
	"slipway/internal/base/textrules"
)

// maxReason is how many characters the reason of a deployment or of its cancellation may have.
const maxReason = 500

// CheckReason returns what is wrong with a reason, nil for none.
func CheckReason(reason *string) []fault.Violation {
	if reason == nil {
		return nil
	}
	return textrules.Reason("/reason", *reason, maxReason)
}

// CheckPipeline returns what is wrong with the ids of a pipeline's run and of its step, which have the form of names;
// nil for none.
func CheckPipeline(runID, stepID *string) []fault.Violation {
	var violations []fault.Violation
	if runID != nil {
		violations = textrules.Name("/pipelineRunId", *runID)
	}
	if stepID != nil {
		violations = append(violations, textrules.Name("/stepExecutionId", *stepID)...)
	}
	return violations
}

// AppendGiven appends a member that is new to the arguments of a request if it is given, with its name: no other
// member makes the same request.
func AppendGiven(arguments []any, name string, text *string) []any {
	if text == nil {
		return arguments
	}
	return append(arguments, map[string]string{name: *text})
}
