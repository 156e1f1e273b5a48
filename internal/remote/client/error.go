package client

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"slipway/internal/base/fault"
)

// Error is an answer that is an error. Its code is empty if the answer is not Slipway's but, say, a proxy's.
type Error struct {
	// Status is that of the answer, or of the code if the answer's was 200.
	Status int
	// Path is what of the operation the error is about, as the server says; nil if it says nothing.
	Path []any
	// Location is where a redirect, which is not followed, leads to.
	Location string
	// ServerVersion is that of the server which has refused an operation; empty if it says nothing, as those before 0.2.0.
	ServerVersion string
	// RetryAfter is how long the server asks to wait before the request is repeated; 0 if it says nothing.
	RetryAfter time.Duration
	fault.Data
}

func (e *Error) Error() string {
	if e.Code == "" {
		return "it answered " + e.Message
	}
	return fmt.Sprintf("%s (%s)", e.Message, e.Code)
}

// Permanent reports whether the same request would fail again.
func (e *Error) Permanent() bool {
	return e.Status >= 300 && e.Status < 500 && e.Status != http.StatusRequestTimeout &&
		e.Status != http.StatusTooManyRequests
}

// Transient reports whether a request that must not be given up early may succeed if it is repeated. That includes
// errors that need not be the server's own, such as the 404 of a proxy whose server restarts.
func Transient(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return !ok || !e.Permanent() || e.Code == "" && (e.Status < 400 || e.Status == http.StatusNotFound)
}

// NotSent reports whether the request has reached nobody.
func NotSent(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}
