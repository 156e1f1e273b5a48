package inputrules_test

import (
	"strings"
	"testing"

	"slipway/internal/base/fault"
)

const hunter = `hunter2`

// silent fails if a violation is missing, or repeats the secret.
func silent(t *testing.T, what, want string, violations []fault.Violation) {
	t.Helper()
	if got := rulesOf(violations); got != want {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
	for _, v := range violations {
		if strings.Contains(v.Message, hunter) || !strings.Contains(v.Message, "looks like a secret") {
			t.Errorf("%s: %s %s", what, v.Pointer, v.Message)
		}
	}
}

func TestMessagesOfInputsRepeatNoSecret(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		in("password", "string", lower, `"default":"hunter2"`):                                  "pattern",
		in("password", "string", `"values":["a"],"default":"hunter2"`):                          "not_in_values",
		in("password", "string", lower, `"values":["hunter2"]`):                                 "pattern",
		in("box", "array", `"default":["${{ TOKEN=hunter2"]`):                                   "template_syntax",
		mapOf("env", in("password", "string", lower), `"default":{"x":{"password":"hunter2"}}`): "pattern",
	} {
		violations, _ := checked(t, list)
		silent(t, list, want, violations)
	}
	violations, _ := checked(t, in("password", "text", `"default":"${{ hunter2"`))
	if rulesOf(violations) != "template_syntax" || strings.Contains(violations[0].Message, hunter) {
		t.Error(violations)
	}
	for property, want := range map[string]string{
		in("password", "string", `"default":["hunter2"]`) + "": "type",
		in("token", "number", `"default":"hunter2"`):           "type",
		in("apiKey", "gitrepo", `"default":"hunter2"`):         "format",
		in("apiKey", "string", `"values":"hunter2"`):           "type",
	} {
		_, violations := decode(t, property)
		silent(t, property, want, violations)
	}
}
