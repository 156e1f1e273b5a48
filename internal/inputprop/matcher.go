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
type matcher struct {
	patterns Patterns
	ctx      context.Context
	tests    int
	// slow is set when a pattern took too long: none is tried after it, in all of the request.
	slow     bool
	verdicts map[string]verdict
	// err is what kept the matcher from an answer.
	err error
}

// verdict is why a pattern is of no use: the name of the rule and a message, both empty for one that
// is.
type verdict struct {
	rule, message string
	warnings      []string
}

func (e *Engine) matcher(ctx context.Context) *matcher {
	return &matcher{patterns: e.patterns, ctx: ctx, verdicts: map[string]verdict{}}
}

// compile judges a pattern.
func (m *matcher) compile(pattern string) verdict {
	if known, ok := m.verdicts[pattern]; ok || m.patterns == nil || m.err != nil {
		return known
	}
	if m.err = meter.Spend(m.ctx, meter.Patterns, len(pattern)); m.err != nil {
		return verdict{}
	}
	v := m.verdict(m.patterns.Compile(m.ctx, pattern))
	if v.rule == "" && m.err == nil {
		v.warnings, m.err = m.patterns.Warnings(m.ctx, pattern)
	}
	m.verdicts[pattern] = v
	return v
}

func (m *matcher) verdict(err error) verdict {
	var syntax *jsregexp.SyntaxError
	switch {
	case err == nil:
		return verdict{}
	case errors.As(err, &syntax):
		return verdict{rule: "pattern_syntax", message: "must be a JavaScript regular expression, found " + syntax.Message}
	case errors.Is(err, jsregexp.ErrTooManyGroups):
		return verdict{rule: "pattern_limit", message: fmt.Sprintf("must have at most %d groups that capture, found more", jsregexp.MaxGroups)}
	case errors.Is(err, jsregexp.ErrTooSlow):
		m.slow = true
		return verdict{rule: "pattern_too_slow", message: "must be matched by patterns in time, found one that takes too long"}
	default:
		m.err = err
		return verdict{}
	}
}

// afterSlow is why a text is not matched at all.
var afterSlow = verdict{rule: "pattern_too_slow", message: "must be matched by patterns in time, and is not matched, for another took too long"}

// test matches a text with a pattern; the verdict is why it could not be.
func (m *matcher) test(pattern, text string) (bool, verdict) {
	if m.patterns == nil || m.err != nil {
		return true, verdict{}
	}
	if m.slow {
		return false, afterSlow
	}
	if known := m.verdicts[pattern]; known.rule != "" {
		return false, known
	}
	if m.tests++; m.tests > maxTests {
		return false, verdict{rule: "max_tests", message: fmt.Sprintf("must need at most %d matches of patterns in all, found more", maxTests)}
	}
	if m.err = meter.Spend(m.ctx, meter.Matches, 1); m.err == nil {
		m.err = meter.Spend(m.ctx, meter.Matched, len(text))
	}
	if m.err != nil {
		return true, verdict{}
	}
	var ok bool
	var v verdict
	if !meter.TryPattern(m.ctx, func() bool {
		found, err := m.patterns.Test(m.ctx, pattern, text)
		ok, v = found, m.verdict(err)
		return m.slow
	}) {
		m.slow = true
		return false, afterSlow
	}
	if v.rule != "" {
		m.verdicts[pattern] = v
	}
	return ok || m.err != nil, v
}
