package inputprop_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"slipway/internal/fault"
	"slipway/internal/inputprop"
	"slipway/internal/jsregexp"
)

// plainPatterns are Go's own: enough for the patterns of these tests. A pattern of "slow" takes too
// long, one of "busy" finds nobody to run it.
type plainPatterns struct{}

var errBusy = errors.New("busy")

func (plainPatterns) Compile(_ context.Context, pattern string) error {
	if pattern == "groups" {
		return jsregexp.ErrTooManyGroups
	}
	if _, err := regexp.Compile(pattern); err != nil {
		return &jsregexp.SyntaxError{Message: err.Error()}
	}
	return nil
}

func (plainPatterns) Test(_ context.Context, pattern, text string) (bool, error) {
	switch pattern {
	case "slow":
		return false, jsregexp.ErrTooSlow
	case "busy":
		return false, errBusy
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return false, &jsregexp.SyntaxError{Message: err.Error()}
	}
	return re.MatchString(text), nil
}

func (plainPatterns) Warnings(_ context.Context, pattern string) ([]string, error) {
	if strings.Contains(pattern, `\-`) {
		return []string{"u flag would refuse it"}, nil
	}
	return nil, nil
}

var plain = inputprop.NewEngine(plainPatterns{})

func mustDecodeList(t testing.TB, text string) []inputprop.Property {
	t.Helper()
	list, violations := inputprop.DecodeList(parse(t, text), "")
	if len(violations) > 0 {
		t.Fatalf("decode %.200s: %v", text, violations)
	}
	return list
}

// checked gives the violations of a list of properties that is written without its brackets.
func checked(t testing.TB, list string) ([]fault.Violation, []inputprop.Warning) {
	t.Helper()
	violations, warnings, err := plain.CheckList(t.Context(), mustDecodeList(t, "["+list+"]"), "")
	if err != nil {
		t.Fatal(err)
	}
	return violations, warnings
}

// in writes a property of a type; more are its other members.
func in(id, kind string, more ...string) string {
	text := `{"id":"` + id + `","label":"` + strings.ToUpper(id) + `","type":"` + kind + `"`
	for _, m := range more {
		text += "," + m
	}
	return text + "}"
}

func mapOf(id, items string, more ...string) string {
	return in(id, "object_map", append(more, `"item_inputs":[`+items+`]`)...)
}

func arrayOf(id, items string, more ...string) string {
	return in(id, "object_array", append(more, `"item_inputs":[`+items+`]`)...)
}

func reference(id, mapped string, more ...string) string {
	return in(id, "$ref:net", append(more, `"mapped_inputs":[`+mapped+`]`)...)
}

// shown writes a show_when.
func shown(conditions string) string { return `"show_when":{` + conditions + `}` }
