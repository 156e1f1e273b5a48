package rest

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"slipway/internal/base/fault"
	"slipway/internal/edge/httpx"
)

const (
	preferHeader  = "Prefer"
	appliedHeader = "Preference-Applied"
)

// Waiting is how requests wait for a record to change.
type Waiting struct {
	// Most is how long a request may wait.
	Most time.Duration
	// Watch returns a channel that has an item when the deployment may have changed, until stop is called.
	Watch func(deploymentID string) (changed <-chan struct{}, stop func())
	// Wait waits until changed has an item, and reports whether it has: it returns false after atMost, and when the
	// server shuts down. The errors are those of a caller who may not wait, or is no longer welcome.
	Wait func(ctx context.Context, h http.Header, atMost time.Duration, changed <-chan struct{}) (bool, error)
}

// Patience returns how long a request prefers to wait, by the preference of RFC 7240, section 4.3; 0 for one that does
// not. A request that prefers more waits as long as it may. The error is RequestMalformed for what is no number of
// seconds.
func (w Waiting) Patience(r *http.Request) (time.Duration, error) {
	text, found := preference(r.Header, "wait")
	if !found {
		return 0, nil
	}
	seconds, err := strconv.ParseUint(text, 10, 31)
	if err != nil || seconds < 1 {
		return 0, fault.New(fault.RequestMalformed, "%s: wait must be a number of seconds from 1, of which at most %d are "+
			"waited; found %.60q.",
			preferHeader, w.Most/time.Second, text)
	}
	return min(time.Duration(seconds)*time.Second, w.Most), nil
}

// preference returns the value of a preference and reports whether it was found. The first of several counts.
func preference(h http.Header, name string) (value string, found bool) {
	for _, line := range h.Values(preferHeader) {
		for each := range strings.SplitSeq(line, ",") {
			each, _, _ = strings.Cut(each, ";")
			key, value, _ := strings.Cut(each, "=")
			if strings.EqualFold(strings.TrimSpace(key), name) {
				return strings.Trim(strings.TrimSpace(value), `"`), true
			}
		}
	}
	return "", false
}

// untilChanged calls read until it returns another version of the record than If-None-Match names, or until the request
// has waited as long as it prefers. The answer says how long that was to be.
func (w Waiting) untilChanged(
	ctx context.Context, r request, deploymentID string, read func() (answer, error),
) (answer, error) {
	patience, err := w.Patience(r.Request)
	if err != nil {
		return answer{}, err
	}
	a, err := read()
	if err != nil || patience == 0 {
		return a, err
	}

	a.applied = fmt.Sprintf("wait=%d", patience/time.Second)
	if !httpx.NoneMatch(r.Header, a.etag) {
		return a, nil
	}

	changed, stop := w.Watch(deploymentID)
	defer stop()

	applied, deadline := a.applied, time.Now().Add(patience)
	for {
		a, err = read()
		a.applied = applied
		if err != nil || !httpx.NoneMatch(r.Header, a.etag) {
			return a, err
		}
		if goOn, err := w.Wait(ctx, r.Header, time.Until(deadline), changed); !goOn {
			return a, err
		}
	}
}
