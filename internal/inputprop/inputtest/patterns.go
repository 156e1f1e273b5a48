package inputtest

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"slipway/internal/jsregexp"
)

// Patterns are Go's own: enough for the patterns of these tests. A pattern of "slow" takes too
// long, one of "busy" finds nobody to run it.
type Patterns struct{}

// ErrBusy is the error of a pattern of "busy".
var ErrBusy = errors.New("busy")

// Compile implements inputvalues.Patterns.
func (Patterns) Compile(_ context.Context, pattern string) error {
	if pattern == "groups" {
		return jsregexp.ErrTooManyGroups
	}
	if _, err := regexp.Compile(pattern); err != nil {
		return &jsregexp.SyntaxError{Message: err.Error()}
	}
	return nil
}

// Test implements inputvalues.Patterns.
func (Patterns) Test(_ context.Context, pattern, text string) (bool, error) {
	switch pattern {
	case "slow":
		return false, jsregexp.ErrTooSlow
	case "busy":
		return false, ErrBusy
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return false, &jsregexp.SyntaxError{Message: err.Error()}
	}
	return re.MatchString(text), nil
}

// Warnings implements inputvalues.Patterns.
func (Patterns) Warnings(_ context.Context, pattern string) ([]string, error) {
	if strings.Contains(pattern, `\-`) {
		return []string{"u flag would refuse it"}, nil
	}
	return nil, nil
}
