// Package fault has the one type of error that users see. Its codes are a closed set: the registry has, for each,
// the HTTP status, when it is returned and what the caller can do.
//
// Where something is wrong with a request, an Error is made there, with a code and a message that says what is
// allowed and what was found, and is returned as it is. Every other error, such as that of a library, is
// internal: it is returned as it is too, and Public masks it at the edge, where REST writes the result as the
// body of the answer and GraphQL under errors and their extensions, the same JSON.
//
// Violations collect everything that is wrong with an input, each with its place, so that a caller can mend all
// of it at once.
package fault

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Error is an error that whoever asked may see. Its code is one of the registry's, which also has the HTTP status.
// What it wraps is for the log alone.
type Error struct {
	Code        Code
	Message     string
	Description string
	Action      *Action
	Details     []Section
	Metadata    map[string]any
	// Violations are what is wrong with the input. Their pointers start at the operation's
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
	// Message is what is allowed and what was found; it reads on after the pointer.
	Message string `json:"message"`
	// Other is another place, as Pointer is one, that Message names at its end; "" if it names none.
	Other string `json:"-"`
	// More is how many violations it stands for that are not listed, 0 for one that is.
	More int `json:"-"`
}

// New returns an error of a registered code.
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

// BodyTooLarge returns the error of a request's body that is longer than most, in bytes; found is its length, or
// negative if that is not known.
func BodyTooLarge(most, found int64) *Error {
	metadata := map[string]any{"limit": "body", "value": most}
	counted := "more than " + strconv.FormatInt(most, 10)
	if found > most {
		counted = strconv.FormatInt(found, 10)
		metadata["found"] = found
	}
	e := New(RequestTooLarge, "The body may have at most %d bytes, found %s.", most, counted)
	e.Metadata = metadata
	return e
}

// WithCause sets the cause, which is for the log and is never shown, and returns e.
func (e *Error) WithCause(cause error) *Error {
	e.cause = cause
	return e
}

// WithLoggedCause sets the cause as WithCause does, and marks it as logged if it arose: whoever answers with the
// error does not log it again.
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

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

// Status returns the HTTP status of the error's code.
func (e *Error) Status() int { return e.Code.Status() }

// Is reports whether err is, or wraps, an error of this code.
func Is(err error, code Code) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// IsFailure reports whether err is something for the operator to look into, and so for the log: no Error at all, or
// a server error whose cause is not in the log yet. A server error without a cause says everything by itself, such
// as that of a full queue; a RequestTimeout matters to the caller alone.
func IsFailure(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return true
	}
	return e.Status() >= http.StatusInternalServerError && e.cause != nil && !e.logged && e.Code != RequestTimeout
}

// Status returns the HTTP status that err is answered with: its code's, or 500 for what is no Error.
func Status(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.Status()
	}
	return http.StatusInternalServerError
}
