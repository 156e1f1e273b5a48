package jsregexp

import "errors"

var (
	// ErrTooSlow is a match, or the reading of a pattern, that ran out of its time or its memory.
	ErrTooSlow = errors.New("the pattern takes too long")
	// ErrTooManyGroups is a pattern with more than MaxGroups groups that capture.
	ErrTooManyGroups = errors.New("the pattern has too many groups")
	// ErrBusy is a call that found no free virtual machine in time. It may succeed later.
	ErrBusy = errors.New("too many patterns are being matched")
	// ErrClosed is a call of an Engine after Close.
	ErrClosed = errors.New("the regular expression engine is closed")
)

// SyntaxError is why a browser would refuse a pattern.
type SyntaxError struct {
	// Message says what is wrong, such as "nothing to repeat".
	Message string
}

// Error implements error.
func (e *SyntaxError) Error() string { return "not a regular expression: " + e.Message }
