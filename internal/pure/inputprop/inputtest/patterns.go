package inputtest

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"slipway/internal/base/jsregexp"
)

// Patterns are Go's own: enough for the patterns of these tests. A match takes a step, one of "slow" too long; one of
// "busy" finds nobody to run it.
type Patterns struct{}

// ErrBusy is the error of a pattern of "busy".
var ErrBusy = errors.New("busy")

// Compile implements inputvalues.Patterns.
func (Patterns) Compile(_ context.Context, pattern string, _ int) (int, error) {
	if pattern == "groups" {
		return 0, jsregexp.ErrTooManyGroups
	}
	if _, err := regexp.Compile(pattern); err != nil {
		return 0, &jsregexp.SyntaxError{Message: err.Error()}
	}
	return 0, nil
}

// Test implements inputvalues.Patterns.
func (Patterns) Test(_ context.Context, pattern, text string, _ int) (bool, int, error) {
	switch pattern {
	case "slow":
		return false, 1, jsregexp.ErrTooSlow
	case "busy":
		return false, 0, ErrBusy
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return false, 0, &jsregexp.SyntaxError{Message: err.Error()}
	}
	return re.MatchString(text), 1, nil
}

// Warnings implements inputvalues.Patterns.
func (Patterns) Warnings(_ context.Context, pattern string) ([]string, error) {
	if strings.Contains(pattern, `\-`) {
		return []string{"u flag would refuse it"}, nil
	}
	return nil, nil
}
