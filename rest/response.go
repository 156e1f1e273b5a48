package rest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"

	"slipway/internal/edge/httpx"
)

// answer is the answer of an operation that succeeded.
type answer struct {
	// status is 200 if it is left out.
	status int
	// location is the path of what was created, without the base path.
	location string
	// etag is the record's entity tag; lists have none.
	etag string
	// applied is the preference that was followed, if any.
	applied string
	// state is where the deployment stands that is answered with; "" for other records.
	state string
	// body is nil for an answer without one.
	body any
}

// envelope is the body of every success.
type envelope struct {
	Data any   `json:"data"`
	Meta *meta `json:"meta,omitempty"`
}

// meta is where a page stands in its list.
type meta struct {
	Limit      int    `json:"limit"`
	NextCursor string `json:"nextCursor,omitempty"`
	TotalCount int32  `json:"totalCount"`
}

// write writes the answer, or 304 where If-None-Match has its entity tag.
func (a answer) write(w http.ResponseWriter, r *http.Request) {
	if a.etag != "" {
		w.Header().Set("ETag", a.etag)
	}
	if a.state != "" {
		w.Header().Set(statusHeader, a.state)
	}
	if a.applied != "" {
		w.Header().Set(appliedHeader, a.applied)
	}

	if (r.Method == http.MethodGet || r.Method == http.MethodHead) && a.etag != "" {
		w.Header().Set("Cache-Control", "private, no-cache")
		if httpx.NoneMatch(r.Header, a.etag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}

	if a.status == 0 {
		a.status = http.StatusOK
	}

	if a.body == nil {
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(a.status)
		return
	}

	writeJSON(w, a.status, a.body)
}

// writeJSON writes a body that is JSON by its types. Unless said otherwise it is not to be kept.
func writeJSON(w http.ResponseWriter, status int, body any) {
	text := encoded(body)
	if e, ok := body.(envelope); ok {
		text = e.withEnd(text)
	}
	h := w.Header()
	h.Set("Content-Type", httpx.MediaJSON+"; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-store")
	}
	w.WriteHeader(status)
	_, _ = w.Write(text) // that the caller has gone is no news
}

// ender is a record that ends with a member of its own, empty for none, which is JSON already and may be large: package
// json would read all of it to check and compact it.
type ender interface {
	end() (name string, value json.RawMessage)
}

// withEnd returns the text of an envelope with the end of its record.
func (e envelope) withEnd(text []byte) []byte {
	record, ok := e.Data.(ender)
	if !ok {
		return text
	}
	name, value := record.end()
	if len(value) == 0 {
		return text
	}
	const behind = "}}\n"
	text = slices.Grow(bytes.TrimSuffix(text, []byte(behind)), len(name)+len(value)+len(`,"":`+behind))
	text = append(append(append(text, `,"`...), name...), `":`...)
	return append(append(text, value...), behind...)
}

// encoded returns a value as JSON, with a line feed behind it.
func encoded(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // which the server logs and answers
	}
	return b.Bytes()
}

// utc returns a time that may be nil, in UTC.
func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}
