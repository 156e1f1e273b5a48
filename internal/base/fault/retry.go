package fault

import (
	"fmt"
	"net/http"
)

// defaultRetryAfter is how many seconds a caller is asked to wait if the error does not say.
const defaultRetryAfter = 5

// MayRetry reports whether an answer of the status asks its caller to come back later.
func MayRetry(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}

// SetRetryAfter sets the header Retry-After of an answer that asks its caller to come back later, unless it
// is set: to the retryAfterSeconds of the error's metadata, or else to 5 s.
func SetRetryAfter(h http.Header, status int, metadata map[string]any) {
	if !MayRetry(status) || h.Get("Retry-After") != "" {
		return
	}
	var seconds any = defaultRetryAfter
	if said, known := metadata["retryAfterSeconds"]; known {
		seconds = said
	}
	h.Set("Retry-After", fmt.Sprint(seconds))
}
