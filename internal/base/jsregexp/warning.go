package jsregexp

import (
	"context"
	"errors"
	"math"
)

// Warnings returns the reasons why a pattern that a browser accepts may not work elsewhere: "u flag would refuse
// it: …" and "needs a browser of 2025 or later: …". A pattern that browsers refuse has no warnings. The errors
// are those of Compile except *SyntaxError.
func (e *Engine) Warnings(ctx context.Context, pattern string) ([]string, error) {
	var warnings []string
	err := e.run(ctx, func(m *machine) error {
		if _, _, err := m.compile(pattern, math.MaxInt); err != nil {
			return err
		}
		warnings = recentSyntax(pattern)
		refusal, err := m.refusedByUnicode(pattern)
		if refusal != "" {
			warnings = append(warnings, "u flag would refuse it: "+refusal)
		}
		return err
	})
	var syntax *SyntaxError
	if errors.As(err, &syntax) {
		return nil, nil
	}
	return warnings, err
}

// recentSyntax returns the reasons why browsers from before 2025 would refuse a valid pattern.
func recentSyntax(pattern string) []string {
	var reasons []string
	names := make(map[string]int)
	modifiers := 0
	for t := range tokens(pattern) {
		switch t.kind {
		case groupOpening:
			group := groupName(t.text)
			if names[group]++; names[group] == 2 {
				reasons = append(reasons, "needs a browser of 2025 or later: more than one group has the name "+group)
			}
		case modifier:
			if modifiers++; modifiers == 1 {
				reasons = append(reasons, "needs a browser of 2025 or later: flags for a part of the pattern, "+t.text)
			}
		}
	}
	return reasons
}
