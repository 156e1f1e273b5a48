package httpx

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"slipway/internal/base/fault"
)

// MediaJSON is the media type of JSON.
const MediaJSON = "application/json"

// CheckContentType refuses a request whose body has several types, as RequestMalformed: it is not known which one
// counts.
func CheckContentType(h http.Header) error {
	if found := h.Values("Content-Type"); len(found) > 1 {
		return fault.New(fault.RequestMalformed,
			"Content-Type may be given once; found %d of it: %.100q.", len(found), strings.Join(found, ", "))
	}
	return nil
}

// ContentType returns the media type that a request gives its body, "" if it gives none or one that cannot be read, and
// whether the body is UTF-8 by the header's other parameters.
func ContentType(h http.Header) (media string, inUTF8 bool) {
	media, params, err := parseMediaType(h.Get("Content-Type"))
	return media, err == nil && isUTF8(params)
}

// isUTF8 reports whether the parameters of a media type leave its text in UTF-8.
func isUTF8(params map[string]string) bool {
	charset, named := params["charset"]
	return !named || strings.EqualFold(charset, "utf-8")
}

// CheckEncoding refuses a body that is compressed, or encoded otherwise, as RequestUnsupportedMedia. The answer says in
// Accept-Encoding what would be taken (RFC 9110, 15.5.16).
func CheckEncoding(w http.ResponseWriter, h http.Header) error {
	encodings := strings.Join(h.Values("Content-Encoding"), ", ")
	if encodings == "" || strings.EqualFold(strings.TrimSpace(encodings), identity) {
		return nil
	}
	w.Header().Set("Accept-Encoding", identity)
	return fault.New(fault.RequestUnsupportedMedia,
		"The body must not be encoded; found the Content-Encoding %.60q.", encodings)
}

// identity is the coding of what is not encoded.
const identity = "identity"

// ReadBody reads a body of at most limit bytes. A body whose length is announced as more is not read at all, so that a
// client who waits for 100 Continue does not send it. The errors are RequestTooLarge, and RequestMalformed for a body
// that ends early; what was read until then comes with them.
func ReadBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, fault.BodyTooLarge(limit, r.ContentLength)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return body, fault.BodyTooLarge(limit, r.ContentLength)
	}
	if err != nil {
		return body, fault.New(fault.RequestMalformed, "The body could not be read to its end.").WithCause(err)
	}
	return body, nil
}
