package deployment

import (
	"slipway/internal/fault"
	"slipway/internal/textrules"
)

// maxReason is how many characters the reason of a deployment or of its cancellation may have.
const maxReason = 500

// checkReason returns what is wrong with a reason, nil for none.
func checkReason(reason *string) []fault.Violation {
	if reason == nil {
		return nil
	}
	return textrules.Reason("/reason", *reason, maxReason)
}

// checkPipeline returns what is wrong with the ids of a pipeline's run and of its step, which have the form of names; nil
// for none.
func checkPipeline(runID, stepID *string) []fault.Violation {
	var violations []fault.Violation
	if runID != nil {
		violations = textrules.Name("/pipelineRunId", *runID)
	}
	if stepID != nil {
		violations = append(violations, textrules.Name("/stepExecutionId", *stepID)...)
	}
	return violations
}

// appendGiven appends a member that is new to the arguments of a request where it is given, with its name: no other member
// makes the same request.
func appendGiven(arguments []any, name string, text *string) []any {
	if text == nil {
		return arguments
	}
	return append(arguments, map[string]string{name: *text})
}
