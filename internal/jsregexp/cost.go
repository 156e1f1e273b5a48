package jsregexp

import "fmt"

// A machine cannot be stopped while it reads a pattern, so what it is given to read has limits.
const (
	// MaxGroups is how many groups that capture a machine takes in a pattern; a browser takes more.
	MaxGroups = 254
	// maxPattern is how long a pattern may be, in bytes.
	maxPattern = 16 << 10
	// maxToil is how much toil a pattern may be, some 100 ms.
	maxToil = 16 << 20
)

// readable says whether a machine can read the pattern in time; ErrTooSlow or ErrTooManyGroups if not.
func readable(pattern string) error {
	if len(pattern) > maxPattern {
		return fmt.Errorf("%w: it has %d bytes, at most %d are allowed", ErrTooSlow, len(pattern), maxPattern)
	}
	if toil(pattern) > maxToil {
		return fmt.Errorf("%w: its classes are too long or it has too many references to named groups", ErrTooSlow)
	}
	if n := groups(pattern); n > MaxGroups {
		return fmt.Errorf("%w: %d, at most %d are allowed", ErrTooManyGroups, n, MaxGroups)
	}
	return nil
}

// groups counts the groups that capture and are closed: without its end a group is a mistake of another kind.
func groups(pattern string) int {
	count, closed, opened := 0, 0, false
	for p := range pieces(pattern) {
		if p.kind == name || opened && p.text != "?" {
			count++
		}
		opened = p.kind == plain && p.text == "("
		if p.kind == plain && p.text == ")" {
			closed++
		}
	}
	return min(count, closed)
}

// toil estimates the reading of a pattern, in units of about 5 ns: a class costs the square of its length,
// a reference to a named group a search of the whole pattern.
func toil(pattern string) int {
	total := 0
	for p := range pieces(pattern) {
		switch p.kind {
		case class:
			total += len(p.text) * len(p.text)
		case reference:
			total += 4 * len(pattern)
		}
	}
	return total
}
