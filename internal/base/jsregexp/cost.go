package jsregexp

import "fmt"

// QuickJS cannot be stopped while it compiles a pattern, so what it is given to compile has limits.
const (
	// MaxGroups is how many capturing groups a pattern may have; browsers accept more.
	MaxGroups = 254
	// maxPattern is the longest pattern, in bytes.
	maxPattern = 16 << 10
	// maxCompileCost is the highest compileCost of a pattern, some 70 ms.
	maxCompileCost = 16 << 20
)

// checkCost returns ErrTooSlow or ErrTooManyGroups for a pattern that would not be compiled in so many steps, or at
// all. taken is how many it takes to compile it and to ask for its warnings.
func checkCost(pattern string, steps int) (taken int, err error) {
	if len(pattern) > maxPattern {
		return 0, fmt.Errorf("%w: it has %d bytes, at most %d are allowed", ErrTooSlow, len(pattern), maxPattern)
	}
	cost := compileCost(pattern)
	if cost > maxCompileCost {
		return 0, fmt.Errorf("%w: its classes are too long or it has too many references to named groups", ErrTooSlow)
	}
	if n := countGroups(pattern); n > MaxGroups {
		return 0, fmt.Errorf("%w: %d, at most %d are allowed", ErrTooManyGroups, n, MaxGroups)
	}
	return 2 * cost, checkSteps(2*cost, steps)
}

// checkSteps returns ErrTooSlow for a pattern whose compiling takes more steps than it may.
func checkSteps(taken, steps int) error {
	if taken > steps {
		return fmt.Errorf("%w: compiling takes more than %d steps", ErrTooSlow, steps)
	}
	return nil
}

// compileCost estimates the time to compile a pattern in steps, beyond what grows as its length does: a class costs the
// square of its length, a reference to a named group a search of the whole pattern.
func compileCost(pattern string) int {
	cost := 0
	for t := range tokens(pattern) {
		switch t.kind {
		case class:
			cost += len(t.text) * len(t.text)
		case reference:
			cost += 4 * len(pattern)
		}
	}
	return cost
}

// countGroups returns how many capturing groups a pattern has. A group that is not closed does not count: the
// machine finds that error quickly.
func countGroups(pattern string) int {
	count, closed, opened := 0, 0, false
	for t := range tokens(pattern) {
		if t.kind == groupOpening || opened && t.text != "?" {
			count++
		}
		opened = t.kind == other && t.text == "("
		if t.kind == other && t.text == ")" {
			closed++
		}
	}
	return min(count, closed)
}
