// Package fault has the one error type that users see. REST writes it as the body of a refusal,
// GraphQL under errors and their extensions; both are the same JSON.
package fault

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Error is a refusal that may be shown to whoever asked. Its code is one of the registry's, which
// also gives the HTTP status. What it wraps is for the log alone.
type Error struct {
	Code        Code
	Message     string
	Description string
	Action      *Action
	Details     []Section
	Metadata    map[string]any
	// Violations are the places of the input that are wrong. Their pointers start at the operation's
	// input; each surface puts its own root before them (see View).
	Violations []Violation

	cause error
	// logged is whether the cause is in the log already.
	logged bool
}

// Violation is one thing wrong with one place of an input.
type Violation struct {
	// Pointer is the place as a JSON Pointer (RFC 6901).
	Pointer string `json:"pointer"`
	// Rule is the stable name of the rule that is broken, such as "required" or "min_length".
	Rule string `json:"rule"`
	// Message says what is allowed and what was found, and reads on after the pointer.
	Message string `json:"message"`
	// More is how many violations it stands for that are not listed, 0 for one that is.
	More int `json:"-"`
}

// New makes an error of a registered code.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalid returns an error of a registered code out of everything that is wrong with an input, of which it
// lists as much as Violations does.
func Invalid(code Code, violations ...Violation) *Error {
	var all Violations
	all.Append(violations...)
	message := "The input is not valid: 1 violation."
	if n := all.Count(); n != 1 {
		message = fmt.Sprintf("The input is not valid: %d violations.", n)
	}
	return &Error{Code: code, Message: message, Violations: all.All("")}
}

// Malformed returns the error of a request that cannot be read. It names the first violation in its message, for many
// clients show no more than that.
func Malformed(violations ...Violation) *Error {
	e := Invalid(RequestMalformed, violations...)
	e.Message = strings.Join(strings.Fields("The request "+violations[0].Pointer+" "+violations[0].Message), " ") + "."
	return e
}

// WithCause keeps the cause for the log; it is never shown but to a superadmin.
func (e *Error) WithCause(cause error) *Error {
	e.cause = cause
	return e
}

// WithLoggedCause keeps the cause as WithCause does, of which whoever answers with the error is to log nothing:
// where it arose has done so, or will say it once for many.
func (e *Error) WithLoggedCause(cause error) *Error {
	e.cause, e.logged = cause, true
	return e
}

// Error implements error.
func (e *Error) Error() string {
	var text strings.Builder
	text.WriteString(string(e.Code) + ": " + e.Message)
	for _, v := range e.Violations {
		fmt.Fprintf(&text, " [%s: %s]", v.Pointer, v.Message)
	}
	if e.cause != nil {
		text.WriteString(": " + e.cause.Error())
	}
	return text.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.cause }

// Status is the HTTP status of the error's code.
func (e *Error) Status() int { return e.Code.Status() }

// Is says whether err is, or wraps, an error of this code.
func Is(err error, code Code) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// IsFailure reports whether err is something for the operator to look into: a server error that has a cause
// which is not in the log yet, or is no Error at all. One without a cause is a refusal that says everything there is to say, such as that
// of a full queue; that time ran out is the caller's news.
func IsFailure(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return true
	}
	return e.Status() >= http.StatusInternalServerError && e.cause != nil && !e.logged && e.Code != RequestTimeout
}

// Status is the HTTP status that err is answered with: its code's, or 500 for what is no Error.
func Status(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.Status()
	}
	return http.StatusInternalServerError
}
