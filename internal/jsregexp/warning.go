package jsregexp

import (
	"context"
	"errors"
)

// Warnings are reasons why a pattern that a browser takes may not work elsewhere: "u flag would refuse
// it: …" and "needs a browser of 2025 or later: …". A pattern without such a reason has none, nor has one
// that is refused. It fails as Compile does, but for a *SyntaxError.
func (e *Engine) Warnings(ctx context.Context, pattern string) ([]string, error) {
	var warnings []string
	err := e.run(ctx, func(m *machine) error {
		if _, err := m.compile(pattern); err != nil {
			return err
		}
		warnings = novelties(pattern)
		strict, err := m.constructed(pattern, "u")
		var refusal *SyntaxError
		if errors.As(err, &refusal) {
			warnings = append(warnings, "u flag would refuse it: "+refusal.Message)
			return nil
		}
		strict.Free()
		return err
	})
	var refusal *SyntaxError
	if errors.As(err, &refusal) {
		return nil, nil
	}
	return warnings, err
}

// novelties are the reasons why browsers from before 2025 would refuse the pattern, which is a valid one.
func novelties(pattern string) []string {
	var reasons []string
	names := make(map[string]int)
	modifiers := 0
	for p := range pieces(pattern) {
		switch p.kind {
		case name:
			called := groupName(p.text)
			if names[called]++; names[called] == 2 {
				reasons = append(reasons, "needs a browser of 2025 or later: more than one group has the name "+called)
			}
		case modifier:
			if modifiers++; modifiers == 1 {
				reasons = append(reasons, "needs a browser of 2025 or later: flags for a part of the pattern, "+p.text)
			}
		}
	}
	return reasons
}
