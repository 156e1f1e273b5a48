package inputprop

import (
	"context"
	"errors"
	"fmt"

	"slipway/internal/jsregexp"
	"slipway/internal/meter"
)

// maxTests bounds the matches of one call.
const maxTests = 8_000

// matcher runs the patterns of one call.
type Matcher struct {
	patterns Patterns
	ctx      context.Context
	tests    int
	// slow is set when a pattern took too long: none is tried after it, in all of the request.
	slow  bool
	flaws map[string]PatternFlaw
	// err is what kept the matcher from an answer.
	err error
}

// verdict is why a pattern is of no use: the name of the rule and a message, both empty for one that
// is.
type PatternFlaw struct {
	Rule, Message string
	Warnings      []string
}

func (e *Engine) matcher(ctx context.Context) *Matcher {
	return &Matcher{patterns: e.patterns, ctx: ctx, flaws: map[string]PatternFlaw{}}
}

// compile judges a pattern.
func (m *Matcher) Compile(pattern string) PatternFlaw {
	if known, ok := m.flaws[pattern]; ok || m.patterns == nil || m.err != nil {
		return known
	}
	if m.err = meter.Spend(m.ctx, meter.Patterns, len(pattern)); m.err != nil {
		return PatternFlaw{}
	}
	v := m.flaw(m.patterns.Compile(m.ctx, pattern))
	if v.Rule == "" && m.err == nil {
		v.Warnings, m.err = m.patterns.Warnings(m.ctx, pattern)
	}
	m.flaws[pattern] = v
	return v
}

func (m *Matcher) flaw(err error) PatternFlaw {
	var syntax *jsregexp.SyntaxError
	switch {
	case err == nil:
		return PatternFlaw{}
	case errors.As(err, &syntax):
		return PatternFlaw{Rule: "pattern_syntax", Message: "must be a JavaScript regular expression, found " + syntax.Message}
	case errors.Is(err, jsregexp.ErrTooManyGroups):
		return PatternFlaw{Rule: "pattern_limit", Message: fmt.Sprintf("must have at most %d groups that capture, found more", jsregexp.MaxGroups)}
	case errors.Is(err, jsregexp.ErrTooSlow):
		m.slow = true
		return PatternFlaw{Rule: "pattern_too_slow", Message: "must be matched by patterns in time, found one that takes too long"}
	default:
		m.err = err
		return PatternFlaw{}
	}
}

// afterSlow is why a text is not matched at all.
var afterSlow = PatternFlaw{Rule: "pattern_too_slow", Message: "must be matched by patterns in time, and is not matched, for another took too long"}

// test matches a text with a pattern; the verdict is why it could not be.
func (m *Matcher) Test(pattern, text string) (bool, PatternFlaw) {
	if m.patterns == nil || m.err != nil {
		return true, PatternFlaw{}
	}
	if m.slow {
		return false, afterSlow
	}
	if known := m.flaws[pattern]; known.Rule != "" {
		return false, known
	}
	if m.tests++; m.tests > maxTests {
		return false, PatternFlaw{Rule: "max_tests", Message: fmt.Sprintf("must need at most %d matches of patterns in all, found more", maxTests)}
	}
	if m.err = meter.Spend(m.ctx, meter.Matches, 1); m.err == nil {
		m.err = meter.Spend(m.ctx, meter.Matched, len(text))
	}
	if m.err != nil {
		return true, PatternFlaw{}
	}
	var ok bool
	var v PatternFlaw
	if !meter.TryPattern(m.ctx, func() bool {
		found, err := m.patterns.Test(m.ctx, pattern, text)
		ok, v = found, m.flaw(err)
		return m.slow
	}) {
		m.slow = true
		return false, afterSlow
	}
	if v.Rule != "" {
		m.flaws[pattern] = v
	}
	return ok || m.err != nil, v
}
